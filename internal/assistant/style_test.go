package assistant_test

import (
	"strings"
	"testing"

	"clank/internal/assistant"
	"clank/llm"
)

func TestTheStyleOfATurnReachesTheModelAndEndsWithTheTurn(t *testing.T) {
	m := &scripted{caps: seeing, replies: []func(llm.Request) (llm.Reply, error){says("hi"), says("hello")}}
	b := newBrain(m, &tasks{})
	spoken := turn("hello")
	spoken.Style = "Your answer is spoken aloud."
	for _, tn := range []assistant.Turn{spoken, turn("hello")} {
		if _, err := b.Reply(t.Context(), tn, nil); err != nil {
			t.Fatal(err)
		}
		got, want := strings.Contains(m.asked[len(m.asked)-1].System, spoken.Style), tn.Style != ""
		if got != want {
			t.Errorf("the model was told the style: %v, want %v", got, want)
		}
	}
}
