package discordtest

import (
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
