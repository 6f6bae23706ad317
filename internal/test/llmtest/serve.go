package llmtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (s *Server) routes(formats map[string]wireFormat) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, openAI{}, http.StatusNotFound, "", fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path))
	})
	mux.HandleFunc("GET "+s.base+"/models", func(w http.ResponseWriter, _ *http.Request) {
		// fails only if the client has gone
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"gpt-6-sol","object":"model"}]}`)
	})
	for pattern, f := range formats {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, f) })
	}
	return mux
}

// errorFormat is a vendor's format of error responses. Code may be empty.
type errorFormat interface {
	error(status int, code, message string) object
}

// wireFormat is the wire format of an API. Its methods may be called from several goroutines at once.
type wireFormat interface {
	errorFormat
	answerFormat
	form() wireForm
	// decode decodes a request, whose Path and Header are already set, and fails if the vendor would reject it.
	decode(r *http.Request, body []byte, into *Request) error
	// check validates messages about a request, with names from its wireForm.
	check(what string, req Request, message []byte) error
}

// answerFormat is the format of the reply to request n (from 0).
type answerFormat interface {
	events(req Request, reply Reply, n int) []object
	failed(code, message string) object // an error within the stream
}

// wireForm describes the other differences between the formats.
type wireForm struct {
	request, event string // names of schemas
	named          bool   // events carry an "event:" line
	line           string // line terminator; "\n" if empty
	done           string // what is sent after the last event
}

// frame returns an event in wire format.
func (f wireForm) frame(e object, data []byte) string {
	head, end := "", cmp.Or(f.line, "\n")
	if f.named {
		head = fmt.Sprintf("event: %s%s", e["type"], end)
	}
	return head + "data: " + string(data) + end + end
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, wire wireFormat) {
	rec := &Request{Path: r.URL.Path, Header: r.Header.Clone(), Arrived: time.Now()}
	n := s.record(rec)
	defer s.markDecided(n)
	defer s.update(func() {
		rec.Ended = time.Now()
		rec.Gone = rec.Gone || r.Context().Err() != nil
	})
	body, err := io.ReadAll(r.Body)
	s.update(func() { rec.Body, rec.Received = body, time.Now() })
	if err != nil {
		s.update(func() { rec.Gone = true })
		return
	}
	var decodeErr error
	s.update(func() { decodeErr = wire.decode(r, body, rec) })
	err = cmp.Or(wire.check(wire.form().request, *rec, body), decodeErr)
	if err == nil && !rec.Stream {
		err = errors.New("only streams are served here, as no client of ours wants anything else")
	}
	if err != nil {
		s.addProblem("request %d to %s: %v", n, rec.Path, err)
		writeError(w, wire, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	s.awaitEarlier(n)
	turn := s.checkScreen(rec.Path, body)
	if turn == nil {
		turn = s.next()
	}
	s.markDecided(n)
	if turn == nil {
		s.addProblem("request %d to %s is beyond the script", n, rec.Path)
		writeError(w, wire, http.StatusInternalServerError, "", "the script is over")
		return
	}
	req := *rec
	p := &player{s: s, w: w, rc: http.NewResponseController(w), ctx: r.Context(), rec: rec}
	reply := turn(req)
	s.expectScreen(n, reply)
	p.play(wire, req, reply, n)
}

// awaitEarlier waits until the requests before request n have their turns, so that the script runs in the order of
// arrival, even if a client cancels one request and sends the next at once.
func (s *Server) awaitEarlier(n int) {
	for {
		s.mu.Lock()
		changed, waits := s.changed, slices.Contains(s.decided[:n], false)
		s.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-changed:
		case <-s.quit:
			return
		}
	}
}

// markDecided marks that request n has its turn, or will have none.
func (s *Server) markDecided(n int) { s.update(func() { s.decided[n] = true }) }

func (s *Server) next() Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		return s.fallback
	}
	turn := s.script[0]
	s.script = s.script[1:]
	return turn
}

func (s *Server) record(r *Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.decided = append(s.requests, r), append(s.decided, false)
	s.wakeWaiters()
	return len(s.requests) - 1
}

// update changes a recorded request under the lock and wakes waiters.
func (s *Server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.wakeWaiters()
}

func (s *Server) wakeWaiters() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) addProblem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

type object = map[string]any

func writeError(w http.ResponseWriter, format errorFormat, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(mustEncode(format.error(status, code, message)))
}

// openAI is the common part of OpenAI's APIs.
type openAI struct{ schema *schemas }

func (o openAI) check(root string, _ Request, body []byte) error {
	if o.schema == nil {
		return nil
	}
	return o.schema.check(root, body)
}

func (openAI) error(status int, code, message string) object {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	var c any
	if code != "" {
		c = code
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": c}}
}

// mustEncode returns v as JSON. Its values always marshal.
func mustEncode(v any) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
