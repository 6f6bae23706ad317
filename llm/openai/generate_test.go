package openai_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"

	"github.com/google/go-cmp/cmp"
)

// A whole round: question, two calls at once, results with a picture, answer.
func TestAToolRoundKeepsCallsResultsAndPictures(t *testing.T) {
	picture := llm.Image{MediaType: "image/png", Data: []byte{1, 2, 3}}
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			server := llmtest.NewServer(t,
				llmtest.Answer(llmtest.Reply{Text: "I look.", Calls: []llmtest.Call{
					{ID: "c1", Name: "open", Arguments: `{"url": "http://a"}`}, {ID: "c2", Name: "shoot", Arguments: ""},
				}}),
				func(r llmtest.Request) llmtest.Reply { return llmtest.Reply{Text: "you said " + r.LastText()} },
			)
			m := open(t, server, api, nil)
			req := ask("look")
			req.System = "be brief"
			req.Tools = []llm.Tool{
				{
					Name: "open", Description: "opens",
					Schema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}}}`),
				},
				{Name: "shoot"},
			}
			first := generate(t, m, req)
			if first.Stop != llm.StopTools {
				t.Errorf("stop = %q, want tools", first.Stop)
			}
			wantCalls := []llm.ToolCall{
				{ID: "c1", Name: "open", Input: json.RawMessage(`{"url": "http://a"}`)},
				{ID: "c2", Name: "shoot", Input: json.RawMessage(`{}`)},
			}
			if diff := cmp.Diff(wantCalls, first.Calls()); diff != "" {
				t.Fatalf("calls (-want +got):\n%s", diff)
			}
			req.Messages = append(req.Messages, first.Message, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
				{Result: &llm.ToolResult{ID: "c1", Text: "no such host", IsError: true}},
				{Result: &llm.ToolResult{ID: "c2", Images: []llm.Image{picture}}},
				{Text: "go on"},
			}})
			second := generate(t, m, req)
			check.Equal(t, "text", second.Text(), "you said go on")
			sent := server.Requests()[1]
			if sent.System != "be brief" || len(sent.Tools) != 2 {
				t.Errorf("system %q and %d tools arrived, want be brief and 2", sent.System, len(sent.Tools))
			}
			checkRound(t, sent, picture)
		})
	}
}

func checkRound(t *testing.T, sent llmtest.Request, picture llm.Image) {
	t.Helper()
	var kinds []string
	for _, msg := range sent.Messages {
		for _, p := range msg.Parts {
			switch {
			case p.Call != nil:
				kinds = append(kinds, "call "+p.Call.ID)
			case p.Result != nil:
				kinds = append(kinds, "result "+p.Result.ID)
				for _, i := range p.Result.Images {
					kinds = append(kinds, "picture "+string(i.Data))
				}
				if p.Result.ID == "c1" && p.Result.Text != "The tool failed: no such host" {
					t.Errorf("failed result reads %q", p.Result.Text)
				}
			case p.Image != nil:
				kinds = append(kinds, "picture "+string(p.Image.Data))
			case p.Text == "go on" || p.Text == "look" || p.Text == "I look.":
				kinds = append(kinds, p.Text)
			}
		}
	}
	want := []string{
		"look", "I look.", "call c1", "call c2", "result c1", "result c2", "picture " + string(picture.Data),
		"go on",
	}
	check.Diff(t, "conversation as sent", kinds, want)
}

func TestWaysAnAnswerEnds(t *testing.T) {
	tests := []struct {
		name  string
		reply llmtest.Reply
		want  llm.StopReason
		text  string
	}{
		{"said all", llmtest.Reply{Text: "x"}, llm.StopEnd, "x"},
		{"length", llmtest.Reply{Text: "x", Finish: "length"}, llm.StopLength, "x"},
		{"filter", llmtest.Reply{Text: "x", Finish: "content_filter"}, llm.StopFilter, "x"},
		{"refusal", llmtest.Reply{Refusal: "I will not."}, llm.StopRefused, "I will not."},
		{"empty", llmtest.Reply{}, llm.StopEnd, ""},
		{"tools", llmtest.Reply{Calls: []llmtest.Call{{Name: "a", Arguments: "{}"}}}, llm.StopTools, ""},
	}
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					m := open(t, llmtest.NewServer(t, llmtest.Answer(tt.reply)), api, nil)
					reply, err := m.Generate(t.Context(), ask("hi"), nil)
					if err != nil || reply.Stop != tt.want || reply.Text() != tt.text {
						t.Errorf("got %q with stop %q, %v; want %q, %q", reply.Text(), reply.Stop, err, tt.text, tt.want)
					}
				})
			}
		})
	}
}

func TestReasoningIsReplayedToItsOwnerOnly(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{
		Reasoning: &llmtest.Reasoning{Encrypted: "gAAAA=="}, Text: "I look.",
		Calls: []llmtest.Call{{ID: "c1", Name: "look", Arguments: "{}"}},
	}))
	server.SetFallback(llmtest.Say("ok"))
	m := open(t, server, openai.APIResponses, nil)
	req := ask("look")
	reply := generate(t, m, req)
	req.Messages = append(req.Messages, reply.Message, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		{Result: &llm.ToolResult{ID: "c1", Text: "done"}},
	}})
	other := open(t, server, openai.APIResponses, func(o *openai.Options) { o.Model = "another" })
	for _, model := range []*openai.Model{m, other} {
		generate(t, model, req)
	}
	same, foreign := string(server.Requests()[1].Body), string(server.Requests()[2].Body)
	for _, want := range []string{`"encrypted_content":"gAAAA=="`, `"phase":"commentary"`} {
		check.Contains(t, same, want)
		check.Lacks(t, foreign, want)
	}
	if strings.Index(same, "gAAAA") > strings.Index(same, "I look.") {
		t.Error("reasoning must come before what it led to")
	}
}

func TestReadableReasoningIsReplayedWithinARoundOfToolsOnly(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{
		Reasoning: &llmtest.Reasoning{Summary: "deep thought"},
		Calls:     []llmtest.Call{{ID: "c1", Name: "look", Arguments: "{}"}},
	}))
	server.SetFallback(llmtest.Say("ok"))
	m := open(t, server, openai.APIChat, nil)
	req := ask("look")
	reply := generate(t, m, req)
	req.Messages = append(req.Messages, reply.Message, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		{Result: &llm.ToolResult{ID: "c1", Text: "done"}},
	}})
	for range 2 {
		generate(t, m, req)
		req.Messages = append(req.Messages, llm.UserText("and now?"))
	}
	within, after := string(server.Requests()[1].Body), string(server.Requests()[2].Body)
	check.Contains(t, within, `"reasoning_content":"deep thought"`)
	check.Lacks(t, after, "deep thought")
}

func TestRequestsAskForNothingToBeKept(t *testing.T) {
	server := llmtest.NewServer(t)
	server.SetFallback(llmtest.Say("ok"))
	req := ask("hi")
	req.MaxTokens, req.EndUser = 5, "u-hash"
	m := open(t, server, openai.APIResponses, nil)
	generate(t, m, req)
	got := server.Requests()[0].JSONBody(t)
	delete(got, "input")
	want := map[string]any{
		"model": "gpt-6-sol-test", "store": false, "stream": true, "include": []any{"reasoning.encrypted_content"},
		"safety_identifier": "u-hash", "max_output_tokens": 16.0,
	}
	check.Diff(t, "request", got, want)
	old := open(t, server, openai.APIResponses, func(o *openai.Options) { o.Model = "gpt-4.1" })
	generate(t, old, ask("hi"))
	if _, ok := server.Requests()[1].JSONBody(t)["include"]; ok {
		t.Error("a model without reasoning is asked for it, which it refuses")
	}
}

func TestTokenLimitsUseTheNameTheServerKnows(t *testing.T) {
	for model, field := range map[string]string{
		"llama3.1": "max_tokens", "gpt-5.4": "max_completion_tokens", "openai/gpt-6-sol": "max_completion_tokens",
		"gpt-oss:20b": "max_tokens",
	} {
		server := llmtest.NewServer(t, llmtest.Say("ok"))
		m := open(t, server, openai.APIChat, func(o *openai.Options) { o.Model = model })
		req := ask("hi")
		req.MaxTokens = 50
		generate(t, m, req)
		got := server.Requests()[0].JSONBody(t)
		_, oldName := got["max_tokens"]
		_, newName := got["max_completion_tokens"]
		if got[field] != 50.0 || oldName == newName {
			t.Errorf("%s: max_tokens %v, max_completion_tokens %v; want %s alone", model, got["max_tokens"],
				got["max_completion_tokens"], field)
		}
	}
}

func TestServersThatDoNotStreamAreUnderstood(t *testing.T) {
	chat := `{"id":"1","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"whole"}}],
		"usage":{"prompt_tokens":3,"completion_tokens":1,"cost":0.25}}`
	responses := `{"id":"1","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"whole"}]}]}`
	for api, answer := range map[openai.API]string{openai.APIChat: chat, openai.APIResponses: responses} {
		m := open(t, llmtest.NewServer(t, llmtest.SayWithFault("", llmtest.Fault{Body: &answer})), api, nil)
		streamed := ""
		reply, err := m.Generate(t.Context(), ask("hi"), func(d llm.Delta) { streamed += d.Text })
		if err != nil || reply.Text() != "whole" || streamed != "whole" {
			t.Errorf("%s: got %q, streamed %q, %v; want whole", api, reply.Text(), streamed, err)
		}
		if api == openai.APIChat && (reply.Usage.USD != 0.25 || reply.Usage.Unpriced) {
			t.Errorf("cost as told by the server: got %+v, want 0.25", reply.Usage)
		}
	}
}

func TestAServerWithoutUsageLeavesTheCallUnpriced(t *testing.T) {
	for _, api := range both {
		t.Run(string(api), func(t *testing.T) {
			m := open(t, llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Text: "x"})), api,
				func(o *openai.Options) { o.Model = "gpt-6-sol" })
			reply, err := m.Generate(t.Context(), ask("hi"), nil)
			if want := (llm.Usage{Calls: 1, Unpriced: true}); err != nil || reply.Usage != want {
				t.Errorf("usage %+v, %v; want %+v", reply.Usage, err, want)
			}
		})
	}
}

func TestWhatIsWrittenToTheCacheCostsWhereTheVendorCharges(t *testing.T) {
	used := llm.Usage{InputTokens: 1000, CachedTokens: 100, CacheWriteTokens: 800, OutputTokens: 10}
	for model, want := range map[string]float64{
		"gpt-5.6": (100*4 + 800*1.25*4 + 100*0.4 + 10*20) / 1e6,
		"gpt-5.5": (900*5 + 100*0.5 + 10*30) / 1e6,
	} {
		for _, api := range both {
			server := llmtest.NewServer(t, llmtest.Answer(llmtest.Reply{Text: "x", Usage: &used}))
			m := open(t, server, api, func(o *openai.Options) { o.Model = model })
			reply, err := m.Generate(t.Context(), ask("hi"), nil)
			if err != nil || math.Abs(reply.Usage.USD-want) > 1e-12 {
				t.Errorf("%s, %s: cost %v, %v; want %v", model, api, reply.Usage.USD, err, want)
			}
		}
	}
}

func TestToolCallsArePutTogetherWhateverTheServersHabits(t *testing.T) {
	a := llm.ToolCall{ID: "a", Name: "click", Input: json.RawMessage(`{"ref":"e1"}`)}
	b := llm.ToolCall{ID: "b", Name: "type", Input: json.RawMessage(`{"text":"x"}`)}
	tests := []struct {
		name   string
		pieces []string
		want   []llm.ToolCall
	}{
		{"numbered, interleaved", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":""}}`,
			`{"index":1,"id":"b","function":{"name":"type","arguments":"{\"te"}}`,
			`{"index":0,"function":{"arguments":"{\"ref\":\"e1\"}"}}`,
			`{"index":1,"function":{"arguments":"xt\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"no numbers, pieces follow", []string{
			`{"id":"a","function":{"name":"click","arguments":"{\"ref\":"}}`,
			`{"function":{"arguments":"\"e1\"}"}}`,
			`{"id":"b","function":{"name":"type","arguments":"{\"text\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"whole calls at once without numbers", []string{
			`{"id":"a","function":{"name":"click","arguments":"{\"ref\":\"e1\"}"}}`,
			`{"id":"b","function":{"name":"type","arguments":"{\"text\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"number 0 for all", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":"{\"ref\":\"e1\"}"}}`,
			`{"index":0,"id":"b","function":{"name":"type","arguments":"{\"text\":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"id and name repeated with every piece", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":"{\"ref\":"}}`,
			`{"index":0,"id":"a","function":{"name":"click","arguments":"\"e1\"}"}}`,
			`{"index":0,"id":"a","function":{"name":"click","arguments":""}}`,
			`{"id":"b","function":{"name":"type","arguments":"{\"text\""}}`,
			`{"id":"b","function":{"name":"type","arguments":":\"x\"}"}}`,
		}, []llm.ToolCall{a, b}},
		{"arguments as an object", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":{"ref":"e1"}}}`,
		}, []llm.ToolCall{a}},
		{"no arguments", []string{
			`{"index":0,"id":"a","function":{"name":"read"}}`,
			`{"index":1,"id":"b","function":{"name":"read","arguments":null}}`,
		}, []llm.ToolCall{
			{ID: "a", Name: "read", Input: json.RawMessage(`{}`)},
			{ID: "b", Name: "read", Input: json.RawMessage(`{}`)},
		}},
		{"malformed arguments", []string{
			`{"index":0,"id":"a","function":{"name":"click","arguments":"{\"ref\": e1"}}`,
			`{"index":1,"id":"b","function":{"name":"click","arguments":"[1]"}}`,
		}, []llm.ToolCall{
			{ID: "a", Name: "click", Input: json.RawMessage(`{}`), Malformed: `{"ref": e1`},
			{ID: "b", Name: "click", Input: json.RawMessage(`{}`), Malformed: `[1]`},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := openai.BuildCalls(tt.pieces...)
			check.Must(t, err)
			check.Diff(t, "calls", got, tt.want)
		})
	}
}

func TestRepeatedAndMissingIDsBecomeDistinct(t *testing.T) {
	got, err := openai.BuildCalls(
		`{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}`,
		`{"index":1,"id":"x","function":{"name":"b","arguments":"{}"}}`,
		`{"index":2,"function":{"name":"c","arguments":"{}"}}`,
		`{"index":2,"function":{"name":"d","arguments":"{}"}}`,
	)
	if err != nil || len(got) != 4 {
		t.Fatalf("got %v, %v; want four calls", got, err)
	}
	var names strings.Builder
	ids := map[string]bool{}
	for _, c := range got {
		names.WriteString(c.Name)
		ids[c.ID] = c.ID != ""
	}
	if names.String() != "abcd" || len(ids) != 4 {
		t.Errorf("names %q with ids %v; want abcd, all distinct", names.String(), ids)
	}
}

func FuzzCalls(f *testing.F) {
	f.Add(`{"index":0,"id":"a","function":{"name":"n","arguments":"{"}}`, `{"index":0,"function":{"arguments":"}"}}`)
	f.Add(`{"id":"a","function":{"arguments":{}}}`, `{"id":"a"}`)
	f.Fuzz(func(t *testing.T, p, q string) {
		calls, err := openai.BuildCalls(p, q)
		if err != nil {
			return
		}
		for _, c := range calls {
			var o map[string]any
			if json.Unmarshal(c.Input, &o) != nil || o == nil || c.ID == "" || c.Name == "" {
				t.Fatalf("call %+v of %q, %q has no object, id or name", c, p, q)
			}
		}
	})
}

func FuzzDecodeChat(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
	f.Add(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}]},"finish_reason":"length"}]}`, `{"error":1}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		reply, whole, err := openai.DecodeChat(a, b)
		checkDecoded(t, reply, whole, err)
	})
}

func FuzzDecodeResponses(f *testing.F) {
	f.Add(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}`,
		`{"type":"response.completed","response":{"status":"completed","output":[]}}`)
	f.Add(`{"object":"response","status":"incomplete"}`, `{"type":"error"}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		reply, whole, err := openai.DecodeResponses(a, b)
		checkDecoded(t, reply, whole, err)
	})
}

// checkDecoded: a whole reply can be stored, whatever the server sent.
func checkDecoded(t *testing.T, reply llm.Reply, whole bool, err error) {
	t.Helper()
	if err != nil || !whole {
		return
	}
	data, err := json.Marshal(reply.Message)
	if err != nil {
		t.Fatalf("reply %+v cannot be stored: %v", reply, err)
	}
	if reply.Stop == "" || !strings.Contains(string(data), "assistant") {
		t.Fatalf("reply %+v has no reason to stop or no role", reply)
	}
}

func FuzzDataLine(f *testing.F) {
	for _, s := range []string{"{}", "[1,\n2]", `{"error":"x"}`, "a\r\nb", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, event string) {
		line := openai.DataLine(event)
		if !strings.HasPrefix(line, "data:") || strings.Count(line, "\n") != 1 || strings.Contains(line, "\r") {
			t.Fatalf("event %q became %q, want one line", event, line)
		}
		if payload := strings.TrimPrefix(line, "data:"); json.Valid([]byte(event)) && !json.Valid([]byte(payload)) {
			t.Fatalf("event %q was JSON and became %q", event, line)
		}
	})
}

func TestIDsFitTheWire(t *testing.T) {
	long := strings.Repeat("x", 65)
	check.Equal(t, "short id became", openai.WireID("call_1"), "call_1")
	if a, b := openai.WireID(long), openai.WireID(long+"y"); len(a) > 64 || a == b || a != openai.WireID(long) {
		t.Errorf("long ids became %q and %q", a, b)
	}
	if openai.WireID("") == "" {
		t.Error("an empty id stays empty, which the API refuses")
	}
}
