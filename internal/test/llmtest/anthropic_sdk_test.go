//go:build peers

package llmtest_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"clank/internal/test/llmtest"
	"clank/llm"

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
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(reply), llmtest.Answer(reply))
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

// setSwitches has every member of a toolset, as the vendor's types have them.
func setSwitches(t *testing.T, configs reflect.Type) string {
	t.Helper()
	members := map[string]any{}
	for field := range configs.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			members[name] = map[string]bool{"enabled": false}
		}
	}
	if len(members) < 10 {
		t.Fatalf("%v has %d members", configs, len(members))
	}
	data, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRequestsWithAllThereIsAreTakenByTheServerAndTheLibrary(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + anthropicPixel + `"},"transformations":{"oversized_image":"downsize"}}`
	head := `{"model":"claude-sonnet-5","max_tokens":2000,"stream":true,"metadata":{"user_id":"u"},"output_config":{"effort":"xhigh"},` +
		`"system":[{"type":"text","text":"s"` + mark + `}],"messages":[{"role":"user","content":[{"type":"text","text":"go"` + mark + `},` + image + `]}],`
	own := `{"name":"look","description":"d","input_schema":{"type":"object","properties":{}}` + mark + `}`
	dated := `"name":"computer","display_width_px":1,"display_height_px":1` + mark + `}`
	for name, tt := range map[string]struct{ beta, body string }{
		"both toolsets": {"", head + `"thinking":{"type":"adaptive","display":"omitted"},"tool_choice":{"type":"tool","name":"look"},"tools":[` + own +
			`,{"type":"computer_toolset_20260801","configs":` + setSwitches(t, reflect.TypeFor[sdk.ComputerToolsetConfigsParam]()) + `}` +
			`,{"type":"browser_toolset_20260801","configs":` + setSwitches(t, reflect.TypeFor[sdk.BrowserToolsetConfigsParam]()) + `}]}`},
		"a budget": {"", head + `"thinking":{"type":"enabled","budget_tokens":1024,"display":"summarized"},"tool_choice":{"type":"any"}}`},
		"the newer beta tool": {
			"computer-use-2025-11-24",
			strings.Replace(head, "claude-sonnet-5", "claude-opus-4-6", 1) + `"tools":[{"type":"computer_20251124","enable_zoom":true,` + dated + `]}`,
		},
		"the older beta tool": {
			"computer-use-2025-01-24",
			strings.Replace(head, "claude-sonnet-5", "claude-haiku-4-5", 1) + `"tool_choice":{"type":"auto"},"tools":[{"type":"computer_20250124",` + dated + `]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Say("fine"))
			if status, answer := postAnthropic(t, server, tt.beta, tt.body); status != http.StatusOK {
				t.Errorf("status %d: %s", status, answer)
			}
		})
	}
}
