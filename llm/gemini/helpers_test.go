package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/gemini"
)

const (
	testKey = "AIzaTest0123456789abcdef"
	newer   = "gemini-3.8-flash"
	older   = "gemini-2.5-pro"
)

// open returns a model of s, impatient unless changed.
func open(t *testing.T, s *llmtest.Server, change func(*gemini.Options)) *gemini.Model {
	t.Helper()
	o := gemini.Options{
		BaseURL: s.BaseURL(), Key: testKey, Model: newer,
		Timeout: 20 * time.Second, IdleTimeout: 10 * time.Second, Backoff: time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	m, err := gemini.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{llm.UserText(text)}}
}

// failure returns the error of a call that must fail.
func failure(t *testing.T, m *gemini.Model, kind llm.ErrorKind) *llm.Error {
	t.Helper()
	_, err := m.Generate(t.Context(), ask("hello"), nil)
	var told *llm.Error
	if !errors.As(err, &told) {
		t.Fatalf("err = %v, want an *llm.Error of kind %s", err, kind)
	}
	if told.Kind != kind {
		t.Errorf("kind = %s, want %s (%v)", told.Kind, kind, told)
	}
	return told
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// sent returns a request's body in the vendor's types.
func sent(t *testing.T, r llmtest.Request) llmtest.GeminiRequest {
	t.Helper()
	w, err := llmtest.DecodeGemini(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// stored returns what becomes of a message that is kept in the database.
func stored(t *testing.T, m llm.Message) llm.Message {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back llm.Message
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func generate(t *testing.T, m *gemini.Model, req llm.Request) llm.Reply {
	t.Helper()
	reply, err := m.Generate(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func result(c llm.ToolCall, text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Result: &llm.ToolResult{ID: c.ID, Text: text}}}}
}

var look = llm.Tool{
	Name: "look", Description: "Looks.",
	Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"],"additionalProperties":false}`),
}
