package gemini_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/gemini"
)

func TestFailuresAreSorted(t *testing.T) {
	page := "<!doctype html><html>proxy</html>"
	badKey := `[{"error":{"code":400,"message":"API key not valid: ` + testKey + `","status":"INVALID_ARGUMENT",` +
		`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]`
	tests := []struct {
		name string
		turn llmtest.Turn
		kind llm.ErrorKind
		says string
	}{
		{"wrong key", llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: 400, Body: &badKey}}), llm.ErrAuth, "GEMINI_API_KEY"},
		{"forbidden", llmtest.Fail(403, "", "no"), llm.ErrAuth, "may not use"},
		{"no such model", llmtest.Fail(404, "", "models/x is not found"), llm.ErrNotFound, newer},
		{"invalid", llmtest.Fail(400, "", "bad part"), llm.ErrRejected, "bad part"},
		{"place not served", llmtest.Fail(400, "FAILED_PRECONDITION", "User location is not supported"), llm.ErrRejected, "location"},
		{"too long", llmtest.Fail(400, "", "The input token count exceeds the maximum number of tokens"), llm.ErrRejected, "start a new one"},
		{"web page with 502", llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: 501, Body: &page}}), llm.ErrUnavailable, "501"},
		{"wrong shape", llmtest.Answer(llmtest.Reply{Events: []string{`{"candidates":"none"}`}}), llm.ErrMalformed, "could not be understood"},
		{"null", llmtest.Answer(llmtest.Reply{Events: []string{`null`}}), llm.ErrMalformed, "could not be understood"},
		{"no events", llmtest.Answer(llmtest.Reply{Events: []string{}}), llm.ErrCutOff, "cut off"},
		{"quota inside", llmtest.SayWithFault("hello", llmtest.Fault{At: 1, Code: "RESOURCE_EXHAUSTED", StreamError: "enough"}), llm.ErrRateLimited, "enough"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewGeminiServer(t, tt.turn)
			told := failure(t, open(t, s, nil), tt.kind)
			if !strings.Contains(told.Error(), tt.says) {
				t.Errorf("told %q, want something with %q", told, tt.says)
			}
			if strings.Contains(told.Error(), testKey) {
				t.Errorf("the key is told: %s", told)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestALongWaitIsToldInsteadOfWaited(t *testing.T) {
	for _, turn := range []llmtest.Turn{
		llmtest.GeminiExhausted("3600s"),
		llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "3600"}}}),
	} {
		s := llmtest.NewGeminiServer(t, turn)
		told := failure(t, open(t, s, nil), llm.ErrRateLimited)
		if told.RetryAfter != time.Hour || len(s.Requests()) != 1 {
			t.Errorf("RetryAfter = %v after %d requests, want 1h after 1", told.RetryAfter, len(s.Requests()))
		}
	}
}

func TestAServerThatDoesNotStreamIsUnderstood(t *testing.T) {
	body := `[{"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]}}]},` +
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}]`
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{Fault: llmtest.Fault{Body: &body}}))
	reply := generate(t, open(t, s, func(o *gemini.Options) { o.Key = "" }), ask("hello"))
	if reply.Text() != "hello" || reply.Usage.InputTokens != 3 {
		t.Errorf("reply = %+v", reply)
	}
	if key := s.Requests()[0].Header.Get("X-Goog-Api-Key"); key != "" {
		t.Errorf("a key was sent though there is none: %q", key)
	}
}

func TestNamesOfModelsAreChecked(t *testing.T) {
	if _, err := gemini.New(gemini.Options{Key: testKey, Model: "../x"}); err == nil {
		t.Error("a path is taken for a model")
	}
	m, err := gemini.New(gemini.Options{Key: testKey, Model: "models/" + newer})
	if err != nil || m.Name() != "gemini:"+newer || !m.Caps().Computer || !m.Caps().ToolImages {
		t.Errorf("New = %v, %v", m, err)
	}
}

func TestASchemaThatIsNoneIsRefusedBeforeItIsSent(t *testing.T) {
	s := llmtest.NewGeminiServer(t)
	req := ask("hello")
	req.Tools = []llm.Tool{{Name: "look", Description: "Looks.", Schema: []byte(`[`)}}
	_, err := open(t, s, nil).Generate(t.Context(), req, nil)
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != llm.ErrRejected {
		t.Errorf("err = %v", err)
	}
}

func TestAnAnswerThatWouldGoOnIsNotAskedForOnTheSly(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{Events: []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]},"finishReason":"CONTINUATION","continuationToken":"dG9rZW4="}]}`,
	}}))
	if reply := generate(t, open(t, s, nil), ask("hello")); reply.Text() != "hel" || reply.Stop != llm.StopUnknown {
		t.Errorf("reply = %+v", reply)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests, of which only one was counted", n)
	}
}
