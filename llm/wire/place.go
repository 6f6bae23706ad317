package wire

import (
	"cmp"
	"errors"
	"net/url"
)

// Place names the server that was called, for what a person reads.
type Place struct {
	Host   string // with port
	Shown  string // the base URL without credentials
	Speaks string // what is spoken there: "Messages API"
	KeyEnv string // where its key is set
	HasKey bool   // one was sent
	Model  string // as the server calls it
	Wrong  string // what to do if the address seems wrong; "check the server's address" if empty
}

func (p Place) wrong() string { return cmp.Or(p.Wrong, "check the server's address") }

// BaseURL reads where a server is. It must be an HTTP address that ends with its
// path.
func BaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("open model: the base URL must be http:// or https:// and name a host")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("open model: the base URL must end with its path, without ? or #")
	}
	return u, nil
}
