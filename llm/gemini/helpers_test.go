package gemini_test

import (
	"encoding/json"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/gemini"
	"clank/llm/transport"
)

const (
	testKey = "AIzaTest0123456789abcdef"
	newer   = "gemini-3.8-flash"
	older   = "gemini-2.5-pro"
)

var ask, generate, failure = llmtest.Ask, llmtest.Generate, llmtest.Failure

// open returns a model of s, impatient unless changed.
func open(t *testing.T, s *llmtest.Server, change func(*gemini.Options)) *gemini.Model {
	t.Helper()
	o := gemini.Options{
		BaseURL: s.BaseURL(), Key: testKey, Model: newer,
		Retry: transport.RetryPolicy{Timeout: 20 * time.Second, Idle: 10 * time.Second, Backoff: time.Millisecond},
	}
	if change != nil {
		change(&o)
	}
	m, err := gemini.New(o)
	check.Must(t, err)
	return m
}

// sent returns a request's body in the vendor's types.
func sent(t *testing.T, r llmtest.Request) llmtest.GeminiRequest {
	t.Helper()
	w, err := llmtest.DecodeGemini(r.Body)
	check.Must(t, err)
	return w
}

// stored returns what becomes of a message that is kept in the database.
func stored(t *testing.T, m llm.Message) llm.Message {
	t.Helper()
	data, err := json.Marshal(m)
	check.Must(t, err)
	var back llm.Message
	check.Must(t, json.Unmarshal(data, &back))
	return back
}

func result(c llm.ToolCall, text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Result: &llm.ToolResult{ID: c.ID, Text: text}}}}
}

var look = llm.Tool{
	Name: "look", Description: "Looks.",
	Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"],"additionalProperties":false}`),
}

func TestClient(t *testing.T) {
	_, keyless := gemini.New(gemini.Options{Model: "m"})
	llmtest.TestClient(t, llmtest.Client{
		Keyless: keyless,
		Serve:   llmtest.NewGeminiServer, Key: testKey, Midway: 1,
		Open: func(tb testing.TB, baseURL string, p transport.RetryPolicy) llm.Model {
			tb.Helper()
			m, err := gemini.New(gemini.Options{
				BaseURL: baseURL, Key: testKey, Model: newer,
				Retry: p,
			})
			check.Must(tb, err)
			return m
		},
	})
}
