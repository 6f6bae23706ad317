package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
)

func TestFailuresSayWhatHappenedAndWhatToDo(t *testing.T) {
	page := "<!DOCTYPE html><html>login</html>"
	tests := []struct {
		name  string
		fault llmtest.Fault
		kind  llm.ErrorKind
		says  []string
	}{
		{"wrong key", llmtest.Fault{Status: 401, Message: "Incorrect API key provided: " + testKey}, llm.ErrAuth, []string{"key was not accepted", "SOME_KEY"}},
		{"forbidden", llmtest.Fault{Status: 403, Message: "no access"}, llm.ErrAuth, []string{"no access", "SOME_KEY"}},
		{"unknown model", llmtest.Fault{Status: 404, Code: "model_not_found", Message: "The model does not exist"}, llm.ErrNotFound, []string{"gpt-6-sol-test", "http://127.0.0.1"}},
		{"unknown model told by 400", llmtest.Fault{Status: 400, Message: "x is not a valid model ID"}, llm.ErrNotFound, []string{"gpt-6-sol-test"}},
		{"wrong path", llmtest.Fault{Status: 404, Message: "404 page not found"}, llm.ErrNotFound, []string{"/v1", "server's address"}},
		{"no credit", llmtest.Fault{Status: 429, Code: "insufficient_quota", Message: "You exceeded"}, llm.ErrRateLimited, []string{"credit", "billing"}},
		{"payment required", llmtest.Fault{Status: 402, Message: "Insufficient credits"}, llm.ErrRateLimited, []string{"credit"}},
		{"too long", llmtest.Fault{Status: 400, Code: "context_length_exceeded", Message: "maximum context length"}, llm.ErrRejected, []string{"too long", "new one"}},
		{"refused as invalid", llmtest.Fault{Status: 422, Message: "bad field"}, llm.ErrRejected, []string{"422", "bad field"}},
		{"redirect", llmtest.Fault{Status: 308, Header: map[string]string{"Location": "https://elsewhere/v1"}}, llm.ErrRejected, []string{"https://elsewhere/v1", "base URL"}},
		{"web page", llmtest.Fault{Header: map[string]string{"Content-Type": "text/html"}, Body: &page}, llm.ErrMalformed, []string{"web page", "server's address"}},
		{"not implemented", llmtest.Fault{Status: 501, Message: "no"}, llm.ErrUnavailable, []string{"501"}},
	}
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					server := llmtest.NewServer(t, llmtest.SayWithFault("", tt.fault))
					m := open(t, server, api, func(o *openai.Options) { o.KeyEnv = "SOME_KEY" })
					told := failure(t, m, tt.kind)
					for _, want := range tt.says {
						if !strings.Contains(told.Error(), want) {
							t.Errorf("error %q does not say %q", told, want)
						}
					}
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
				Calls: []llmtest.Call{{Name: "pay", Arguments: `{"amount": 1}`}}, Fault: llmtest.Fault{Cut: llmtest.CutClean, At: 4},
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

func TestErrorsInsideAStream(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, at := range []int{0, 5} {
				server := llmtest.NewServer(t, llmtest.SayWithFault("a b c d", llmtest.Fault{StreamError: "the GPU melted", At: at}))
				told := failure(t, open(t, server, api, nil), llm.ErrUnavailable)
				if !strings.Contains(told.Error(), "the GPU melted") {
					t.Errorf("error %q, want the server's words", told)
				}
			}
		})
	}
	failed := `{"type":"response.failed","response":{"object":"response","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}`
	server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: []string{failed}}))
	if told := failure(t, open(t, server, openai.APIResponses, nil), llm.ErrRateLimited); !strings.Contains(told.Error(), "slow down") {
		t.Errorf("error %q, want the server's words", told)
	}
}
