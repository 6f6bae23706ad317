package anthropic_test

import (
	"errors"
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"

	"github.com/google/go-cmp/cmp"
)

func TestWrongOptionsAreRefusedBeforeAnyCall(t *testing.T) {
	for name, tt := range map[string]struct {
		options anthropic.Options
		says    string
	}{
		"no model":       {anthropic.Options{Key: testKey}, "no model is named"},
		"no key":         {anthropic.Options{Model: "claude-opus-5-5"}, "set ANTHROPIC_API_KEY"},
		"no URL":         {anthropic.Options{Model: "m", Key: testKey, BaseURL: "localhost:80"}, "base URL"},
		"URL with query": {anthropic.Options{Model: "m", Key: testKey, BaseURL: "http://x/v1?a=b"}, "without ? or #"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := anthropic.New(tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("err = %v, want it to say %q", err, tt.says)
			}
		})
	}
	var told *llm.Error
	if _, err := anthropic.New(anthropic.Options{Model: "m"}); !errors.As(err, &told) || told.Kind != llm.ErrAuth {
		t.Errorf("err = %v, want kind auth", err)
	}
}

func TestMaxTokensAreAlwaysSentAndWithinTheModel(t *testing.T) {
	for model, want := range map[string]int{"claude-opus-5-5": 32_000, "claude-3-haiku-20240307": 4_096, "someone/claude-3-5-haiku": 8_192} {
		server := llmtest.NewAnthropicServer(t, llmtest.Say("hi"))
		generate(t, open(t, server, func(o *anthropic.Options) { o.Model = model }), ask("hi"))
		if got := server.Requests()[0].MaxTokens; got != want {
			t.Errorf("max_tokens of %s = %d, want %d", model, got, want)
		}
	}
}

func TestTheEnvironmentHasNoSay(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	server := llmtest.NewAnthropicServer(t, llmtest.Say("hi"))
	generate(t, open(t, server, func(o *anthropic.Options) { o.Key = "" }), ask("hi"))
	if h := server.Requests()[0].Header; h.Get("X-Api-Key") != "" || h.Get("Authorization") != "" {
		t.Errorf("credentials of the environment were sent: %v", h)
	}
}

func TestCapsSayWhatTheModelCanDo(t *testing.T) {
	m, err := anthropic.New(anthropic.Options{Model: "claude-opus-5-5", Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Caps{Tools: true, Vision: true, ToolImages: true, Computer: true, ContextSize: 1_000_000}
	if diff := cmp.Diff(want, m.Caps()); diff != "" {
		t.Errorf("caps (-want +got):\n%s", diff)
	}
	if got, want := m.Name(), "anthropic:claude-opus-5-5"; got != want {
		t.Errorf("name = %q, want %q", got, want)
	}
}
