package anthropic_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/transport"
)

const testKey = "sk-ant-test-0123456789abcdef"

var ask, generate, failure = llmtest.Ask, llmtest.Generate, llmtest.Failure

// open returns a model of server, impatient unless changed.
func open(t *testing.T, server *llmtest.Server, change func(*anthropic.Options)) *anthropic.Model {
	t.Helper()
	o := anthropic.Options{
		BaseURL: server.BaseURL(), Key: testKey, Model: "claude-opus-5-5",
		Retry: transport.RetryPolicy{Timeout: 20 * time.Second, Idle: 10 * time.Second, Backoff: time.Millisecond},
	}
	if change != nil {
		change(&o)
	}
	m, err := anthropic.New(o)
	check.Must(t, err)
	return m
}

func picture(t *testing.T, w, h int) llm.Image {
	t.Helper()
	var b bytes.Buffer
	check.Must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))))
	return llm.Image{MediaType: "image/png", Data: b.Bytes()}
}

func TestClient(t *testing.T) {
	_, keyless := anthropic.New(anthropic.Options{Model: "m"})
	llmtest.TestClient(t, llmtest.Client{
		Keyless: keyless,
		Serve:   llmtest.NewAnthropicServer, Key: testKey, Midway: 4,
		Open: func(tb testing.TB, baseURL string, p transport.RetryPolicy) llm.Model {
			tb.Helper()
			m, err := anthropic.New(anthropic.Options{
				BaseURL: baseURL, Key: testKey, Model: "claude-opus-5-5",
				Retry: p,
			})
			check.Must(tb, err)
			return m
		},
	})
}
