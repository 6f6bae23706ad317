package plain_test

import (
	"testing"

	"clank/llm"
	"clank/llm/plain"
)

func TestThereMustBeSomethingToGoOnWith(t *testing.T) {
	m := plain.New(plain.Options{})
	for name, messages := range map[string][]llm.Message{
		"first of all":       {llm.UserText("continue")},
		"twice, first":       {llm.UserText("go on"), {Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "?"}}}, llm.UserText("weiter!")},
		"after what made no": {llm.UserText("sing a song"), {Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "?"}}}, llm.UserText("continue")},
	} {
		reply, err := m.Generate(t.Context(), llm.Request{Messages: messages, Tools: tools}, nil)
		if err != nil || reply.Stop != llm.StopRefused || len(reply.Calls()) != 0 {
			t.Errorf("%s: %+v, %v; want help", name, reply, err)
		}
	}
	reply, err := m.Generate(t.Context(), llm.Request{Tools: tools, Messages: []llm.Message{
		llm.UserText("open example.com"), {Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "interrupted"}}}, llm.UserText("please continue."),
	}}, nil)
	if calls := reply.Calls(); err != nil || len(calls) != 1 || calls[0].Name != "browser_open" {
		t.Errorf("before the first step: %+v, %v; want the first step", reply, err)
	}
}
