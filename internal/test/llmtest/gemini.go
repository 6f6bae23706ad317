package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// NewGeminiServer starts a server for the duration of a test. Errors in requests, responses and the script fail the
// test.
func NewGeminiServer(tb testing.TB, script ...Turn) *Server {
	tb.Helper()
	return closeWithTest(tb, OpenGemini(script...))
}

// OpenGemini starts a server that plays script, one turn per request. The caller closes it.
func OpenGemini(script ...Turn) *Server {
	return openServer("", map[string]wireFormat{"POST /v1beta/models/{call}": &geminiAPI{issued: newThoughtSignatures()}},
		script)
}

// geminiAPI is the Generative Language API. It remembers its signatures to verify them.
type geminiAPI struct {
	mu     sync.Mutex
	issued thoughtSignatures
}

func (*geminiAPI) form() wireForm {
	return wireForm{request: "request", event: "event", line: "\r\n"}
}

func (m *geminiAPI) events(req Request, reply Reply, n int) []object {
	var events []object
	for _, r := range geminiResponses(req.Model, reply, n) {
		events = append(events, m.object(req, r))
	}
	return events
}

func (*geminiAPI) failed(code, message string) object {
	return geminiError(http.StatusServiceUnavailable, code, message)
}

func (*geminiAPI) error(status int, code, message string) object {
	return geminiError(status, code, message)
}

// raw records an event that a reply contains in raw form.
func (m *geminiAPI) raw(req Request, event []byte) {
	var r GeminiResponse
	if json.Unmarshal(event, &r) == nil {
		m.issue(req.Model, &r)
	}
}

// decode decodes a request and checks it against the rules of the API and the earlier replies.
func (m *geminiAPI) decode(r *http.Request, body []byte, into *Request) error {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	into.Model, into.Stream = model, method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse"
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

func (m *geminiAPI) issue(model string, r *GeminiResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range r.Candidates {
		if c != nil && c.Content != nil {
			m.issued.add(model, c.Content.Parts)
		}
	}
}

// object returns a reply, or a part of one, in wire format, and remembers its signatures.
func (m *geminiAPI) object(req Request, r *GeminiResponse) object {
	m.issue(req.Model, r)
	var o object
	if err := json.Unmarshal(mustEncode(r), &o); err != nil {
		return nil
	}
	return o
}

// check validates responses; requests are checked when they are decoded.
func (*geminiAPI) check(what string, req Request, message []byte) error {
	if what == "request" {
		return nil
	}
	wire, err := DecodeGemini(req.Body)
	if err != nil {
		return err
	}
	var r GeminiResponse
	if err := decodeStrict(message, &r); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	if err := geminiSDKReads(message); err != nil {
		return err
	}
	return checkAllowedByRequest(wire, &r)
}

// predatesSignatures reports whether a model is older than Gemini 3: its calls have neither ids nor signatures.
func predatesSignatures(model string) bool {
	return strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2")
}

// geminiError returns a google.rpc.Status as the API wraps it.
func geminiError(status int, code, message string, details ...any) object {
	if code == "" || code == "invalid_request" {
		code = map[int]string{
			http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusForbidden: "PERMISSION_DENIED",
			http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
			http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
		}[status]
	}
	o := object{"code": status, "message": message, "status": cmp.Or(code, "INTERNAL")}
	if details != nil {
		o["details"] = details
	}
	return object{"error": o}
}

// GeminiExhausted replies with 429 and google.rpc.RetryInfo with a delay, such as "34.5s", without a Retry-After
// header.
func GeminiExhausted(delay string) Turn {
	body := string(mustEncode(geminiError(http.StatusTooManyRequests, "", "You exceeded your current quota.",
		object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})))
	return Answer(Reply{Fault: Fault{Status: http.StatusTooManyRequests, Body: &body}})
}
