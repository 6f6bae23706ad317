package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
)

// both are the two ways to ask; what must hold for either is tested on each.
var both = []openai.API{openai.APIResponses, openai.APIChat}

const testKey = "sk-test-0123456789abcdef"

// open returns a model of server, impatient unless changed.
func open(t *testing.T, server *llmtest.Server, api openai.API, change func(*openai.Options)) *openai.Model {
	t.Helper()
	o := openai.Options{
		BaseURL: server.BaseURL(), Key: testKey, Model: "gpt-6-sol-test", API: api,
		Timeout: 20 * time.Second, IdleTimeout: 10 * time.Second, Backoff: time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{llm.UserText(text)}}
}

// failure returns the error of a call that must fail.
func failure(t *testing.T, m *openai.Model, kind llm.ErrorKind) *llm.Error {
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

// body returns a request's body as the vendor sees it.
func body(t *testing.T, r llmtest.Request) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(r.Body, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// midway returns how many events are sent when some text has been and some is to
// come.
func midway(api openai.API) int {
	if api == openai.APIResponses {
		return 6
	}
	return 3
}
