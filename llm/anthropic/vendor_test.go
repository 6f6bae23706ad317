//go:build peers

package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"
)

// resend reads a request of ours with the vendor's types and sends it with the vendor's client.
func resend(t *testing.T, s *llmtest.Tape, body []byte, betas []string) {
	t.Helper()
	opts := []option.RequestOption{
		option.WithBaseURL("https://server.test/sub/"), option.WithAPIKey(testKey), option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: s}),
	}
	var err error
	if len(betas) > 0 {
		var params sdk.BetaMessageNewParams
		decode(t, body, &params)
		for _, b := range betas {
			params.Betas = append(params.Betas, b)
		}
		service := sdk.NewBetaMessageService(opts...)
		stream := service.NewStreaming(t.Context(), params)
		for stream.Next() {
		}
		err = stream.Err()
	} else {
		var params sdk.MessageNewParams
		decode(t, body, &params)
		service := sdk.NewMessageService(opts...)
		stream := service.NewStreaming(t.Context(), params)
		for stream.Next() {
		}
		err = stream.Err()
	}
	check.Must(t, err)
}

func decode(t *testing.T, body []byte, into any) {
	t.Helper()
	check.Must(t, json.Unmarshal(body, into))
}

func decoded(t *testing.T, body []byte) any {
	t.Helper()
	var v any
	decode(t, body, &v)
	return v
}

// talkOfMuch has everything that a conversation of package llm can.
func talkOfMuch(t *testing.T, owner string) llm.Request {
	t.Helper()
	shot := picture(t, 4, 3)
	opaque := func(data string) llm.Part {
		return llm.Part{Opaque: &llm.Opaque{Owner: owner, Data: json.RawMessage(data)}}
	}
	call := func(id string) llm.Part {
		return llm.Part{Call: &llm.ToolCall{
			ID: id, Name: "look",
			Input: json.RawMessage(`{"at":"<ü\u2028>","n":[1,2.5,-3e20,null]}`),
		}}
	}
	return llm.Request{
		System: "be brief & kind", MaxTokens: 9000, EndUser: "abc",
		Tools: []llm.Tool{{
			Name: "look", Description: "Looks.",
			Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"],"additionalProperties":false}`),
		}, {Name: "act"}},
		Messages: []llm.Message{
			{Role: llm.RoleUser, Parts: []llm.Part{{Text: "what is it?"}, {Image: &shot}}},
			{Role: llm.RoleAssistant, Parts: []llm.Part{
				opaque(`{"type":"thinking","thinking":"a < b","signature":"s+/="}`),
				opaque(`{"type":"redacted_thinking","data":"ZW5j"}`),
				{Text: "let me see"},
				call("toolu_1"), call("of|another"),
			}},
			{Role: llm.RoleUser, Parts: []llm.Part{
				{Result: &llm.ToolResult{ID: "toolu_1", Text: "A", Images: []llm.Image{shot, shot}}},
				{Result: &llm.ToolResult{ID: "of|another", IsError: true}},
				{Text: "and?"},
			}},
			{Role: llm.RoleAssistant, Parts: []llm.Part{{Text: "x"}}},
			llm.UserText("go on"),
		},
	}
}

// screen returns a question with the vendor's tools.
func screen(t *testing.T, betas []string, tools ...anthropic.Tool) anthropic.MessageRequest {
	t.Helper()
	shot := anthropic.NewImage(picture(t, 4, 3))
	if len(betas) == 0 {
		shot = shot.Unscaled()
	}
	return anthropic.MessageRequest{
		System: "work the screen", MaxTokens: 9, Betas: betas, NoCalls: true, Stable: []int{0, 2},
		Tools: append([]anthropic.Tool{anthropic.FunctionTool(llm.Tool{Name: "look"})}, tools...),
		Messages: []anthropic.Message{
			{Role: anthropic.RoleUser, Content: []anthropic.Content{anthropic.NewText("go"), shot}},
			{Role: anthropic.RoleAssistant, Content: []anthropic.Content{
				anthropic.RawBlock(`{"type":"tool_use","id":"toolu_1","name":"left_click","toolset_name":"computer","input":{"coordinate":[1,2]}}`),
			}},
			{Role: anthropic.RoleUser, Content: []anthropic.Content{
				anthropic.NewResult("toolu_1", "computer", "Done.", []anthropic.ImageBlock{shot}, false),
			}},
		},
	}
}

func TestTheVendorsClientSendsTheSame(t *testing.T) {
	generate := func(o anthropic.Options, req func(owner string) llm.Request) func(*llmtest.Tape) error {
		return func(s *llmtest.Tape) error {
			m := taped(t, s, o)
			_, err := m.Generate(t.Context(), req(m.Owner()), nil)
			return err
		}
	}
	question := func(model string, q anthropic.MessageRequest) func(*llmtest.Tape) error {
		return func(s *llmtest.Tape) error {
			_, err := taped(t, s, anthropic.Options{Model: model}).Ask(t.Context(), q, nil)
			return err
		}
	}
	much := func(owner string) llm.Request { return talkOfMuch(t, owner) }
	beta := []string{"computer-use-2025-11-24"}
	for name, tt := range map[string]struct {
		send  func(*llmtest.Tape) error
		betas []string
	}{
		"a word":            {generate(anthropic.Options{}, func(string) llm.Request { return ask("hello") }), nil},
		"a talk with tools": {generate(anthropic.Options{}, much), nil},
		"a screen": {question("claude-opus-5-5",
			screen(t, nil, anthropic.Tool{Type: "computer_toolset_20260801"})), nil},
		"a page": {question("claude-opus-5-5",
			screen(t, nil, anthropic.Tool{
				Type:    "browser_toolset_20260801",
				Configs: map[string]anthropic.MemberConfig{"find": {}, "zoom": {Enabled: true}},
			})), nil},
		"an older screen": {question("claude-opus-4-6",
			screen(t, beta, anthropic.Tool{
				Type: "computer_20251124", Name: "computer", DisplayWidth: 4, DisplayHeight: 3,
				EnableZoom: true,
			})), beta},
		"the first of betas": {question("claude-haiku-4-5",
			screen(t, []string{"computer-use-2025-01-24"}, anthropic.Tool{
				Type: "computer_20250124", Name: "computer",
				DisplayWidth: 4, DisplayHeight: 3,
			})), []string{"computer-use-2025-01-24"}},
		"more betas than one": {question("claude-opus-4-6", screen(t, []string{"a", "b"})), []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.Tape{Body: stream(begun, okBlock, ended, stopped)}
			check.Must(t, tt.send(s))
			resend(t, s, s.Bodies[0], tt.betas)
			ours, theirs := s.Requests[0], s.Requests[1]
			// The vendor's beta client says so in the address, too, which changes nothing.
			if theirs.URL.RawQuery = strings.TrimSuffix(theirs.URL.RawQuery, "beta=true"); ours.Method != theirs.Method ||
				ours.URL.String() != theirs.URL.String() {
				t.Errorf("sent %s %s, want %s %s", ours.Method, ours.URL, theirs.Method, theirs.URL)
			}
			for name := range theirs.Header {
				if strings.HasPrefix(name, "X-Stainless-") || name == "User-Agent" { // of the client and its computer
					theirs.Header.Del(name)
				}
			}
			if diff := cmp.Diff(theirs.Header, ours.Header); diff != "" {
				t.Errorf("header (-theirs +ours):\n%s", diff)
			}
			if diff := cmp.Diff(decoded(t, s.Bodies[1]), decoded(t, s.Bodies[0])); diff != "" {
				t.Errorf("body (-theirs +ours):\n%s", diff)
			}
		})
	}
}

func TestTheVendorsClientReadsTheSame(t *testing.T) {
	s := &llmtest.Tape{Body: stream(
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,`+
			`"usage":{"input_tokens":3,"cache_read_input_tokens":20,"cache_creation_input_tokens":100,"output_tokens":1}}}`,
		`{"type":"ping"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a < "}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"ü\u2028"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s+/="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZW5j"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"let me "}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"see"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"left_click","toolset_name":"computer","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"coordinate\":[1,"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"2.0]}"}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":50}}`,
		stopped)}
	got, err := taped(t, s, anthropic.Options{}).Ask(t.Context(),
		anthropic.MessageRequest{
			Messages: []anthropic.Message{{Role: anthropic.RoleUser, Content: anthropic.OptionalText("go")}},
		}, nil)
	check.Must(t, err)
	service := sdk.NewMessageService(option.WithBaseURL("https://server.test"),
		option.WithHTTPClient(&http.Client{Transport: s}))
	var theirs sdk.Message
	events := service.NewStreaming(t.Context(), sdk.MessageNewParams{Model: "m", MaxTokens: 1})
	for events.Next() {
		check.Must(t, theirs.Accumulate(events.Current()))
	}
	if events.Err() != nil {
		t.Fatal(events.Err())
	}
	param, err := json.Marshal(theirs.ToParam().Content)
	check.Must(t, err)
	back, err := json.Marshal(anthropic.ReplayContent(got.Blocks))
	check.Must(t, err)
	if diff := cmp.Diff(decoded(t, param), decoded(t, back)); diff != "" {
		t.Errorf("what is sent back (-theirs +ours):\n%s", diff)
	}
	u := theirs.Usage
	want := []int64{
		u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens, u.CacheReadInputTokens,
		u.CacheCreationInputTokens, u.OutputTokens,
	}
	ours := []int64{
		int64(got.Usage.InputTokens), int64(got.Usage.CachedTokens), int64(got.Usage.CacheWriteTokens),
		int64(got.Usage.OutputTokens),
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("usage (-theirs +ours):\n%s", diff)
	}
	if theirs.StopReason != sdk.StopReasonToolUse || got.Stop != llm.StopTools {
		t.Errorf("stop: theirs %s, ours %s", theirs.StopReason, got.Stop)
	}
}
