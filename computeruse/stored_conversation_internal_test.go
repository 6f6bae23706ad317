package computeruse

import (
	"encoding/json"
	"strings"
	"testing"

	"clank/llm"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsStoredIsReadAgainSettled(t *testing.T) {
	m := storedConversation{Mind: "test:mind", Talk: json.RawMessage(`{"a":1}`)}
	m.addPrompt("first")
	m.setAnswer("one")
	m.Next.addCalls(Turn{Calls: []Call{{ID: "a"}, {ID: "b"}}, Tools: []llm.ToolCall{{ID: "f"}}})
	m.Next.answerCall(CallResult{CallID: "a", Image: &llm.Image{Data: []byte("big")}})
	raw, err := m.marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseConversation(raw)
	if err != nil {
		t.Fatal(err)
	}
	in := got.Next.drain()
	if len(in.Outcomes) != 2 || in.Outcomes[0].Image != nil || in.Outcomes[1].CallID != "b" || in.Outcomes[1].Err == "" || !in.Results[0].IsError {
		t.Errorf("got %+v, want every call answered and no picture kept", in)
	}
	if diff := cmp.Diff(m.Said, got.Said); diff != "" || got.Mind != "test:mind" {
		t.Errorf("mind %q, said: %s", got.Mind, diff)
	}
}

func TestMemoriesAreBounded(t *testing.T) {
	var m storedConversation
	for range 50 {
		m.addPrompt(strings.Repeat("word ", 1000))
		m.setAnswer(strings.Repeat("word ", 1000))
	}
	if got := len(m.recap()); got > 2*maxSaid*(maxSaidChars+50) {
		t.Errorf("the recap has %d bytes", got)
	}
}

func FuzzReadMemory(f *testing.F) {
	f.Add([]byte(`{"version":1,"runtime":"computeruse","talk":{},"next":{"calls":["a"],"tools":["b"]},"said":[{"prompt":"p"}]}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parseConversation(raw)
		if err != nil {
			return
		}
		if len(m.Next.Calls)+len(m.Next.Tools) != 0 {
			t.Error("a call is left unanswered")
		}
		if _, err := m.marshal(); err != nil {
			t.Errorf("cannot be stored again: %v", err)
		}
	})
}
