//go:build peers

package anthropic_test

import (
	"testing"

	"clank/llm"
	"clank/llm/llmtest"
	"clank/llm/llmtest/anthropic"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"
)

func TestTheClientLibraryUnderstandsWhatIsSaid(t *testing.T) {
	reply := llmtest.Reply{
		Reasoning: &llmtest.Reasoning{Summary: "so so", Encrypted: "sig"}, Text: "I click",
		Calls: []llmtest.Call{{Name: "computer.left_click", Arguments: `{"coordinate":[3,4]}`}, {ID: "mine", Name: "look"}},
		Usage: &llm.Usage{InputTokens: 10, CachedTokens: 4, CacheWriteTokens: 1, OutputTokens: 3},
	}
	server := anthropic.NewServer(t, llmtest.Answer(reply), llmtest.Answer(reply))
	service := sdk.NewMessageService(option.WithBaseURL(server.URL()), option.WithMaxRetries(0))
	params := sdk.MessageNewParams{
		Model: "claude-opus-5-5", MaxTokens: 100, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("hi"))},
	}
	whole, err := service.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	var streamed sdk.Message
	stream := service.NewStreaming(t.Context(), params)
	for stream.Next() {
		if err := streamed.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	for name, m := range map[string]*sdk.Message{"whole": whole, "streamed": &streamed} {
		var got []string
		for _, b := range m.Content {
			switch b := b.AsAny().(type) {
			case sdk.ThinkingBlock:
				got = append(got, b.Thinking+" / "+b.Signature)
			case sdk.TextBlock:
				got = append(got, b.Text)
			case sdk.ToolUseBlock:
				got = append(got, b.ToolsetName+" "+b.Name+" "+string(b.Input))
			}
		}
		want := []string{"so so / sig", "I click", `computer left_click {"coordinate":[3,4]}`, " look {}"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if m.StopReason != sdk.StopReasonToolUse || m.Usage.InputTokens != 5 || m.Usage.CacheReadInputTokens != 4 || m.Usage.CacheCreationInputTokens != 1 {
			t.Errorf("%s: stop %s, usage %+v", name, m.StopReason, m.Usage)
		}
	}
}
