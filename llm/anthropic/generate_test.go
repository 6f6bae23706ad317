package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/anthropic"
)

func TestACallIsPricedAndMadeWithTheKey(t *testing.T) {
	usage := llm.Usage{InputTokens: 1000, CachedTokens: 600, CacheWriteTokens: 300, OutputTokens: 50, ReasoningTokens: 20}
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(llmtest.Reply{Text: "four", Usage: &usage}))
	req := ask("2+2?")
	req.EndUser = "abc"
	reply := generate(t, open(t, server, nil), req)
	if want := 0.0001*4 + 0.0006*0.2 + 0.0003*5 + 0.00005*20; math.Abs(reply.Usage.USD-want) > 1e-12 ||
		reply.Usage.CacheWriteTokens != 300 {
		t.Errorf("usage = %+v, want %v USD", reply.Usage, want)
	}
	if r := server.Requests()[0]; r.EndUser != "abc" || r.Model != "claude-opus-5-5" ||
		r.Header.Get("X-Api-Key") != testKey {
		t.Errorf("request = %+v with header %v", r.Request, r.Header)
	}
}

func TestThinkingComesBackAsItWasEvenThroughStorage(t *testing.T) {
	for name, thought := range map[string]*llmtest.Reasoning{
		"thinking": {Summary: "I look for \"<a>\" & co", Encrypted: "c2lnbmF0dXJl+/=="},
		"unseen":   {Summary: " ", Encrypted: "sig-of-nothing"},
		"redacted": {Encrypted: "ZW5jcnlwdGVk"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, // refuses thinking that is missing or changed
				llmtest.Answer(llmtest.Reply{
					Reasoning: thought, Text: "let me see",
					Calls: []llmtest.Call{{Name: "look", Arguments: `{"at":"<a>"}`}},
				}),
				llmtest.Say("done"))
			m := open(t, server, nil)
			req := ask("go")
			reply := generate(t, m, req)
			stored, err := json.Marshal(append(req.Messages, llmtest.Results(reply, "a link")...))
			check.Must(t, err)
			req.Messages = nil
			check.Must(t, json.Unmarshal(stored, &req.Messages))
			check.Equal(t, "answer", generate(t, m, req).Text(), "done")
			var kinds []string
			for _, p := range server.Requests()[1].Messages[1].Parts {
				switch {
				case p.Opaque != nil:
					kinds = append(kinds, "thinking")
				case p.Call != nil:
					kinds = append(kinds, "call")
				default:
					kinds = append(kinds, "text")
				}
			}
			check.Diff(t, "order", kinds, []string{"thinking", "text", "call"})
		})
	}
}

func TestThinkingIsNotShownToAnotherModel(t *testing.T) {
	server := llmtest.NewAnthropicServer(t,
		llmtest.Answer(llmtest.Reply{Reasoning: &llmtest.Reasoning{Summary: "hm", Encrypted: "sig"}, Text: "hello"}),
		llmtest.Say("hello again"))
	req := ask("hi")
	reply := generate(t, open(t, server, nil), req)
	req.Messages = append(req.Messages, reply.Message, llm.UserText("and now?"))
	generate(t, open(t, server, func(o *anthropic.Options) { o.Model = "claude-sonnet-5-5" }), req)
	want := []llm.Part{{Text: "hello"}}
	check.Diff(t, "what the other model sees", server.Requests()[1].Messages[1].Parts, want)
}

func TestToolsAreCalledAndAnsweredWithPictures(t *testing.T) {
	schema := json.RawMessage(
		`{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}`)
	server := llmtest.NewAnthropicServer(t,
		llmtest.Answer(llmtest.Reply{Calls: []llmtest.Call{
			{Name: "look", Arguments: `{"x":1}`},
			{Name: "fail"},
			{Name: "see"},
		}}),
		llmtest.Say("I saw"))
	m := open(t, server, nil)
	req := ask("look")
	req.Tools = []llm.Tool{{Name: "look", Description: "looks", Schema: schema}, {Name: "fail"}}
	reply := generate(t, m, req)
	if got := reply.Calls(); len(got) != 3 || string(got[0].Input) != `{"x":1}` || string(got[1].Input) != `{}` ||
		reply.Stop != llm.StopTools {
		t.Fatalf("calls = %+v, stop %s", got, reply.Stop)
	}
	shot := picture(t, 4, 3)
	calls := reply.Calls()
	req.Messages = append(req.Messages, reply.Message, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		{Text: "by the way"},
		{Result: &llm.ToolResult{ID: calls[2].ID, Images: []llm.Image{shot}}},
		{Result: &llm.ToolResult{ID: calls[1].ID, IsError: true, Images: []llm.Image{shot}}},
	}})
	generate(t, m, req)
	second := server.Requests()[1]
	want := []llm.Part{
		{Result: &llm.ToolResult{ID: calls[0].ID, Text: "There is no result: the call was not carried out.", IsError: true}},
		{Result: &llm.ToolResult{ID: calls[1].ID, Text: anthropic.NoOutput, IsError: true}},
		{Result: &llm.ToolResult{ID: calls[2].ID, Images: []llm.Image{shot}}},
		{Text: "by the way"},
	}
	check.Diff(t, "results", second.Messages[2].Parts, want)
	if got := string(second.Tools[0].Schema); got != string(schema) {
		t.Errorf("schema = %s, want %s", got, schema)
	}
}

func TestPromptsAreMarkedForTheCacheAndTheMarksMoveAlong(t *testing.T) {
	server := llmtest.NewAnthropicServer(t)
	server.SetFallback(llmtest.Use("look", `{}`))
	m := open(t, server, nil)
	req := llm.Request{
		System: "rules", Tools: []llm.Tool{{Name: "a"}, {Name: "look"}},
		Messages: []llm.Message{llm.UserText("go")},
	}
	for range 4 {
		req.Messages = append(req.Messages, llmtest.Results(generate(t, m, req), "seen")...)
	}
	if got := len(server.Requests()); got != 4 {
		t.Fatalf("%d requests, want 4", got)
	}
	for i, r := range server.Requests() {
		var marked []int
		messages, _ := r.JSONBody(t)["messages"].([]any)
		for j := range messages {
			if data, _ := json.Marshal(messages[j]); strings.Contains(string(data), "cache_control") {
				marked = append(marked, j)
			}
		}
		want := []int{max(0, 2*i-2), 2 * i}
		if i == 0 {
			want = []int{0}
		}
		check.Diff(t, fmt.Sprintf("request %d: marked messages", i), marked, want)
		check.Equal(t, fmt.Sprintf("request %d: marks", i), strings.Count(string(r.Body), "cache_control"), len(want)+2)
	}
}

func TestConversationsOfAnyShapeAreMadeFitForTheAPI(t *testing.T) {
	call := llm.Part{Call: &llm.ToolCall{ID: "call|with:odd/id", Name: "x", Input: json.RawMessage(`[1]`)}}
	result := llm.Part{Result: &llm.ToolResult{ID: "call|with:odd/id", Text: "ok"}}
	assistant := func(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.RoleAssistant, Parts: parts} }
	user := func(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.RoleUser, Parts: parts} }
	for name, messages := range map[string][]llm.Message{
		"none":                  nil,
		"begins with the model": {assistant(llm.Part{Text: "hello"}), llm.UserText("hi")},
		"ends with the model":   {llm.UserText("hi"), assistant(llm.Part{Text: "hello"})},
		"ends with a call":      {llm.UserText("hi"), assistant(call)},
		"neighbours of one role": {
			llm.UserText("a"), llm.UserText("b"), assistant(call), assistant(llm.Part{Text: "c"}),
			user(result), llm.UserText("d"),
		},
		"an answer nobody asked": {llm.UserText("a"), user(result), assistant(llm.Part{Text: "b"}), user(result)},
		"answered twice":         {llm.UserText("a"), assistant(call), user(result, result)},
		"empty texts":            {llm.UserText(" "), assistant(llm.Part{Text: "\n"}), llm.UserText("x")},
		"thoughts of someone": {
			llm.UserText("a"),
			assistant(llm.Part{Opaque: &llm.Opaque{Owner: "else", Data: json.RawMessage(`{}`)}}), llm.UserText("b"),
		},
		"the model says nothing":  {llm.UserText("a"), assistant(), llm.UserText("b")},
		"call then plain message": {llm.UserText("a"), assistant(call), llm.UserText("never mind")},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Say("fine")) // refuses what the vendor would
			check.Equal(t, "answer", generate(t, open(t, server, nil), llm.Request{Messages: messages}).Text(), "fine")
		})
	}
}

func TestMaxTokensAreAlwaysSentAndWithinTheModel(t *testing.T) {
	for model, want := range map[string]int{
		"claude-opus-5-5": 32_000, "claude-3-haiku-20240307": 4_096,
		"someone/claude-3-5-haiku": 8_192,
	} {
		server := llmtest.NewAnthropicServer(t, llmtest.Say("hi"))
		generate(t, open(t, server, func(o *anthropic.Options) { o.Model = model }), ask("hi"))
		check.Equal(t, "max_tokens of "+model, server.Requests()[0].MaxTokens, want)
	}
}

func TestTheEnvironmentHasNoSay(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	server := llmtest.NewAnthropicServer(t, llmtest.Say("hi"))
	generate(t, open(t, server, func(o *anthropic.Options) { o.Key = "" }), ask("hi"))
	if h := server.Requests()[0].Header; h.Get("X-Api-Key") != "" || h.Get("Authorization") != "" {
		t.Errorf("credentials of the environment were sent: %v", h)
	}
}

func TestFailuresAreToldForWhatTheyAre(t *testing.T) {
	page := "<html><body>502</body></html>"
	for name, tt := range map[string]struct {
		fault llmtest.Fault
		kind  llm.ErrorKind
		says  string
		tries int
	}{
		"no key": {
			llmtest.Fault{Status: 401, Message: "invalid x-api-key"},
			llm.ErrAuth, "the key was not accepted",
			1,
		},
		"not allowed": {llmtest.Fault{Status: 403, Message: "no"}, llm.ErrAuth, "may not use", 1},
		"no such": {
			llmtest.Fault{Status: 404, Message: "model: claude-opus-5-5"},
			llm.ErrNotFound,
			`there is no model "claude-opus-5-5"`, 1,
		},
		"no credit": {
			llmtest.Fault{Status: 400, Message: "Your credit balance is too low to access the API"},
			llm.ErrRateLimited, "no credit left", 1,
		},
		"too long": {
			llmtest.Fault{Status: 400, Message: "prompt is too long: 1000001 tokens > 1000000 maximum"},
			llm.ErrRejected, "start a new one", 1,
		},
		"too large": {
			llmtest.Fault{Status: 413, Message: "Request exceeds the maximum size"},
			llm.ErrRejected,
			"start a new one", 1,
		},
		"wrong tools": {
			llmtest.Fault{Status: 400, Message: "'claude-x' does not support tool types: computer_20251124"},
			llm.ErrRejected, "choose another model or other tools", 1,
		},
		"invalid": {
			llmtest.Fault{Status: 400, Message: "max_tokens: too big"},
			llm.ErrRejected, "max_tokens: too big",
			1,
		},
		"limited": {llmtest.Fault{Status: 429, Message: "slow down"}, llm.ErrRateLimited, "slow down", 3},
		"limited long": {
			llmtest.Fault{Status: 429, Message: "slow down", Header: map[string]string{"Retry-After": "600"}},
			llm.ErrRateLimited, "10m0s", 1,
		},
		"broken":     {llmtest.Fault{Status: 500, Message: "internal"}, llm.ErrUnavailable, "internal", 3},
		"overloaded": {llmtest.Fault{Status: 529, Message: "Overloaded"}, llm.ErrUnavailable, "Overloaded", 3},
		"web page": {
			llmtest.Fault{Body: &page, Header: map[string]string{"Content-Type": "text/html"}},
			llm.ErrMalformed,
			"a web page", 1,
		},
		"told midway": {
			llmtest.Fault{At: 4, StreamError: "Overloaded"},
			llm.ErrUnavailable,
			"broke off its answer: Overloaded", 1,
		},
		"told at once": {
			llmtest.Fault{At: 2, StreamError: "Overloaded"},
			llm.ErrUnavailable,
			"broke off its answer: Overloaded", 3,
		},
		"cut at once": {llmtest.Fault{Cut: llmtest.CutClean}, llm.ErrCutOff, "answered with nothing", 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t)
			server.SetFallback(llmtest.SayWithFault("one two three four", tt.fault))
			told := failure(t, open(t, server, nil), tt.kind)
			check.Contains(t, told.Error(), tt.says)
			check.Equal(t, "status", told.Status, tt.fault.Status)
			check.Equal(t, "tries", len(server.Requests()), tt.tries)
		})
	}
}

func TestAnswersEndInManyWays(t *testing.T) {
	for name, tt := range map[string]struct {
		reply llmtest.Reply
		stop  llm.StopReason
		text  string
	}{
		"empty":        {llmtest.Reply{}, llm.StopEnd, ""},
		"too long":     {llmtest.Reply{Text: "once upon", Finish: "length"}, llm.StopLength, "once upon"},
		"context full": {llmtest.Reply{Text: "once", Finish: "model_context_window_exceeded"}, llm.StopLength, "once"},
		"refusal": {llmtest.Reply{Refusal: "it could harm"}, llm.StopRefused, "The model declined to answer: it " +
			"could harm"},
		"silent refusal":  {llmtest.Reply{Finish: "refusal"}, llm.StopRefused, "The model declined to answer."},
		"refusal midway":  {llmtest.Reply{Text: "Well, I", Refusal: "no"}, llm.StopRefused, "Well, I"},
		"new stop reason": {llmtest.Reply{Text: "hm", Finish: "coffee_break"}, llm.StopUnknown, "hm"},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Answer(tt.reply))
			reply := generate(t, open(t, server, nil), ask("hi"))
			if reply.Stop != tt.stop || reply.Text() != tt.text {
				t.Errorf("stop %s, text %q; want %s, %q", reply.Stop, reply.Text(), tt.stop, tt.text)
			}
		})
	}
}

func TestAPausedAnswerIsContinued(t *testing.T) {
	usage := &llm.Usage{InputTokens: 10, OutputTokens: 1}
	server := llmtest.NewAnthropicServer(t,
		llmtest.Answer(llmtest.Reply{Text: "first", Finish: "pause_turn", Usage: usage}),
		func(r llmtest.Request) llmtest.Reply {
			return llmtest.Reply{Text: "then after " + r.Messages[len(r.Messages)-1].Text(), Usage: usage}
		})
	server.SetFallback(llmtest.Fail(500, "", "asked too often"))
	reply := generate(t, open(t, server, nil), ask("hi"))
	check.Equal(t, "text", reply.Text(), "first\n\nthen after first")
	if reply.Usage.Calls != 2 || reply.Usage.InputTokens != 20 {
		t.Errorf("usage = %+v, want two calls", reply.Usage)
	}
}

func TestStreamsOfNonsenseAreMalformed(t *testing.T) {
	for name, events := range map[string][]string{
		"no JSON":          {`{"type":`},
		"a piece of none":  {`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`},
		"blocks in a mess": {`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}`},
		"a block of none":  {`{"type":"content_block_start","index":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Answer(llmtest.Reply{Events: events}))
			failure(t, open(t, server, nil), llm.ErrMalformed)
		})
	}
}

// stream returns these events as the vendor sends them.
func stream(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var head struct{ Type string }
		_ = json.Unmarshal([]byte(e), &head)
		b.WriteString("event: " + head.Type + "\ndata: " + e + "\n\n")
	}
	return b.String()
}

const (
	begun   = `{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}`
	okBlock = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}`
	ended   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`
	stopped = `{"type":"message_stop"}`
)

// taped returns a model whose server is s.
func taped(t *testing.T, s *llmtest.Tape, o anthropic.Options) *anthropic.Model {
	t.Helper()
	o.BaseURL, o.Key, o.HTTPClient, o.Retry.Backoff = "https://server.test/sub/", testKey, &http.Client{Transport: s},
		time.Millisecond
	if o.Model == "" {
		o.Model = "claude-opus-5-5"
	}
	m, err := anthropic.New(o)
	check.Must(t, err)
	return m
}

// blocks returns what is sent of the messages, block by block as JSON.
func blocks(t *testing.T, body []byte) [][]string {
	t.Helper()
	var sent struct {
		Messages []struct{ Content []json.RawMessage }
	}
	check.Must(t, json.Unmarshal(body, &sent))
	all := make([][]string, len(sent.Messages))
	for i, m := range sent.Messages {
		for _, b := range m.Content {
			all[i] = append(all[i], string(b))
		}
	}
	return all
}

func TestWhatAModelSaidIsSentBackBitByBit(t *testing.T) {
	s := &llmtest.Tape{Body: stream(begun,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"is 1 < 2 & \"so\" on\u2028?"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq+/"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"8w=="}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"a+/<=="}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"hologram","light":[1,2.50,1e400,12345678901234567890],"<&>":{"b":null}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"photon_delta","n":1}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","toolset_name":"eyes","input":{}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"n\":12345678901234567890,"}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"f\":1.0,\"b\":1e400}"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`, stopped)}
	m := taped(t, s, anthropic.Options{})
	q := anthropic.MessageRequest{
		Messages: []anthropic.Message{{Role: anthropic.RoleUser, Content: anthropic.OptionalText("go")}},
	}
	got, err := m.Ask(t.Context(), q, nil)
	check.Must(t, err)
	q.Messages = append(q.Messages,
		anthropic.Message{Role: anthropic.RoleAssistant, Content: anthropic.ReplayContent(got.Blocks)},
		anthropic.Message{
			Role:    anthropic.RoleUser,
			Content: []anthropic.Content{anthropic.NewResult("toolu_1", "eyes", "seen", nil, false)},
		})
	check.Must(t, check.Err(m.Ask(t.Context(), q, nil)))
	want := []string{
		`{"type":"thinking","thinking":"is 1 < 2 & \"so\" on\u2028?","signature":"Eq+/8w=="}`,
		`{"type":"redacted_thinking","data":"a+/<=="}`,
		`{"type":"hologram","light":[1,2.50,1e400,12345678901234567890],"<&>":{"b":null}}`,
		`{"type":"tool_use","id":"toolu_1","name":"look","toolset_name":"eyes","input":{"n":12345678901234567890,"f":1.0,"b":1e400}}`,
	}
	check.Diff(t, "blocks", blocks(t, s.Bodies[1])[1], want)
}

func TestARequestSaysWhatItWantsAndNothingOfThisComputer(t *testing.T) {
	s := &llmtest.Tape{Body: stream(begun, okBlock, ended, stopped)}
	q := anthropic.MessageRequest{
		Messages: []anthropic.Message{{Role: anthropic.RoleUser, Content: anthropic.OptionalText("go")}},
		Betas:    []string{"one-2025-01-01", "two-2026-01-01"},
	}
	check.Must(t, check.Err(taped(t, s, anthropic.Options{}).Ask(t.Context(), q, nil)))
	want := http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"},
		"X-Api-Key": {testKey}, "Anthropic-Beta": {"one-2025-01-01,two-2026-01-01"},
	}
	check.Diff(t, "header", s.Requests[0].Header, want)
	check.Equal(t, "sent to", s.Requests[0].URL.String(), "https://server.test/sub/v1/messages")
}

func TestStreamsOfGatewaysAreRead(t *testing.T) {
	whole := stream(begun, okBlock, ended, stopped)
	for name, sent := range map[string]string{
		"with carriage returns": strings.ReplaceAll(whole, "\n", "\r\n"),
		"without names":         strings.ReplaceAll(whole, "event: ", ": "),
		"kept alive by comments": ": hello\n\n" + strings.ReplaceAll(whole, "event: message_delta",
			":\n\nevent: message_delta"),
		"kept alive by nothing": strings.ReplaceAll(whole, "event: message_delta", "event: ping\ndata:\n\ndata: "+
			"\n\nevent: message_delta"),
		"kept alive by pings": strings.ReplaceAll(whole, "event: message_delta", "event: ping\ndata: {\"type\": "+
			"\"ping\"}\n\nevent: message_delta"),
		"with nonsense at the end":  whole + "data: [DONE]\n\nevent: error\ndata: {\n\n",
		"without the last line end": strings.TrimRight(whole, "\n"),
	} {
		reply := generate(t, taped(t, &llmtest.Tape{Body: sent}, anthropic.Options{}), ask("hi"))
		if reply.Text() != "ok" || reply.Stop != llm.StopEnd || reply.Usage.InputTokens != 3 ||
			reply.Usage.OutputTokens != 7 {
			t.Errorf("%s: reply = %+v", name, reply)
		}
	}
}

func TestAnswersThatAreNoneAreMalformed(t *testing.T) {
	for name, s := range map[string]*llmtest.Tape{
		"in one piece":    {Kind: "application/json", Body: `{"type":"message","content":[]}`},
		"a line too long": {Body: "data: " + strings.Repeat("x", 33<<20)},
		"words":           {Body: "data: hello\n\n"},
	} {
		t.Run(name, func(t *testing.T) { failure(t, taped(t, s, anthropic.Options{}), llm.ErrMalformed) })
	}
}

func TestErrorsToldInAStreamAreRead(t *testing.T) {
	for name, told := range map[string]string{
		"as the vendor does": `event: error` + "\n" +
			`data: {"type":"error","error":{"type":"invalid_request_error","message":"too odd"}}`,
		"without a name":      `data: {"type":"error","error":{"type":"invalid_request_error","message":"too odd"}}`,
		"without a type":      `data: {"error":{"type":"invalid_request_error","message":"too odd"}}`,
		"outside of an error": `event: error` + "\n" + `data: {"type":"invalid_request_error","message":"too odd"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := &llmtest.Tape{Body: stream(begun) + told + "\n\n"}
			if e := failure(t, taped(t, s, anthropic.Options{}), llm.ErrRejected); !strings.Contains(e.Message, "too odd") {
				t.Errorf("message = %q", e.Message)
			}
		})
	}
}

func TestPicturesAreSentAsTheyAreInEachTry(t *testing.T) {
	picture := llm.Image{MediaType: "image/png", Data: bytes.Repeat([]byte{0xff, 0xfe, '<', 0}, 1000)}
	s := &llmtest.Tape{Body: stream(begun) + "event: error\ndata: " +
		`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}` + "\n\n"}
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{{Image: &picture}}}}}
	check.Fails(t, check.Err(taped(t, s, anthropic.Options{}).Generate(t.Context(), req, nil)),
		nil, "broke off its answer: busy")
	if len(s.Bodies) != 3 {
		t.Fatalf("%d tries, want 3", len(s.Bodies))
	}
	for i, body := range s.Bodies {
		var sent struct {
			Messages []struct {
				Content []struct{ Source struct{ Data []byte } }
			}
		}
		check.Must(t, json.Unmarshal(body, &sent))
		if got := sent.Messages[0].Content[0].Source.Data; !bytes.Equal(got, picture.Data) {
			t.Errorf("try %d: a picture of %d bytes, want the %d given", i, len(got), len(picture.Data))
		}
	}
}

func TestARequestThatCannotBeWrittenIsNotSent(t *testing.T) {
	s := &llmtest.Tape{}
	req := ask("hi")
	req.Tools = []llm.Tool{{Name: "look", Schema: json.RawMessage(`{"type":`)}}
	check.Fails(t, check.Err(taped(t, s, anthropic.Options{}).Generate(t.Context(), req, nil)),
		nil, "the request cannot be written")
	check.Equal(t, "requests", len(s.Requests), 0)
}

func TestBlocksAreReadAsTheyWereWritten(t *testing.T) {
	for name, block := range map[string]anthropic.Content{
		"text":      anthropic.NewText("a < b"),
		"result":    anthropic.NewResult("toolu_1", "computer", "Done.", nil, false),
		"failure":   anthropic.NewResult("toolu_1", "", "No.", nil, true),
		"no output": anthropic.NewResult("toolu_1", "", "", nil, false),
		"unknown":   anthropic.RawBlock(`{"type":"hologram","light":[1,2.50]}`),
		"a picture": anthropic.RawBlock(`{"type":"image","source":{"type":"url","url":"http://a.test/"}}`),
	} {
		written, err := json.Marshal(block)
		check.Must(t, err)
		read, err := anthropic.ReadBlock(written)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check.Diff(t, name, read, block)
	}
	for _, raw := range []string{
		`"x"`, `{"type":7}`, `{"type":"text","text":7}`, `{"type":"tool_result","content":"x"}`,
		`{"type":"tool_result","content":["x"]}`,
	} {
		check.Fails(t, check.Err(anthropic.ReadBlock(json.RawMessage(raw))), nil, "read block: ")
	}
}

func TestResultsStoredByFormerReleasesAreRead(t *testing.T) {
	stored := `{"tool_use_id":"toolu_1","toolset_name":"computer","is_error":true,"content":[{"text":"No.","type":"text"}],"type":"tool_result"}`
	got, err := anthropic.ReadBlock(json.RawMessage(stored))
	check.Must(t, err)
	check.Diff(t, "block", got, anthropic.Content(anthropic.NewResult("toolu_1", "computer", "No.", nil, true)))
}

func FuzzEventsAreDecodedOrRefused(f *testing.F) {
	f.Add(`{"type":"message_start","message":{"usage":{"input_tokens":3}}}
{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a b","name":"x","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":-7}}
{"type":"message_stop"}`)
	f.Add(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}
{"type":"content_block_delta","index":-1}`)
	f.Add(`{"type":"message_start","message":{"usage":"many"}}`)
	f.Fuzz(func(t *testing.T, stream string) {
		got, _, err := anthropic.Decode(strings.Split(stream, "\n")...)
		if err != nil {
			return
		}
		for _, b := range got.Blocks {
			if !json.Valid(b.Raw) {
				t.Errorf("block %q cannot be sent back", b.Raw)
			}
			if b.Tool != nil && (len(b.Tool.Input) == 0 || b.Tool.Input[0] != '{' || anthropic.WireID(b.Tool.ID) != b.Tool.ID) {
				t.Errorf("call %+v is not sound", b.Tool)
			}
		}
		if u := got.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.ReasoningTokens > u.OutputTokens || u.CachedTokens+
			u.CacheWriteTokens > u.InputTokens {
			t.Errorf("usage %+v does not add up", u)
		}
	})
}
