package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"
)

const testKey = "sk-ant-test-0123456789abcdef"

// open returns a model of server, impatient unless changed.
func open(t *testing.T, server *llmtest.Server, change func(*anthropic.Options)) *anthropic.Model {
	t.Helper()
	o := anthropic.Options{
		BaseURL: server.BaseURL(), Key: testKey, Model: "claude-opus-5-5",
		Timeout: 20 * time.Second, IdleTimeout: 10 * time.Second, Backoff: time.Millisecond,
	}
	if change != nil {
		change(&o)
	}
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{llm.UserText(text)}}
}

// answer returns what the model says to req, which must succeed.
func answer(t *testing.T, m *anthropic.Model, req llm.Request) llm.Reply {
	t.Helper()
	reply, err := m.Generate(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// failure returns the error of a call that must fail.
func failure(t *testing.T, m *anthropic.Model, kind llm.ErrorKind) *llm.Error {
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

func picture(t *testing.T, w, h int) llm.Image {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return llm.Image{MediaType: "image/png", Data: b.Bytes()}
}
