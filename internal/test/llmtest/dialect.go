package llmtest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Dialect is the wire format of another vendor. Packages below this one fill it
// in, so that every vendor's server shares scripts, faults and records with
// this one. All fields but Check, Raw and Done are required; functions may be
// called from several goroutines at once.
type Dialect struct {
	Path  string // pattern of net/http without a method, such as "/v1/messages"
	Line  string // what ends a line of a stream; "\n" if empty
	Named bool   // events carry an "event:" line with their type
	Done  string // what is sent after the last event

	// Decode reads a request, whose Path and Header are set already, and fails
	// if it is not one that the vendor would take.
	Decode func(r *http.Request, body []byte, into *Request) error
	// Whole is an answer in one piece, to request n (from 0).
	Whole func(req Request, reply Reply, n int) map[string]any
	// Events is the same as a stream.
	Events func(req Request, reply Reply, n int) []map[string]any
	// Failed is an error told in a stream, Error one told with a status.
	// Code may be empty.
	Failed func(code, message string) map[string]any
	Error  func(status int, code, message string) map[string]any
	// Check looks at messages about a request: what is "request", "whole" or
	// "event".
	Check func(what string, req Request, message []byte) error
	// Raw sees each event that a reply has written out.
	Raw func(req Request, event []byte)
}

// OpenDialect starts a server as [Open] does, for another vendor.
func OpenDialect(d Dialect, script ...Turn) *Server {
	s := &Server{quit: make(chan struct{}), dialect: &d, script: script, changed: make(chan struct{})}
	s.srv = httptest.NewServer(s.routes())
	return s
}

// NewDialect starts a server for the duration of a test, as [NewServer] does,
// for another vendor.
func NewDialect(tb testing.TB, d Dialect, script ...Turn) *Server {
	tb.Helper()
	s := OpenDialect(d, script...)
	closeWithTest(tb, s)
	return s
}

// URL returns the address of the server, without a path.
func (s *Server) URL() string { return s.srv.URL }

func (d *Dialect) form() wireForm {
	return wireForm{request: "request", whole: "whole", event: "event", named: d.Named, line: d.Line, done: d.Done}
}

func (d *Dialect) decode(r *http.Request, body []byte, into *Request) error {
	return d.Decode(r, body, into)
}

func (d *Dialect) whole(req Request, reply Reply, n int) object { return d.Whole(req, reply, n) }

func (d *Dialect) events(req Request, reply Reply, n int) []object { return d.Events(req, reply, n) }

func (d *Dialect) failed(code, message string) object { return d.Failed(code, message) }
