// Package gemini is the scripted model server of llmtest in the dialect of the
// Gemini API: chat and computer use through generateContent and
// streamGenerateContent.
//
// Each request may hold only what the API has, and of that what clients of ours
// send, and is checked as the vendor would: roles, an answer for every call,
// thought signatures as they were given. Each answer is checked the same way.
// Built with the tag peers, both are decoded with the types of the vendor's
// library as well. The package is not for use outside tests and demonstrations:
// it has no model.
package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"clank/llm/llmtest"
)

// Server is a scripted model server.
type Server struct{ *llmtest.Server }

// BaseURL is what a client is configured with.
func (s *Server) BaseURL() string { return s.URL() }

// NewServer starts a server for the duration of a test. When the test ends,
// what was wrong with requests, answers and the script fails it.
func NewServer(tb testing.TB, script ...llmtest.Turn) *Server {
	tb.Helper()
	return &Server{llmtest.NewDialect(tb, dialect(), script...)}
}

// Open starts a server that plays script, a turn for each request. The caller
// closes it.
func Open(script ...llmtest.Turn) *Server { return &Server{llmtest.OpenDialect(dialect(), script...)} }

func dialect() llmtest.Dialect {
	said := &memory{issued: newSignatures()}
	return llmtest.Dialect{
		Path: "/v1beta/models/{call}", Line: "\r\n",
		Decode: said.decode,
		Whole: func(req llmtest.Request, reply llmtest.Reply, n int) map[string]any {
			return said.object(req, whole(req.Model, reply, n))
		},
		Events: func(req llmtest.Request, reply llmtest.Reply, n int) []map[string]any {
			var events []map[string]any
			for _, r := range responses(req.Model, reply, n) {
				events = append(events, said.object(req, r))
			}
			return events
		},
		Failed: func(code, message string) map[string]any {
			return errorObject(http.StatusServiceUnavailable, code, message)
		},
		Error: func(status int, code, message string) map[string]any { return errorObject(status, code, message) },
		Check: check,
		Raw: func(req llmtest.Request, event []byte) {
			var r GenerateContentResponse
			if json.Unmarshal(event, &r) == nil {
				said.issue(req.Model, &r)
			}
		},
	}
}

// memory is what the server signed, to know it again.
type memory struct {
	mu     sync.Mutex
	issued signatures
}

// decode reads a request and checks it against the rules of the API and against
// what was said before.
func (m *memory) decode(r *http.Request, body []byte, into *llmtest.Request) error {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	stream := method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse"
	into.Model, into.Stream = model, stream
	if !stream && method != "generateContent" {
		return fmt.Errorf("there is no method at %q", r.URL)
	}
	wire, err := Decode(body)
	if err != nil {
		return err
	}
	if err := wire.check(); err != nil {
		return err
	}
	into.Request = wire.plain()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.issued.check(model, wire.Contents)
}

func (m *memory) issue(model string, r *GenerateContentResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range r.Candidates {
		if c != nil && c.Content != nil {
			m.issued.add(model, c.Content.Parts)
		}
	}
}

// object is an answer, or a piece of one, as it is sent. What it signs is
// remembered.
func (m *memory) object(req llmtest.Request, r *GenerateContentResponse) map[string]any {
	m.issue(req.Model, r)
	var o map[string]any
	if err := json.Unmarshal(encode(r), &o); err != nil {
		return nil
	}
	return o
}

// check looks at answers; requests are checked as they are decoded.
func check(what string, req llmtest.Request, message []byte) error {
	if what == "request" {
		return nil
	}
	wire, err := Decode(req.Body)
	if err != nil {
		return err
	}
	var r GenerateContentResponse
	if err := strict(message, &r); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if err := libraryReads(message); err != nil {
		return err
	}
	return checkAnswer(wire, &r)
}

// isOld says whether a model is from before Gemini 3: its calls have neither
// ids nor signatures.
func isOld(model string) bool {
	return strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2")
}

// errorObject is google.rpc.Status as the API wraps it.
func errorObject(status int, code, message string, details ...any) map[string]any {
	if code == "" || code == "invalid_request" {
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
	return map[string]any{"error": o}
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
	body := string(encode(errorObject(http.StatusTooManyRequests, "", "You exceeded your current quota.",
		map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})))
	return llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: http.StatusTooManyRequests, Body: &body}})
}
