package openai_test

import (
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
	"clank/llm/transport"
)

// both are the two ways to ask; what must hold for either is tested on each.
var both = []openai.API{openai.APIResponses, openai.APIChat}

var ask, generate, failure = llmtest.Ask, llmtest.Generate, llmtest.Failure

const testKey = "sk-test-0123456789abcdef"

// open returns a model of server, impatient unless changed.
func open(t *testing.T, server *llmtest.Server, api openai.API, change func(*openai.Options)) *openai.Model {
	t.Helper()
	o := openai.Options{
		BaseURL: server.BaseURL(), Key: testKey, Model: "gpt-6-sol-test", API: api,
		Retry: transport.RetryPolicy{Timeout: 20 * time.Second, Idle: 10 * time.Second, Backoff: time.Millisecond},
	}
	if change != nil {
		change(&o)
	}
	m, err := openai.New(o)
	check.Must(t, err)
	return m
}

func TestClient(t *testing.T) {
	for api, midway := range map[openai.API]int{openai.APIResponses: 6, openai.APIChat: 3} {
		t.Run(string(api), func(t *testing.T) {
			_, keyless := openai.New(openai.Options{Model: "m"})
			llmtest.TestClient(t, llmtest.Client{
				Keyless: keyless,
				Serve:   llmtest.NewServer, Key: testKey, Midway: midway,
				Open: func(tb testing.TB, baseURL string, p transport.RetryPolicy) llm.Model {
					tb.Helper()
					m, err := openai.New(openai.Options{
						BaseURL: baseURL, Key: testKey, Model: "gpt-6-sol-test", API: api,
						Retry: p,
					})
					check.Must(tb, err)
					return m
				},
			})
		})
	}
}
