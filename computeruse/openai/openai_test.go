package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"clank/computeruse"
	"clank/computeruse/openai"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/internal/test/llmtest"
	"clank/llm"
	client "clank/llm/openai"
	"clank/llm/transport"

	"github.com/google/go-cmp/cmp"
)

// open returns a mind of server, impatient unless changed.
func open(t *testing.T, server *llmtest.Server, change func(*openai.Options)) *openai.Model {
	t.Helper()
	o := openai.Options{Client: client.Options{
		BaseURL: server.BaseURL(), Key: "sk-test-0123456789abcdef", Model: "gpt-6-sol-test",
		Retry: transport.RetryPolicy{Timeout: 2 * time.Minute, Idle: time.Minute, Backoff: time.Millisecond},
	}}
	if change != nil {
		change(&o)
	}
	m, err := openai.New(o)
	check.Must(t, err)
	return m
}

func stateless(o *openai.Options) { o.Stateless = true }

var readText = llm.Tool{Name: "read_text", Description: "Read."}

var next = computerusetest.Next

func begin(t *testing.T, m *openai.Model, memory json.RawMessage) computeruse.Conversation {
	t.Helper()
	return computerusetest.Begin(t, m, computeruse.ConversationOptions{
		System: "work", Tools: []llm.Tool{readText}, MaxTokens: 100, EndUser: "hashed", Memory: memory,
	})
}

func shot(t *testing.T, shade uint8) *computeruse.Screenshot {
	t.Helper()
	data, err := computerusetest.Picture(image.Pt(40, 30), shade)
	check.Must(t, err)
	return &computeruse.Screenshot{
		Image: llm.Image{MediaType: "image/png", Data: data}, Size: image.Pt(40, 30),
		URL: "http://shop.test/",
	}
}

// body is a request as the vendor sees it.
type body struct {
	Instructions      string           `json:"instructions"`
	Previous          string           `json:"previous_response_id"`
	Store             *bool            `json:"store"`
	ParallelToolCalls *bool            `json:"parallel_tool_calls"`
	SafetyIdentifier  string           `json:"safety_identifier"`
	Truncation        string           `json:"truncation"`
	ToolChoice        any              `json:"tool_choice"`
	Include           []string         `json:"include"`
	Tools             []map[string]any `json:"tools"`
	Input             []map[string]any `json:"input"`
}

func sent(t *testing.T, server *llmtest.Server, n int) body {
	t.Helper()
	all := server.Requests()
	if n >= len(all) {
		t.Fatalf("%d requests were made, want more than %d", len(all), n)
	}
	var b body
	check.Must(t, json.Unmarshal(all[n].Body, &b))
	return b
}

func types(items []map[string]any) []string {
	var all []string
	for _, i := range items {
		kind, _ := i["type"].(string)
		if kind == "" {
			kind = "message"
		}
		all = append(all, kind)
	}
	return all
}

func TestRequestsCarryWhatIsNotInherited(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.ActOnScreen(`{"type":"click","button":"left","x":1,"y":2}`),
		llmtest.Say("done"))
	talk := begin(t, open(t, server, nil), nil)
	turn := next(t, talk, computeruse.Input{Says: []string{"buy a lamp"}, Shot: shot(t, 1)})
	next(t, talk, computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: turn.Calls[0].ID}}, Shot: shot(t, 2),
		Final: true, MaxTokens: 50,
	})
	for i, want := range []int{100, 50} {
		check.Equal(t, "the longest answer", server.Requests()[i].MaxTokens, want)
	}
	first, second := sent(t, server, 0), sent(t, server, 1)
	check.Diff(t, "what a tool without a schema takes", first.Tools[1]["parameters"],
		any(map[string]any{"type": "object", "properties": map[string]any{}}))
	for n, b := range []body{first, second} {
		if b.Instructions != "work" || len(b.Tools) != 2 || b.Tools[0]["type"] != "computer" ||
			b.Tools[1]["strict"] != false ||
			b.ParallelToolCalls == nil || *b.ParallelToolCalls || b.SafetyIdentifier != "hashed" {
			t.Errorf("request %d is %+v", n, b)
		}
	}
	if first.Previous != "" || second.Previous != "resp_0" || second.ToolChoice != "none" || len(second.Input) != 2 {
		t.Errorf("the second request is %+v, want it to go on from the first", second)
	}
	output, _ := second.Input[0]["output"].(map[string]any)
	if _, told := second.Input[0]["acknowledged_safety_checks"]; told || output["detail"] != "original" ||
		output["type"] != "computer_screenshot" {
		t.Errorf("the picture is sent as %v", second.Input[0])
	}
	for n, b := range []body{first, second} {
		if text := fmt.Sprint(b.Input[len(b.Input)-1]["content"]); !strings.Contains(text, "at "+shot(t, 1).URL+":") {
			t.Errorf("request %d tells %s, want the page's address with the picture", n, text)
		}
	}
}

func TestStatelessRequestsReplayEverything(t *testing.T) {
	reasoned := llmtest.Answer(llmtest.Reply{
		Reasoning: &llmtest.Reasoning{Summary: "I look", Encrypted: "secret"},
		Screen:    []llmtest.ScreenCall{{ID: "a", Actions: []string{`{"type":"screenshot"}`}}},
		Calls:     []llmtest.Call{{ID: "b", Name: "read_text", Arguments: "{}"}},
	})
	server := llmtest.NewServer(t, reasoned, llmtest.Say("done"))
	m := open(t, server, stateless)
	talk := begin(t, m, nil)
	turn := next(t, talk, computeruse.Input{Says: []string{"look"}, Shot: shot(t, 1)})
	if turn.Reasoning != "I look" || len(turn.Calls) != 1 || len(turn.Tools) != 1 || turn.Stop != llm.StopTools {
		t.Fatalf("got %+v", turn)
	}
	memory, err := talk.Memory()
	check.Must(t, err)
	next(t, begin(t, m, memory), computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: "a", Err: "It failed."}},
		Results:  []llm.ToolResult{{ID: "b", Text: "a lamp"}}, Shot: shot(t, 2),
	})
	b := sent(t, server, 1)
	want := []string{
		"message", "reasoning", "computer_call", "function_call", "computer_call_output",
		"function_call_output", "message",
	}
	check.Diff(t, "the items", types(b.Input), want)
	if b.Store == nil || *b.Store || b.Previous != "" || b.Input[1]["encrypted_content"] != "secret" ||
		!cmp.Equal(b.Include, []string{"reasoning.encrypted_content"}) {
		t.Errorf("the request is %+v, want nothing stored and all replayed", b)
	}
}

func TestOldPicturesAreNotSentAgain(t *testing.T) {
	server := llmtest.NewServer(t)
	server.SetFallback(llmtest.ActOnScreen(`{"type":"wait"}`))
	talk := begin(t, open(t, server, stateless), nil)
	in := computeruse.Input{Says: []string{"watch"}, Shot: shot(t, 0)}
	for n := range 5 {
		turn := next(t, talk, in)
		in = computeruse.Input{Outcomes: []computeruse.CallResult{{CallID: turn.Calls[0].ID}}, Shot: shot(t, uint8(n+1))}
	}
	raw := string(server.Requests()[4].Body)
	check.Equal(t, "pictures are sent whole", strings.Count(raw, `"detail":"original"`), 3)
}

func TestSafetyChecksAreAcknowledged(t *testing.T) {
	check := llmtest.Answer(llmtest.Reply{Screen: []llmtest.ScreenCall{{
		ID: "a", Actions: []string{`{"type":"click","button":"left","x":1,"y":2}`},
		Checks: []llmtest.ScreenCheck{{ID: "cu_1", Code: "malicious_instructions", Message: "look"}},
	}}})
	server := llmtest.NewServer(t, check, llmtest.Say("done"))
	talk := begin(t, open(t, server, nil), nil)
	turn := next(t, talk, computeruse.Input{Says: []string{"go"}, Shot: shot(t, 1)})
	want := []computeruse.SafetyWarning{{ID: "cu_1", Code: "malicious_instructions", Message: "look"}}
	if diff := cmp.Diff(want, turn.Calls[0].Safety); diff != "" {
		t.Fatalf("checks: %s", diff)
	}
	next(t, talk, computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: "a", Acknowledged: want}},
		Shot:     shot(t, 2),
	})
}

func TestACallThatNobodyAcknowledgedIsLeftBehind(t *testing.T) {
	for name, change := range map[string]func(*openai.Options){"stateful": nil, "stateless": stateless} {
		t.Run(name, func(t *testing.T) {
			check := llmtest.Answer(llmtest.Reply{Screen: []llmtest.ScreenCall{{
				ID: "a", Actions: []string{`{"type":"wait"}`}, Checks: []llmtest.ScreenCheck{{ID: "cu_1"}},
			}}})
			server := llmtest.NewServer(t, check, llmtest.Say("then not"))
			talk := begin(t, open(t, server, change), nil)
			next(t, talk, computeruse.Input{Says: []string{"pay the bill"}, Shot: shot(t, 1)})
			next(t, talk, computeruse.Input{
				Outcomes: []computeruse.CallResult{{CallID: "a", Err: "@ada said no."}},
				Says:     []string{"go on"}, Shot: shot(t, 2),
			})
			b := sent(t, server, 1)
			raw := string(server.Requests()[1].Body)
			if b.Previous != "" || !strings.Contains(raw, "pay the bill") || !strings.Contains(raw, "@ada said no.") ||
				strings.Contains(raw, "computer_call") {
				t.Errorf("the request is %s, want a conversation without the call", raw)
			}
		})
	}
}

func TestALostConversationBeginsAnewAndSaysSo(t *testing.T) {
	looks := llmtest.Answer(llmtest.Reply{
		Text: "I look for it", Screen: []llmtest.ScreenCall{{Actions: []string{`{"type":"type","text":"hunter2"}`}}},
	})
	server := llmtest.NewServer(t, looks, llmtest.ActOnScreen(`{"type":"wait"}`), llmtest.Say("still here"))
	talk := begin(t, open(t, server, nil), nil)
	turn := next(t, talk, computeruse.Input{Says: []string{"find a lamp"}, Shot: shot(t, 1)})
	server.ForgetScreen()
	turn = next(t, talk, computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: turn.Calls[0].ID, Text: "The mouse is at x=1."}},
		Says:     []string{"a red one"}, Shot: shot(t, 2),
	})
	if len(turn.Notices) != 1 {
		t.Errorf("notices %q, want that it was lost", turn.Notices)
	}
	b := sent(t, server, 2)
	raw := string(server.Requests()[2].Body)
	for _, part := range []string{
		"find a lamp", "you: I look for it", "you acted: type", "a red one", "The mouse is at x=1.", "is lost",
	} {
		if strings.Count(raw, part) != 1 {
			t.Errorf("%q is sent %d times, want once", part, strings.Count(raw, part))
		}
	}
	check.Lacks(t, raw, "hunter2")
	if b.Previous != "" || b.Store == nil || *b.Store {
		t.Errorf("the request is %+v, want nothing that could be lost again", b)
	}
	if turn = next(t, talk, computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: turn.Calls[0].ID}},
		Shot:     shot(t, 3),
	}); turn.Text != "still here" || len(turn.Notices) != 0 || turn.Stop != llm.StopEnd {
		t.Errorf("got %+v", turn)
	}
}

func TestWhatTheVendorStoredIsNotAskedForWhereNothingMayBeStored(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Say("I look for it"), llmtest.Say("done"))
	talk := begin(t, open(t, server, nil), nil)
	next(t, talk, computeruse.Input{Says: []string{"find a lamp"}, Shot: shot(t, 1)})
	memory, err := talk.Memory()
	check.Must(t, err)
	next(t, begin(t, open(t, server, stateless), memory), computeruse.Input{Says: []string{"a red one"}, Shot: shot(t, 2)})
	b := sent(t, server, 1)
	check.Contains(t, string(server.Requests()[1].Body), "told: find a lamp", "you: I look for it", "a red one")
	if b.Previous != "" || b.Store == nil || *b.Store {
		t.Errorf("the request is %+v, want it without what the vendor stored", b)
	}
}

func TestThePreviewToolIsToldTheSizeOfThePicture(t *testing.T) {
	one := llmtest.Answer(llmtest.Reply{
		Screen: []llmtest.ScreenCall{
			{ID: "a", Preview: true, Actions: []string{`{"type":"click","button":"wheel","x":1,"y":2}`}},
		},
	})
	server := llmtest.NewServer(t, one, llmtest.Say("done"))
	preview := func(o *openai.Options) { o.Dialect = openai.DialectPreview }
	turn := next(t, begin(t, open(t, server, preview), nil),
		computeruse.Input{Says: []string{"go"}, Shot: shot(t, 1)})
	b := sent(t, server, 0)
	tool := b.Tools[0]
	if tool["type"] != "computer_use_preview" || tool["display_width"] != 40.0 || tool["display_height"] != 30.0 ||
		tool["environment"] != "browser" || b.Truncation != "auto" {
		t.Errorf("the tool is %v with truncation %q", tool, b.Truncation)
	}
	next(t, begin(t, open(t, server, preview), nil), computeruse.Input{Says: []string{"go"}})
	if tool := sent(t, server, 1).Tools[0]; tool["display_width"] != 1024.0 || tool["display_height"] != 768.0 {
		t.Errorf("before there is a picture the tool is %v", tool)
	}
	if a := turn.Calls[0].Actions; len(a) != 1 || a[0].Button != computeruse.ButtonMiddle {
		t.Errorf("got %+v, want a click of the middle button", a)
	}
}

func TestMemoriesOfOthersAreRefused(t *testing.T) {
	server := llmtest.NewServer(t)
	m := open(t, server, nil)
	for _, raw := range []string{`{"version":99}`, `[]`, `{`, `7`} {
		check.Fails(t, check.Err(m.Begin(computeruse.ConversationOptions{Memory: json.RawMessage(raw)})),
			nil, "read the stored conversation: ")
	}
}

func TestPicturesFit(t *testing.T) {
	m := open(t, llmtest.NewServer(t), nil)
	for in, want := range map[image.Point]image.Point{
		{X: 1280, Y: 720}: {X: 1280, Y: 720}, {X: 2560, Y: 1440}: {X: 1600, Y: 900}, {X: 100, Y: 5000}: {X: 20, Y: 1000},
		{X: 1, Y: 1}: {X: 1, Y: 1}, {X: 0, Y: 5}: {X: 0, Y: 5}, {X: 5, Y: 0}: {X: 5, Y: 0}, {X: 9000, Y: 2}: {X: 1600, Y: 1},
	} {
		check.Equal(t, fmt.Sprintf("%v fits as", in), m.Fit(in), want)
	}
	m = open(t, llmtest.NewServer(t), func(o *openai.Options) { o.Dialect = openai.DialectPreview })
	check.Equal(t, "the preview tool's picture fits as", m.Fit(image.Pt(1280, 720)), image.Pt(1024, 576))
}

func TestAModelThatSeesNothingIsRefusedAtOnce(t *testing.T) {
	_, err := openai.New(openai.Options{Client: client.Options{
		Key: "k", Model: "gpt-oss:20b",
		BaseURL: "http://127.0.0.1:1/v1",
	}})
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != llm.ErrRejected {
		t.Errorf("err = %v, want it refused", err)
	}
}

func TestCallsThatCannotBeAnsweredAreMalformed(t *testing.T) {
	for _, item := range []string{`{"type":"computer_call"}`, `{"type":"computer_call","call_id":7}`} {
		event := `{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + item + `]}}`
		server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Events: []string{event}}), llmtest.Say("hello"))
		talk := begin(t, open(t, server, nil), nil)
		_, err := talk.Next(t.Context(), computeruse.Input{Says: []string{"find a lamp"}, Shot: shot(t, 1)})
		var told *llm.Error
		if !errors.As(err, &told) || told.Kind != llm.ErrMalformed {
			t.Errorf("%s: err = %v, want it malformed", item, err)
		}
		next(t, talk, computeruse.Input{Shot: shot(t, 2)})
		check.Equal(t, item+": times the task was told",
			strings.Count(string(server.Requests()[1].Body), "find a lamp"), 1)
	}
}
