package llmtest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"

	"clank/internal/test/check"
)

// Server is a scripted model server. Its methods are safe for concurrent use.
type Server struct {
	srv    *httptest.Server
	quit   chan struct{}
	base   string   // path of the base URL
	schema *schemas // OpenAI's; nil if unavailable or another vendor's

	mu       sync.Mutex
	script   []Turn
	fallback Turn
	requests []*Request
	decided  []bool // whether each has a turn, or will have none
	problems []string
	changed  chan struct{} // closed and replaced when requests change
	closed   bool
	screen   map[string][]ScreenCall // of the answers so far, by their ids
}

// NewServer starts a server for the duration of a test. Schema violations and requests beyond the script fail the
// test.
func NewServer(tb testing.TB, script ...Turn) *Server {
	tb.Helper()
	s, err := Open(script...)
	check.Must(tb, err)
	if s.schema == nil {
		tb.Logf("requests and replies are not validated: %s is not at hand", schemaFile)
	}
	return closeWithTest(tb, s)
}

// closeWithTest closes s when the test ends and reports its problems.
func closeWithTest(tb testing.TB, s *Server) *Server {
	tb.Helper()
	tb.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			tb.Errorf("model server: %s", p)
		}
	})
	return s
}

// Open starts a server that plays script, one turn per request. The caller closes it.
func Open(script ...Turn) (*Server, error) {
	schema, err := loadSchemas()
	if err != nil {
		return nil, fmt.Errorf("open model server: %w", err)
	}
	api := openAI{schema}
	s := openServer("/v1", map[string]wireFormat{
		"POST /v1/responses": responsesAPI{api}, "POST /v1/chat/completions": chatAPI{api},
	}, script)
	s.schema = schema
	return s, nil
}

// openServer starts a server with the formats for routes.
func openServer(base string, formats map[string]wireFormat, script []Turn) *Server {
	s := &Server{quit: make(chan struct{}), base: base, script: script, changed: make(chan struct{})}
	s.srv = httptest.NewServer(s.routes(formats))
	return s
}

// Close ends all replies in progress and the server. It may be called twice.
func (s *Server) Close() {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if !closed {
		close(s.quit)
		s.srv.CloseClientConnections()
		s.srv.Close()
	}
}

// BaseURL returns the URL that a client is configured with.
func (s *Server) BaseURL() string { return s.srv.URL + s.base }

// Add appends turns to the script.
func (s *Server) Add(script ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, script...)
}

// SetFallback sets the turn for requests beyond the script. Without it they get status 500 and count as a problem.
func (s *Server) SetFallback(turn Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = turn
}

// Requests returns the calls so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, len(s.requests))
	for i, r := range s.requests {
		all[i] = *r
	}
	return all
}

// Problems returns the errors in requests, replies and the script.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// Await waits until request i (from 0) satisfies ok and returns it. If ctx ends it returns the cause.
func (s *Server) Await(ctx context.Context, i int, ok func(Request) bool) (Request, error) {
	for {
		s.mu.Lock()
		changed := s.changed
		if i < len(s.requests) && ok(*s.requests[i]) {
			r := *s.requests[i]
			s.mu.Unlock()
			return r, nil
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("await request %d: %w", i, context.Cause(ctx))
		}
	}
}

// Arrived returns true, for [Server.Await].
func Arrived(Request) bool { return true }

// Ended reports whether the server has finished a request, because the reply is complete or the client has gone. It
// is for [Server.Await].
func Ended(r Request) bool { return !r.Ended.IsZero() }
