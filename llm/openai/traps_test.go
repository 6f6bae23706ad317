package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
)

// The client library has traps; each test here is named after one and fails if
// we step into it.

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTrap1AnthropicsCompatibleAddressGetsACredential(t *testing.T) {
	var got *http.Request
	m, err := openai.New(openai.Options{
		BaseURL: "https://api.anthropic.com/v1", Key: testKey, Model: "claude-sonnet-5-5",
		HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			got = r
			return &http.Response{
				StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
				Body: io.NopCloser(strings.NewReader(`{"choices":[{"finish_reason":"stop","message":{"content":"hi"}}]}`)),
			}, nil
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	generate(t, m, ask("hi"))
	if url := got.URL.String(); url != "https://api.anthropic.com/v1/chat/completions" || got.Header.Get("Authorization") != "Bearer "+testKey {
		t.Errorf("asked %s with authorization %q", url, got.Header.Get("Authorization"))
	}
}

func TestTrap2EmptyArgumentsAndResultsAreSent(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			server := llmtest.NewServer(t, llmtest.Say("ok"))
			req := ask("read")
			req.Messages = append(req.Messages,
				llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Call: &llm.ToolCall{ID: "c", Name: "read"}}}},
				llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Result: &llm.ToolResult{ID: "c"}}}},
			)
			generate(t, open(t, server, api, nil), req)
			sent := string(server.Requests()[0].Body)
			for _, want := range []string{`"arguments":"{}"`, `"(no output)"`} {
				if !strings.Contains(sent, want) {
					t.Errorf("%s is missing in %s", want, sent)
				}
			}
		})
	}
}

func TestTrap3GeminisThoughtSignaturesAreNotLostUnnoticed(t *testing.T) {
	for model, fails := range map[string]bool{"gemini-3.5-flash": true, "models/gemini-3-pro": true, "gemini-2.5-flash": false} {
		_, err := openai.New(openai.Options{
			BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai/", Key: testKey, Model: model,
		})
		if (err != nil) != fails {
			t.Errorf("%s: err = %v, want an error: %v", model, err, fails)
		}
	}
}

func TestTrap4ModelsThatWantResponsesGetThem(t *testing.T) {
	var path string
	options := openai.Options{
		Key: testKey, Model: "gpt-6-astra",
		HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			path = r.URL.Path
			return nil, errors.New("offline")
		})},
	}
	req := ask("hi")
	req.Tools, req.MaxTokens = []llm.Tool{{Name: "look"}}, 100
	m, err := openai.New(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), req, nil); err == nil || path != "/v1/responses" {
		t.Errorf("asked %q, want /v1/responses", path)
	}
	path, options.API = "", openai.APIChat
	if m, err = openai.New(options); err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), req, nil)
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != llm.ErrRejected || !strings.Contains(told.Error(), "responses") || path != "" {
		t.Errorf("err = %v, asked %q; want to be told of the Responses API before anything is sent", err, path)
	}
}

func TestTrap5StrictIsSentThoughFalse(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Say("ok"))
	req := ask("hi")
	req.Tools = []llm.Tool{{Name: "look"}}
	generate(t, open(t, server, openai.APIResponses, nil), req)
	if sent := string(server.Requests()[0].Body); !strings.Contains(sent, `"strict":false`) {
		t.Errorf("strict is missing in %s", sent)
	}
}

func TestTrap6TheEndMarkAloneIsNoAnswer(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: []string{`{"choices":[{"delta":{"content":"half"}}]}`}}))
	failure(t, open(t, server, openai.APIChat, nil), llm.ErrCutOff)
}

func TestTrap7AnErrorInsideAChunkIsNotDropped(t *testing.T) {
	chunks := map[string]string{
		"beside the choices": `{"id":"1","error":{"code":502,"message":"provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`,
		"inside a choice":    `{"id":"1","choices":[{"index":0,"delta":{"content":""},"error":{"code":502,"message":"provider disconnected"}}]}`,
	}
	for name, chunk := range chunks {
		server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: []string{`{"choices":[{"delta":{"content":"half"}}]}`, chunk}}))
		if told := failure(t, open(t, server, openai.APIChat, nil), llm.ErrUnavailable); !strings.Contains(told.Error(), "provider disconnected") {
			t.Errorf("%s: error %q, want the provider's words", name, told)
		}
	}
	bare := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: []string{`{"choices":[{"delta":{},"finish_reason":"error"}]}`}}))
	failure(t, open(t, bare, openai.APIChat, nil), llm.ErrUnavailable)
}

// Trap 9 is about audio uploads, which this package does not make.
