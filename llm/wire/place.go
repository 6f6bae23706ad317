package wire

import (
	"cmp"
	"errors"
	"net/url"

	"clank/llm"
)

// Place names the server that was called, for what a person reads.
type Place struct {
	Host   string // with port
	Shown  string // the base URL without credentials
	Speaks string // what is spoken there: "Messages API"
	KeyEnv string // where its key is set
	HasKey bool   // one was sent
	Model  string // as the server calls it
	Chosen string // where people choose the model; "the settings under Models" if empty
	Wrong  string // what to do if the address seems wrong; "check the server's address" if empty
}

// another says how to come to a model that there is.
func (p Place) another() string {
	hint := "check the name, or choose another in " + cmp.Or(p.Chosen, "the settings under Models") + ": it may have been retired"
	if r, ok := llm.Retires(p.Model); ok {
		hint += " (" + r.String() + ")"
	}
	return hint
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
