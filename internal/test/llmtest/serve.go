package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.writeError(w, http.StatusNotFound, "", fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path))
	})
	if s.dialect != nil {
		mux.HandleFunc("POST "+s.dialect.Path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, s.dialect) })
		return mux
	}
	mux.HandleFunc("POST /v1/responses", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, responsesAPI{}) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, chatAPI{}) })
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"scripted","object":"model","created":1700000000,"owned_by":"llmtest"}]}`)
	})
	return mux
}

// wireFormat is one of the two wire formats.
type wireFormat interface {
	form() wireForm
	decode(r *http.Request, body []byte, into *Request) error
	whole(req Request, reply Reply, n int) object // the answer in one piece
	events(req Request, reply Reply, n int) []object
	failed(code, message string) object // an error told in the stream
}

// wireForm is what else tells the formats apart.
type wireForm struct {
	request, whole, event string // names of schemas
	named                 bool   // events carry an "event:" line
	line                  string // what ends a line; "\n" if empty
	done                  string // what is sent after the last event
}

// frame returns an event as it goes over the wire.
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
	if err := s.check(wire.form().request, *rec, body); err != nil || decodeErr != nil {
		if err == nil {
			err = decodeErr
		}
		s.addProblem("request %d to %s: %v", n, rec.Path, err)
		s.writeError(w, http.StatusBadRequest, "invalid_request", err.Error())
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
		s.writeError(w, http.StatusInternalServerError, "", "the script is over")
		return
	}
	req := *rec
	p := &player{s: s, w: w, rc: http.NewResponseController(w), ctx: r.Context(), rec: rec}
	reply := turn(req)
	s.expectScreen(n, reply)
	p.play(wire, req, reply, n)
}

// awaitEarlier waits until the requests before request n have their turns, so that the
// script is played in the order of arrival, also if a client stops one and makes
// the next at once.
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

// markDecided says that request n has its turn, or will have none.
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

// update changes a recorded request under the lock and wakes who waits.
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

func (s *Server) check(root string, req Request, body []byte) error {
	if s.dialect != nil && s.dialect.Check != nil {
		return s.dialect.Check(root, req, body)
	}
	if s.schema == nil {
		return nil
	}
	return s.schema.check(root, body)
}

type object = map[string]any

func (s *Server) writeError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(s.errorObject(status, code, message))
}

func (s *Server) errorObject(status int, code, message string) []byte {
	if s.dialect != nil {
		return mustEncode(s.dialect.Error(status, code, message))
	}
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	var c any
	if code != "" {
		c = code
	}
	return mustEncode(object{"error": object{"message": message, "type": kind, "param": nil, "code": c}})
}

// mustEncode returns v as JSON. Its values are made here and always marshal.
func mustEncode(v any) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null")
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
