package discordtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// A Request is one call of the REST API as it came.
type Request struct {
	At     time.Time
	Route  Route // "" when the API has no such route
	Method string
	Path   string // without /api/v9
	Query  url.Values
	Header http.Header
	Body   []byte
	Status int // 0 until it is answered
}

// JSON is the body, or the payload_json part of a multipart body.
func (r Request) JSON() json.RawMessage {
	c := RESTCall{Request: &http.Request{Header: r.Header}}
	if err := c.Parse(r.Body); err != nil {
		return nil
	}
	return c.Body
}
