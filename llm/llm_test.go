package llm_test

import (
	"encoding/json"
	"errors"
	"testing"

	"clank/llm"

	"github.com/google/go-cmp/cmp"
)

func TestConversationSurvivesJSON(t *testing.T) {
	want := []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{{Text: "look"}, {Image: &llm.Image{MediaType: "image/png", Data: []byte{0, 1, 255}}}}},
		{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Opaque: &llm.Opaque{Owner: "a", Data: json.RawMessage(`{"x":[1,2]}`)}},
			{Text: "I will"},
			{Call: &llm.ToolCall{ID: "1", Name: "click", Input: json.RawMessage(`{"ref":"e1"}`)}},
			{Call: &llm.ToolCall{ID: "2", Name: "click", Input: json.RawMessage(`{}`), Malformed: "{oops"}},
		}},
		{Role: llm.RoleUser, Parts: []llm.Part{
			{Result: &llm.ToolResult{ID: "1", Images: []llm.Image{{MediaType: "image/webp", Data: []byte("w")}}}},
			{Result: &llm.ToolResult{ID: "2", Text: "no", IsError: true}},
		}},
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []llm.Message
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conversation changed (-want +got):\n%s", diff)
	}
}

func TestReplyTextAndCallsKeepTheirOrder(t *testing.T) {
	r := llm.Reply{Message: llm.Message{Parts: []llm.Part{
		{Text: "a"}, {Call: &llm.ToolCall{ID: "1"}}, {Text: "b"}, {Call: &llm.ToolCall{ID: "2"}},
	}}}
	if got, want := r.Text(), "a\n\nb"; got != want {
		t.Errorf("Text() = %q, want %q", got, want)
	}
	if got := r.Calls(); len(got) != 2 || got[0].ID != "1" || got[1].ID != "2" {
		t.Errorf("Calls() = %v, want 1 and 2", got)
	}
}

func TestUsageAddsUpAndOneUnpricedCallMarksTheSum(t *testing.T) {
	a := llm.Usage{Calls: 1, InputTokens: 10, CachedTokens: 4, OutputTokens: 5, ReasoningTokens: 2, USD: 0.5}
	b := llm.Usage{Calls: 2, InputTokens: 1, OutputTokens: 1, Unpriced: true}
	want := llm.Usage{Calls: 3, InputTokens: 11, CachedTokens: 4, OutputTokens: 6, ReasoningTokens: 2, USD: 0.5, Unpriced: true}
	if got := a.Add(b); got != want {
		t.Errorf("Add = %+v, want %+v", got, want)
	}
}

func TestErrorReadsAsASentence(t *testing.T) {
	cause := errors.New("secret detail")
	err := error(&llm.Error{Kind: llm.ErrAuth, Model: "openai:x", Message: "the key was refused", Hint: "set KEY", Err: cause})
	if got, want := err.Error(), "model openai:x: the key was refused (set KEY)"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is not reachable")
	}
}
