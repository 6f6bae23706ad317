package gemini

import (
	"errors"
	"io"
	"net/http"

	"clank/llm/wire"
)

// attempt carries one request, and hands on answers in a form that the client
// library can read.
type attempt struct {
	*wire.Attempt
	anonymous bool      // the key of the request is a placeholder
	pictures  *pictures // of the request
	body      *dataBody // nil until there is one
}

func (a *attempt) client() *http.Client { return &http.Client{Transport: a} }

// RoundTrip implements http.RoundTripper.
func (a *attempt) RoundTrip(req *http.Request) (*http.Response, error) {
	req, err := a.pictures.request(req)
	if err != nil {
		return nil, err
	}
	if a.anonymous {
		req = req.Clone(req.Context())
		req.Header.Del("X-Goog-Api-Key")
	}
	resp, kind, err := a.Send(req)
	if err != nil {
		return nil, err
	}
	a.body = &dataBody{next: wire.Events(kind, resp.Body), close: resp.Body.Close}
	resp.Body = a.body
	return resp, nil
}

// why is the error behind one that the client library gave: what happened to
// the body, if it was that.
func (a *attempt) why(err error) error {
	if a.body != nil && a.body.err != nil && !errors.Is(a.body.err, io.EOF) {
		return a.body.err
	}
	return err
}
