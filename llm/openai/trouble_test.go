package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
	"clank/llm/transport"
)

func TestFailuresSayWhatHappenedAndWhatToDo(t *testing.T) {
	page := "<!DOCTYPE html><html>login</html>"
	tests := []struct {
		name  string
		fault llmtest.Fault
		kind  llm.ErrorKind
		says  []string
	}{
		{
			"wrong key",
			llmtest.Fault{Status: 401, Message: "Incorrect API key provided: " + testKey},
			llm.ErrAuth,
			[]string{"key was not accepted", "SOME_KEY"},
		},
		{"forbidden", llmtest.Fault{Status: 403, Message: "no access"}, llm.ErrAuth, []string{"no access", "SOME_KEY"}},
		{
			"unknown model",
			llmtest.Fault{Status: 404, Code: "model_not_found", Message: "The model does not exist"},
			llm.ErrNotFound,
			[]string{"gpt-6-sol-test", "http://127.0.0.1"},
		},
		{
			"unknown model told by 400",
			llmtest.Fault{Status: 400, Message: "x is not a valid model ID"},
			llm.ErrNotFound,
			[]string{"gpt-6-sol-test"},
		},
		{
			"wrong path",
			llmtest.Fault{Status: 404, Message: "404 page not found"},
			llm.ErrNotFound,
			[]string{"/v1", "server's address"},
		},
		{
			"no credit",
			llmtest.Fault{Status: 429, Code: "insufficient_quota", Message: "You exceeded"},
			llm.ErrRateLimited,
			[]string{"credit", "billing"},
		},
		{
			"payment required",
			llmtest.Fault{Status: 402, Message: "Insufficient credits"},
			llm.ErrRateLimited,
			[]string{"credit"},
		},
		{
			"too long",
			llmtest.Fault{Status: 400, Code: "context_length_exceeded", Message: "maximum context length"},
			llm.ErrRejected,
			[]string{"too long", "new one"},
		},
		{
			"refused as invalid",
			llmtest.Fault{Status: 422, Message: "bad field"},
			llm.ErrRejected,
			[]string{"422", "bad field"},
		},
		{
			"redirect",
			llmtest.Fault{Status: 308, Header: map[string]string{"Location": "https://elsewhere/v1"}},
			llm.ErrRejected,
			[]string{"https://elsewhere/v1", "base URL"},
		},
		{
			"web page",
			llmtest.Fault{Header: map[string]string{"Content-Type": "text/html"}, Body: &page},
			llm.ErrMalformed,
			[]string{"web page", "server's address"},
		},
		{
			"empty",
			llmtest.Fault{Body: new(""), Header: map[string]string{"Content-Type": "text/event-stream"}},
			llm.ErrCutOff,
			[]string{"answered with nothing", "server's address"},
		},
		{
			"no gzip, though it is said to be",
			llmtest.Fault{Body: new("{}{}{}{}{}{}"), Header: map[string]string{"Content-Encoding": "gzip"}},
			llm.ErrMalformed,
			[]string{"broken answer", "127.0.0.1", "ask again"},
		},
		{
			"broken gzip",
			llmtest.Fault{
				Body: new("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x07"), Header: map[string]string{"Content-Encoding": "gzip"},
			},
			llm.ErrMalformed,
			[]string{"broken answer", "127.0.0.1", "ask again"},
		},
		{"not implemented", llmtest.Fault{Status: 501, Message: "no"}, llm.ErrUnavailable, []string{"501"}},
	}
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					server := llmtest.NewServer(t, llmtest.SayWithFault("", tt.fault))
					m := open(t, server, api, func(o *openai.Options) { o.KeyEnv = "SOME_KEY" })
					told := failure(t, m, tt.kind)
					check.Contains(t, told.Error(), tt.says...)
					if strings.Contains(fmt.Sprintf("%v %v", told, told.Err), testKey) {
						t.Errorf("error %q, %q gives the key away", told, told.Err)
					}
					if tt.fault.Status != told.Status && tt.fault.Body == nil {
						t.Errorf("status = %d, want %d", told.Status, tt.fault.Status)
					}
					if n := len(server.Requests()); n != 1 {
						t.Errorf("%d requests, want no second try", n)
					}
				})
			}
		})
	}
}

func TestATruncatedAnswerWithCallsIsCutOffToo(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{
				Calls: []llmtest.Call{{Name: "pay", Arguments: `{"amount": 1}`}},
				Fault: llmtest.Fault{Cut: llmtest.CutClean, At: 4},
			}))
			failure(t, open(t, server, api, nil), llm.ErrCutOff)
		})
	}
}

func TestAConnectionThatDiesBeforeTheAnswerIsTriedAgain(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, cut := range []llmtest.Cut{llmtest.CutClose, llmtest.CutReset} {
				server := llmtest.NewServer(t, llmtest.SayWithFault("x", llmtest.Fault{Cut: cut}), llmtest.Say("fine"))
				reply, err := open(t, server, api, nil).Generate(t.Context(), ask("hi"), nil)
				if err != nil || reply.Text() != "fine" {
					t.Errorf("cut %d: got %q, %v; want fine", cut, reply.Text(), err)
				}
			}
		})
	}
}

func TestAFailedResponseIsAnError(t *testing.T) {
	failed := `{"type":"response.failed","response":{"object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}`
	reply := llmtest.Answer(llmtest.Reply{Events: []string{failed}})
	server := llmtest.NewServer(t, reply, reply, reply) // for each try
	if told := failure(t, open(t, server, openai.APIResponses, nil), llm.ErrRateLimited); !strings.Contains(told.Error(),
		"slow down") {
		t.Errorf("error %q, want the server's words", told)
	}
}

// The client library has traps; each test here is named after one and fails if we step into it.

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
	check.Must(t, err)
	generate(t, m, ask("hi"))
	if url := got.URL.String(); url != "https://api.anthropic.com/v1/chat/completions" ||
		got.Header.Get("Authorization") != "Bearer "+testKey {
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
			check.Contains(t, sent, `"arguments":"{}"`, `"(no output)"`)
		})
	}
}

func TestTrap3GeminisThoughtSignaturesAreNotLostUnnoticed(t *testing.T) {
	for model, fails := range map[string]bool{
		"gemini-3.5-flash": true, "models/gemini-3-pro": true,
		"gemini-2.5-flash": false,
	} {
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
	check.Must(t, err)
	if _, err := m.Generate(t.Context(), req, nil); err == nil || path != "/v1/responses" {
		t.Errorf("asked %q, want /v1/responses", path)
	}
	path, options.API = "", openai.APIChat
	if m, err = openai.New(options); err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), req, nil)
	if told, ok := errors.AsType[*llm.Error](err); !ok || told.Kind != llm.ErrRejected ||
		!strings.Contains(told.Error(), "responses") || path != "" {
		t.Errorf("err = %v, asked %q; want to be told of the Responses API before anything is sent", err, path)
	}
}

func TestTrap5StrictIsSentThoughFalse(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Say("ok"))
	req := ask("hi")
	req.Tools = []llm.Tool{{Name: "look"}}
	generate(t, open(t, server, openai.APIResponses, nil), req)
	check.Contains(t, string(server.Requests()[0].Body), `"strict":false`)
}

func TestTrap6TheEndMarkAloneIsNoAnswer(t *testing.T) {
	server := llmtest.NewServer(t,
		llmtest.Answer(llmtest.Reply{Events: []string{`{"choices":[{"delta":{"content":"half"}}]}`}}))
	failure(t, open(t, server, openai.APIChat, nil), llm.ErrCutOff)
}

func TestTrap7AnErrorInsideAChunkIsNotDropped(t *testing.T) {
	chunks := map[string]string{
		"beside the choices": `{"id":"1","error":{"code":502,"message":"provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`,
		"inside a choice":    `{"id":"1","choices":[{"index":0,"delta":{"content":""},"error":{"code":502,"message":"provider disconnected"}}]}`,
	}
	for name, chunk := range chunks {
		server := llmtest.NewServer(t,
			llmtest.Answer(llmtest.Reply{Events: []string{`{"choices":[{"delta":{"content":"half"}}]}`, chunk}}))
		if told := failure(t, open(t, server, openai.APIChat, nil), llm.ErrUnavailable); !strings.Contains(told.Error(),
			"provider disconnected") {
			t.Errorf("%s: error %q, want the provider's words", name, told)
		}
	}
	bare := llmtest.NewServer(t,
		llmtest.Answer(llmtest.Reply{Events: []string{`{"choices":[{"delta":{},"finish_reason":"error"}]}`}}))
	failure(t, open(t, bare, openai.APIChat, nil), llm.ErrUnavailable)
}

// Trap 9 is about audio uploads, which this package does not make.

var _ llm.Model = (*openai.Model)(nil)

func TestAnUnknownAPIIsToldAtOnce(t *testing.T) {
	check.Fails(t, check.Err(openai.New(openai.Options{Model: "m", BaseURL: "http://h/v1", API: "soap"})), nil, "soap")
}

func TestNamesAndAbilities(t *testing.T) {
	tests := []struct {
		options openai.Options
		name    string
		want    llm.Caps
	}{
		{
			openai.Options{Model: "gpt-4o", Key: testKey},
			"openai:gpt-4o",
			llm.Caps{Tools: true, Vision: true, ToolImages: true, ContextSize: 128_000},
		},
		{openai.Options{Provider: "ollama", Model: "mymodel", BaseURL: "http://h"}, "ollama:mymodel", llm.Caps{Tools: true}},
		{
			openai.Options{Provider: "ollama", Model: "llava:7b", BaseURL: "http://h"},
			"ollama:llava:7b",
			llm.Caps{Vision: true, ToolImages: true},
		},
	}
	for _, tt := range tests {
		m, err := openai.New(tt.options)
		check.Must(t, err)
		if m.Name() != tt.name || m.Caps() != tt.want {
			t.Errorf("got %s with %+v, want %s with %+v", m.Name(), m.Caps(), tt.name, tt.want)
		}
	}
}

func TestAutoMeansChatForOtherServersAndAKeyIsOptional(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Say("ok"), llmtest.Fail(401, "", "no"))
	m := open(t, server, openai.APIAuto, func(o *openai.Options) { o.Key = "" })
	generate(t, m, ask("hi"))
	r := server.Requests()[0]
	if r.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "" {
		t.Errorf("asked %s with authorization %q; want chat completions without", r.Path, r.Header.Get("Authorization"))
	}
	if told := failure(t, m, llm.ErrAuth); !strings.Contains(told.Error(), "wants a key") {
		t.Errorf("error %q, want that a key is missing", told)
	}
}

// Codex (codex-rs, sse/responses.rs) tries again after these, and reads how long to wait from the text.
func TestAPassingFailureBeforeTheFirstTextIsTriedAgain(t *testing.T) {
	const begun = `{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress"}}`
	failed := func(code, message string) string {
		return fmt.Sprintf(`{"type":"response.failed","response":{"object":"response","status":"failed","error":{"code":%q,"message":%q}}}`, code, message)
	}
	const limit = "Rate limit reached for gpt-6-sol on tokens per min (TPM): Limit 30000. Please try again in 28ms."
	for name, c := range map[string]struct {
		events []string
		kind   llm.ErrorKind // empty: it is tried again
		after  time.Duration
	}{
		"too many requests": {[]string{begun, failed("rate_limit_exceeded", limit)}, "", 28 * time.Millisecond},
		"trouble inside":    {[]string{begun, failed("server_error", "sorry")}, "", 0},
		"after the first text": {
			[]string{
				begun, `{"type":"response.output_text.delta","output_index":0,"delta":"x"}`,
				failed("rate_limit_exceeded", limit),
			},
			llm.ErrRateLimited, 28 * time.Millisecond,
		},
		"a wait of minutes": {
			[]string{begun, failed("rate_limit_exceeded", "Please try again in 6m0s.")},
			llm.ErrRateLimited, 6 * time.Minute,
		},
		"a wrong request":       {[]string{begun, failed("invalid_prompt", "no")}, llm.ErrRejected, 0},
		"a quota that is spent": {[]string{begun, failed("insufficient_quota", "pay")}, llm.ErrRateLimited, 0},
	} {
		var tried []time.Duration
		server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: c.events}),
			llmtest.Answer(llmtest.Reply{Text: "hello"}))
		m := open(t, server, openai.APIResponses, func(o *openai.Options) {
			o.Retry.OnRetry = func(e transport.RetryEvent) {
				told, _ := errors.AsType[*llm.Error](e.Err)
				tried = append(tried, told.RetryAfter)
			}
		})
		reply, err := m.Generate(t.Context(), ask("hi"), nil)
		if c.kind == "" {
			if err != nil || reply.Text() != "hello" || !slices.Equal(tried, []time.Duration{c.after}) {
				t.Errorf("%s: got %q, %v, tries after %v; want hello after %v", name, reply.Text(), err, tried, c.after)
			}
			continue
		}
		told, _ := errors.AsType[*llm.Error](err)
		if told == nil || told.Kind != c.kind || told.RetryAfter != c.after || tried != nil {
			t.Errorf("%s: got %v, tries after %v; want the kind %s", name, err, tried, c.kind)
		}
	}
}

// What follows the end of an answer, or counts in another form, is not worth the answer.
func TestAWholeAnswerIsNotLost(t *testing.T) {
	const done = `{"choices":[{"index":0,"delta":{"content":"whole"},"finish_reason":"stop"}]}`
	const response = `{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[{"type":"message",` +
		`"role":"assistant","content":[{"type":"output_text","text":"whole"}]}],"usage":{"input_tokens":3,"output_tokens":1.5,"cost":{}}}}`
	for name, c := range map[string]struct {
		api    openai.API
		events []string
		in     int // tokens
	}{
		"an error after the end": {openai.APIChat, []string{done, `{"error":{"code":502,"message":"upstream is gone"}}`}, 0},
		"garbage after the end":  {openai.APIChat, []string{done, `{"choices":{}}`}, 0},
		"a cost that is broken down": { // as Perplexity's Sonar tells it
			openai.APIChat, []string{
				done,
				`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"cost":{"total_cost":0.006}}}`,
			}, 3,
		},
		"a count in another form": {openai.APIResponses, []string{response}, 3},
		"the end told twice":      {openai.APIResponses, []string{response, response}, 3},
	} {
		m := open(t, llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: c.events})), c.api, nil)
		reply, err := m.Generate(t.Context(), ask("hi"), nil)
		if err != nil || reply.Text() != "whole" || reply.Usage.InputTokens != c.in {
			t.Errorf("%s: got %q, %+v, %v; want whole, %d tokens", name, reply.Text(), reply.Usage, err, c.in)
		}
	}
}
