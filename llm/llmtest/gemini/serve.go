package gemini

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"clank/llm/llmtest"
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1beta/models/{call}", s.serve)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "NOT_FOUND", fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path))
	})
	return mux
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	rec := &llmtest.Request{Path: r.URL.Path, Model: model, Header: r.Header.Clone(), Arrived: time.Now()}
	n := s.record(rec)
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
	switch {
	case method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		s.update(func() { rec.Stream = true })
	case method != "generateContent":
		s.problem("request %d asks for %q", n, r.URL)
		writeError(w, http.StatusNotFound, "NOT_FOUND", "no such method")
		return
	}
	wire, err := s.accept(model, body)
	if err != nil {
		s.problem("request %d: %v", n, err)
		writeError(w, http.StatusBadRequest, "INVALID_ARGUMENT", err.Error())
		return
	}
	s.update(func() { rec.Request = wire.plain() })
	turn := s.next()
	if turn == nil {
		s.problem("request %d is beyond the script", n)
		writeError(w, http.StatusInternalServerError, "INTERNAL", "the script is over")
		return
	}
	req := *rec
	p := &player{s: s, w: w, rc: http.NewResponseController(w), ctx: r.Context(), rec: rec}
	p.play(req, wire, turn(req), n)
}

// accept decodes a request and checks it against the rules of the API and
// against what was said before.
func (s *Server) accept(model string, body []byte) (Wire, error) {
	wire, err := Decode(body)
	if err != nil {
		return wire, err
	}
	if err := wire.check(); err != nil {
		return wire, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return wire, s.issued.check(model, wire.Contents)
}

// isOld says whether a model is from before Gemini 3: its calls have neither
// ids nor signatures.
func isOld(model string) bool {
	return strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2")
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorObject(status, code, message))
}

// errorObject is google.rpc.Status as the API wraps it.
func errorObject(status int, code, message string, details ...any) []byte {
	if code == "" {
		code = map[int]string{
			http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusForbidden: "PERMISSION_DENIED",
			http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
			http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
		}[status]
	}
	if code == "" {
		code = "INTERNAL"
	}
	o := map[string]any{"code": status, "message": message, "status": code}
	if details != nil {
		o["details"] = details
	}
	return encode(map[string]any{"error": o})
}

// encode is JSON of values made here, which always marshal.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return data
}

// Exhausted answers 429 with google.rpc.RetryInfo that asks to wait for delay,
// such as "34.5s", and without a Retry-After header.
func Exhausted(delay string) llmtest.Turn {
	body := string(errorObject(http.StatusTooManyRequests, "", "You exceeded your current quota.",
		map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}))
	return llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: http.StatusTooManyRequests, Body: &body}})
}
