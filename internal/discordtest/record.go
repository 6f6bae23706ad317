package discordtest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
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
	c := call{Request: &http.Request{Header: r.Header}}
	if err := c.parse(r.Body); err != nil {
		return nil
	}
	return c.body
}

// A Frame is one message on a gateway connection.
type Frame struct {
	At       time.Time
	Bot      string // user id, "" before identify
	Received bool   // true: from the client
	Op       int
	Type     string
	Seq      int64
	Data     json.RawMessage
	Binary   bool // it went over the wire compressed
}

// A Disconnect is the end of one gateway connection.
type Disconnect struct {
	At   time.Time
	Bot  string
	Code int // the close code somebody gave first, or -1 for a cut line
	// ByServer tells whether the server closed it.
	ByServer bool
}

// traffic is the record of all that came and went.
type traffic struct {
	requests    []Request
	frames      []Frame
	disconnects []Disconnect
}

// Requests lists all calls of the API so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// RequestsTo lists the calls of one route.
func (s *Server) RequestsTo(route Route) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Route != route })
}

// Frames lists all gateway messages so far, oldest first.
func (s *Server) Frames() []Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.frames)
}

// Received lists the gateway messages with that opcode that clients sent.
func (s *Server) Received(op int) []Frame {
	return slices.DeleteFunc(s.Frames(), func(f Frame) bool { return !f.Received || f.Op != op })
}

// Disconnects lists the gateway connections that have ended.
func (s *Server) Disconnects() []Disconnect {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.disconnects)
}

func (s *Server) recordRequest(r *http.Request, route Route, body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{
		At: s.now(), Route: route, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
		Header: r.Header.Clone(), Body: bytes.Clone(body),
	})
	s.notify()
	return len(s.requests)
}

// recordStatus completes the request with that number, counted from 1.
func (s *Server) recordStatus(number, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number > 0 {
		s.requests[number-1].Status = status
		s.notify()
	}
}
