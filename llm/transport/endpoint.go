package transport

import (
	"cmp"
	"errors"
	"net/url"

	"clank/llm"
)

// Endpoint names the server that was called, for what a person reads.
type Endpoint struct {
	Host         string // with port
	DisplayURL   string // the base URL without credentials
	API          string // what is spoken there: "Messages API"
	KeyEnv       string // where its key is set
	HasKey       bool   // one was sent
	Model        string // as the server calls it
	ModelSetting string // where people choose the model; "the settings under Models" if empty
	AddressHint  string // what to do if the address seems wrong; "check the server's address" if empty
}

// otherModelHint says how to come to a model that there is.
func (p Endpoint) otherModelHint() string {
	hint := "check the name, or choose another in " + cmp.Or(p.ModelSetting, "the settings under Models") + ": it may have been retired"
	if r, ok := llm.DeprecationOf(p.Model); ok {
		hint += " (" + r.String() + ")"
	}
	return hint
}

func (p Endpoint) addressHint() string { return cmp.Or(p.AddressHint, "check the server's address") }

// ParseBaseURL reads where a server is. It must be an HTTP address that ends with its
// path.
func ParseBaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("open model: the base URL must be http:// or https:// and name a host")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("open model: the base URL must end with its path, without ? or #")
	}
	return u, nil
}
