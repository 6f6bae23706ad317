// Package gemini is a scripted server of the Gemini API for tests: chat and
// computer use through generateContent and streamGenerateContent, over real
// HTTP and server-sent events. Its scripts are those of package llmtest.
//
// Each request is decoded strictly with the types of the vendor's library and
// checked as the vendor would: roles, an answer for every call, thought
// signatures as they were given. Each answer is checked the same way. The
// package is not for use outside tests and demonstrations: it has no model.
package gemini

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"clank/llm/llmtest"
)

// Server is a scripted model server. Its methods are safe for concurrent use.
type Server struct {
	srv  *httptest.Server
	quit chan struct{}

	mu       sync.Mutex
	script   []llmtest.Turn
	fallback llmtest.Turn
	requests []*llmtest.Request
	problems []string
	issued   signatures
	changed  chan struct{} // closed and replaced when requests change
	closed   bool
}

// NewServer starts a server for the duration of a test. When the test ends,
// what was wrong with requests, answers and the script fails it.
func NewServer(tb testing.TB, script ...llmtest.Turn) *Server {
	tb.Helper()
	s := Open(script...)
	tb.Cleanup(func() {
		s.Close()
		for _, p := range s.Problems() {
			tb.Errorf("model server: %s", p)
		}
	})
	return s
}

// Open starts a server that plays script, a turn for each request. The caller
// closes it.
func Open(script ...llmtest.Turn) *Server {
	s := &Server{quit: make(chan struct{}), script: script, changed: make(chan struct{}), issued: newSignatures()}
	s.srv = httptest.NewServer(s.routes())
	return s
}

// Close ends all answers under way and the server. It may be called twice.
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

// BaseURL is what a client is configured with.
func (s *Server) BaseURL() string { return s.srv.URL }

// Add appends turns to the script.
func (s *Server) Add(script ...llmtest.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, script...)
}

// Otherwise sets the turn that answers requests beyond the script. Without it
// they get status 500 and are a problem.
func (s *Server) Otherwise(turn llmtest.Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = turn
}

// Requests are the calls so far, in order of arrival.
func (s *Server) Requests() []llmtest.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]llmtest.Request, len(s.requests))
	for i, r := range s.requests {
		all[i] = *r
	}
	return all
}

// Problems are what was wrong with requests, answers and the script.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// Await waits until request i (from 0) satisfies ok and returns it. It fails
// with the context's cause.
func (s *Server) Await(ctx context.Context, i int, ok func(llmtest.Request) bool) (llmtest.Request, error) {
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
			return llmtest.Request{}, fmt.Errorf("await request %d: %w", i, context.Cause(ctx))
		}
	}
}

func (s *Server) next() llmtest.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		return s.fallback
	}
	turn := s.script[0]
	s.script = s.script[1:]
	return turn
}

// record returns the request's number.
func (s *Server) record(r *llmtest.Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	s.wake()
	return len(s.requests) - 1
}

// update changes a recorded request under the lock and wakes who waits.
func (s *Server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.wake()
}

func (s *Server) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}
