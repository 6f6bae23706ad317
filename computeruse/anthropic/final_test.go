package anthropic_test

import (
	"strings"
	"testing"

	"clank/computeruse/anthropic"
	"clank/internal/test/llmtest"
)

func TestAtTheEndAnAnswerInWordsIsAskedForWhereTheModelIsKnown(t *testing.T) {
	for model, want := range map[string]bool{"claude-opus-5-5": true, "claude-sonnet-4-6": true, "somebodys-model": false} {
		tools := anthropic.Tools("")
		if !want {
			tools = anthropic.ToolsComputer
		}
		server := llmtest.NewAnthropicServer(t, llmtest.Answer(use("read_text", `{}`)), llmtest.Say("done"))
		talk := begin(t, open(t, server, model, tools), nil)
		in := done(next(t, talk, task("go")), 2)
		in.Final, in.Says = true, []string{"Answer now."}
		if turn := next(t, talk, in); turn.Text != "done" {
			t.Errorf("%s: the last turn is %+v", model, turn)
		}
		for i, asked := range server.Requests() {
			if got := strings.Contains(string(asked.Body), `"tool_choice":{"type":"none"}`); got != (want && i == 1) {
				t.Errorf("%s: question %d forbids calls: %t", model, i, got)
			}
		}
	}
}
