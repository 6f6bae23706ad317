package openai_test

import (
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
)

var _ llm.Model = (*openai.Model)(nil)

func TestAnUnknownAPIIsToldAtOnce(t *testing.T) {
	if _, err := openai.New(openai.Options{Model: "m", BaseURL: "http://h/v1", API: "soap"}); err == nil || !strings.Contains(err.Error(), "soap") {
		t.Errorf("err = %v", err)
	}
}

func TestNamesAndAbilities(t *testing.T) {
	tests := []struct {
		options openai.Options
		name    string
		want    llm.Caps
	}{
		{openai.Options{Model: "gpt-4o", Key: testKey}, "openai:gpt-4o", llm.Caps{Tools: true, Vision: true, ToolImages: true, ContextSize: 128_000}},
		{openai.Options{Provider: "ollama", Model: "mymodel", BaseURL: "http://h"}, "ollama:mymodel", llm.Caps{Tools: true}},
		{openai.Options{Provider: "ollama", Model: "llava:7b", BaseURL: "http://h"}, "ollama:llava:7b", llm.Caps{Vision: true, ToolImages: true}},
	}
	for _, tt := range tests {
		m, err := openai.New(tt.options)
		if err != nil {
			t.Fatal(err)
		}
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
