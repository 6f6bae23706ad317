package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// GeminiServer is a scripted model server.
type GeminiServer struct{ *Server }

// BaseURL returns the URL that a client is configured with.
func (s *GeminiServer) BaseURL() string { return s.URL() }

// NewGeminiServer starts a server for the duration of a test. When the test ends,
// what was wrong with requests, answers and the script fails it.
func NewGeminiServer(tb testing.TB, script ...Turn) *GeminiServer {
	tb.Helper()
	return &GeminiServer{NewDialect(tb, geminiDialect(), script...)}
}

// OpenGemini starts a server that plays script, a turn for each request. The caller
// closes it.
func OpenGemini(script ...Turn) *GeminiServer {
	return &GeminiServer{OpenDialect(geminiDialect(), script...)}
}

func geminiDialect() Dialect {
	said := &geminiMemory{issued: newThoughtSignatures()}
	return Dialect{
		Path: "/v1beta/models/{call}", Line: "\r\n",
		Decode: said.decode,
		Whole: func(req Request, reply Reply, n int) map[string]any {
			return said.object(req, geminiWhole(req.Model, reply, n))
		},
		Events: func(req Request, reply Reply, n int) []map[string]any {
			var events []map[string]any
			for _, r := range geminiResponses(req.Model, reply, n) {
				events = append(events, said.object(req, r))
			}
			return events
		},
		Failed: func(code, message string) map[string]any {
			return geminiError(http.StatusServiceUnavailable, code, message)
		},
		Error: func(status int, code, message string) map[string]any { return geminiError(status, code, message) },
		Check: checkGeminiAnswer,
		Raw: func(req Request, event []byte) {
			var r GeminiResponse
			if json.Unmarshal(event, &r) == nil {
				said.issue(req.Model, &r)
			}
		},
	}
}

// geminiMemory is what the server signed, to know it again.
type geminiMemory struct {
	mu     sync.Mutex
	issued thoughtSignatures
}

// decode reads a request and checks it against the rules of the API and against
// what was said before.
func (m *geminiMemory) decode(r *http.Request, body []byte, into *Request) error {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	stream := method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse"
	into.Model, into.Stream = model, stream
	if !stream && method != "generateContent" {
		return fmt.Errorf("there is no method at %q", r.URL)
	}
	wire, err := DecodeGemini(body)
	if err != nil {
		return err
	}
	if err := wire.check(); err != nil {
		return err
	}
	into.Request = wire.toRequest()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.issued.check(model, wire.Contents)
}

func (m *geminiMemory) issue(model string, r *GeminiResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range r.Candidates {
		if c != nil && c.Content != nil {
			m.issued.add(model, c.Content.Parts)
		}
	}
}

// object returns an answer, or a piece of one, as it is sent. What it signs is
// remembered.
func (m *geminiMemory) object(req Request, r *GeminiResponse) map[string]any {
	m.issue(req.Model, r)
	var o map[string]any
	if err := json.Unmarshal(encodeGemini(r), &o); err != nil {
		return nil
	}
	return o
}

// checkGeminiAnswer looks at answers; requests are checked as they are decoded.
func checkGeminiAnswer(what string, req Request, message []byte) error {
	if what == "request" {
		return nil
	}
	wire, err := DecodeGemini(req.Body)
	if err != nil {
		return err
	}
	var r GeminiResponse
	if err := decodeStrictGemini(message, &r); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if err := geminiSDKReads(message); err != nil {
		return err
	}
	return checkAllowedByRequest(wire, &r)
}

// predatesSignatures says whether a model is from before Gemini 3: its calls have neither
// ids nor signatures.
func predatesSignatures(model string) bool {
	return strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2")
}

// geminiError returns a google.rpc.Status as the API wraps it.
func geminiError(status int, code, message string, details ...any) map[string]any {
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

// encodeGemini returns v as JSON. Its values are made here and always marshal.
func encodeGemini(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return data
}

// GeminiExhausted answers 429 with google.rpc.RetryInfo that asks to wait for delay,
// such as "34.5s", and without a Retry-After header.
func GeminiExhausted(delay string) Turn {
	body := string(encodeGemini(geminiError(http.StatusTooManyRequests, "", "You exceeded your current quota.",
		map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})))
	return Answer(Reply{Fault: Fault{Status: http.StatusTooManyRequests, Body: &body}})
}
