package gemini_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/gemini"
)

func TestACallIsPricedAndMadeWithTheKey(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{
		Text: "hello", Usage: &llm.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 50, ReasoningTokens: 20},
	}))
	reply := generate(t, open(t, s, nil), ask("hi"))
	if want := (600*0.75 + 400*0.075 + 50*3.75) / 1e6; reply.Usage.USD != want {
		t.Errorf("usage = %+v, want %v USD", reply.Usage, want)
	}
	check.Equal(t, "key", s.Requests()[0].Header.Get("X-Goog-Api-Key"), testKey)
}

// The server refuses signatures that changed or are missing, so a second turn
// that is answered proves that they came back.
func TestSignaturesComeBackWithThePartsTheyBelongTo(t *testing.T) {
	s := llmtest.NewGeminiServer(t,
		llmtest.Answer(llmtest.Reply{
			Reasoning: &llmtest.Reasoning{Summary: "hm", Encrypted: "secret-1"}, Text: "I will look.",
			Calls: []llmtest.Call{{Name: "look", Arguments: `{"at":"a"}`}, {Name: "look", Arguments: `{"at":"b"}`}},
		}),
		llmtest.Answer(llmtest.Reply{Text: "done", Reasoning: &llmtest.Reasoning{Encrypted: "secret-2"}}),
		llmtest.Say("again"),
	)
	m := open(t, s, nil)
	req := llm.Request{Tools: []llm.Tool{look}, Messages: []llm.Message{llm.UserText("look twice")}}
	first := generate(t, m, req)
	calls := first.Calls()
	if len(calls) != 2 || first.Stop != llm.StopTools || string(calls[1].Input) != `{"at":"b"}` {
		t.Fatalf("calls = %+v, stop %s", calls, first.Stop)
	}
	results := llm.Message{Role: llm.RoleUser, Parts: append(result(calls[0], "A").Parts, result(calls[1], "B").Parts...)}
	req.Messages = append(req.Messages, stored(t, first.Message), results)
	second := generate(t, m, req)
	req.Messages = append(req.Messages, stored(t, second.Message), llm.UserText("and now?"))
	generate(t, m, req)

	contents := sent(t, s.Requests()[2]).Contents
	var signed []string
	for _, c := range contents {
		for _, p := range c.Parts {
			if p.ThoughtSignature != nil {
				signed = append(signed, string(p.ThoughtSignature))
			}
		}
	}
	check.Diff(t, "signatures", signed, []string{"secret-1", "secret-2"})
	if thought := contents[1].Parts[0]; !thought.Thought || thought.Text != "hm" {
		t.Errorf("the thought came back as %+v", thought)
	}
	if !bytes.Contains(s.Requests()[2].Body, []byte(`"text":""`)) {
		t.Error("the signed empty text lost its text member, without which the API refuses it")
	}
}

func TestCallsWithoutIdsAreMatchedByOursAndSentWithoutThem(t *testing.T) {
	s := llmtest.NewGeminiServer(t,
		llmtest.Answer(llmtest.Reply{Calls: []llmtest.Call{
			{Name: "look", Arguments: `{"at":"a"}`},
			{Name: "look", Arguments: `{"at":"a"}`},
		}}),
		llmtest.Say("done"))
	m := open(t, s, func(o *gemini.Options) { o.Model = older })
	req := llm.Request{Tools: []llm.Tool{look}, Messages: []llm.Message{llm.UserText("look twice")}}
	first := generate(t, m, req)
	calls := first.Calls()
	if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID {
		t.Fatalf("calls = %+v, want two with ids of their own", calls)
	}
	shown := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		{Result: &llm.ToolResult{
			ID: calls[0].ID, Text: "A",
			Images: []llm.Image{{MediaType: "image/png", Data: []byte("png")}},
		}},
		{Result: &llm.ToolResult{ID: calls[1].ID, IsError: true}},
	}}
	req.Messages = append(req.Messages, first.Message, shown)
	generate(t, m, req)
	got := s.Requests()[1].Messages[2]
	want := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{
		{Result: &llm.ToolResult{Text: "A"}},
		{Result: &llm.ToolResult{Text: "the tool failed", IsError: true}},
		{Image: &llm.Image{MediaType: "image/png", Data: []byte("png")}}, // before Gemini 3 not inside a result
	}}
	check.Diff(t, "results", got, want)
}

func TestPicturesGoWithMessagesAndInsideResults(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Use("look", `{"at":"a"}`), llmtest.Say("done"))
	m := open(t, s, nil)
	png := llm.Image{MediaType: "image/png", Data: []byte{1, 2, 3}}
	req := llm.Request{Tools: []llm.Tool{look}, Messages: []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{{Text: "what is it?"}, {Image: &png}}},
	}}
	first := generate(t, m, req)
	answer := llm.ToolResult{ID: first.Calls()[0].ID, Images: []llm.Image{png}}
	req.Messages = append(req.Messages, first.Message,
		llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Result: &answer}}})
	generate(t, m, req)
	got := s.Requests()[1].Messages
	check.Diff(t, "message", got[0], req.Messages[0])
	check.Diff(t, "result", got[2].Parts[0].Result, &answer)
	var schema any
	check.Must(t, json.Unmarshal(s.Requests()[0].Tools[0].Schema, &schema))
	var want any
	check.Must(t, json.Unmarshal(look.Schema, &want))
	check.Diff(t, "schema", schema, want)
}

func TestAHistoryOfAnotherModelIsTakenOver(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Say("done"))
	m := open(t, s, nil)
	call := llm.ToolCall{ID: "toolu_1", Name: "look", Input: json.RawMessage(`{"at":"a"}`)}
	garbled := llm.ToolCall{ID: "toolu_2", Name: "look", Input: json.RawMessage(`{}`), Malformed: `{"at":`}
	generate(t, m, llm.Request{Tools: []llm.Tool{look}, Messages: []llm.Message{
		llm.UserText("look"),
		{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Opaque: &llm.Opaque{Owner: "api.example chat x", Data: json.RawMessage(`{"part":{"text":"theirs"}}`)}},
			{Call: &call},
			{Call: &garbled},
		}},
		{Role: llm.RoleUser, Parts: []llm.Part{
			{Text: "by the way"},
			{Result: &llm.ToolResult{ID: "toolu_1", Text: "A"}},
			{Result: &llm.ToolResult{ID: "toolu_2", Text: "not JSON", IsError: true}},
		}},
		{
			Role:  llm.RoleAssistant,
			Parts: []llm.Part{{Call: &llm.ToolCall{ID: "toolu_3", Name: "look", Input: json.RawMessage(`{}`)}}},
		},
		llm.UserText("stop and tell me"),
	}})
	contents := sent(t, s.Requests()[0]).Contents
	if len(contents) != 5 {
		t.Fatalf("%d contents, want 5", len(contents))
	}
	if got := contents[1].Parts; len(got) != 2 || got[0].ThoughtSignature == nil || got[1].FunctionCall != nil {
		t.Errorf("the foreign turn = %+v, want one signed call and one in words", got)
	}
	if got := contents[4].Parts; len(got) != 2 || got[0].FunctionResponse == nil ||
		got[0].FunctionResponse.Response["error"] == nil {
		t.Errorf("the call without a result was answered with %+v", got[0])
	}
}

func TestEndsOfAnswersAreTold(t *testing.T) {
	tests := []struct {
		name  string
		reply llmtest.Reply
		stop  llm.StopReason
		text  string
	}{
		{"length", llmtest.Reply{Text: "cut of", Finish: "length"}, llm.StopLength, "cut of"},
		{"safety", llmtest.Reply{Refusal: "no"}, llm.StopFilter, ""},
		{"recitation", llmtest.Reply{Text: "To be or", Finish: "RECITATION"}, llm.StopFilter, "To be or"},
		{"prohibited", llmtest.Reply{Finish: "PROHIBITED_CONTENT"}, llm.StopFilter, ""},
		{"prompt blocked", llmtest.Reply{Finish: "prompt_blocked"}, llm.StopFilter, ""},
		{"language", llmtest.Reply{Finish: "LANGUAGE"}, llm.StopRefused, ""},
		{"too many calls", llmtest.Reply{Finish: "TOO_MANY_TOOL_CALLS"}, llm.StopUnknown, ""},
		{"a reason of next year", llmtest.Reply{Finish: "TIRED"}, llm.StopUnknown, ""},
		{"empty", llmtest.Reply{}, llm.StopEnd, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewGeminiServer(t, llmtest.Answer(tt.reply))
			reply := generate(t, open(t, s, nil), ask("hello"))
			if reply.Stop != tt.stop || reply.Text() != tt.text || len(reply.Calls()) != 0 {
				t.Errorf("reply = %+v, want stop %s and text %q", reply, tt.stop, tt.text)
			}
		})
	}
}

func TestCallsTheVendorKeptBackAreToldAsMalformed(t *testing.T) {
	for _, reply := range []llmtest.Reply{
		{Calls: []llmtest.Call{{Name: "look", Arguments: `{"at":`}}},
		{Finish: "UNEXPECTED_TOOL_CALL"},
	} {
		s := llmtest.NewGeminiServer(t, llmtest.Answer(reply), llmtest.Say("sorry"))
		m := open(t, s, nil)
		req := llm.Request{Tools: []llm.Tool{look}, Messages: []llm.Message{llm.UserText("look")}}
		first := generate(t, m, req)
		calls := first.Calls()
		if len(calls) != 1 || calls[0].Malformed == "" || first.Stop != llm.StopTools {
			t.Fatalf("calls = %+v, stop %s; want one malformed call", calls, first.Stop)
		}
		req.Messages = append(req.Messages, first.Message, result(calls[0], "say it again"))
		generate(t, m, req)
		check.Equal(t, "the model was told", s.Requests()[1].LastText(), "say it again")
	}
}

func TestCallsAreWaitedForWhateverTheServerCallsTheirEnd(t *testing.T) {
	s := llmtest.NewGeminiServer(t,
		llmtest.Answer(llmtest.Reply{
			Finish: "FUNCTION_CALL",
			Calls:  []llmtest.Call{{Name: "look", Arguments: `{"at":"a"}`}},
		}))
	reply := generate(t, open(t, s, nil),
		llm.Request{Tools: []llm.Tool{look}, Messages: []llm.Message{llm.UserText("look")}})
	check.Equal(t, "stop", reply.Stop, llm.StopTools)
}

func TestRequestsOfOneConversationBeginAlike(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Use("look", `{"at":"a"}`), llmtest.Say("done"))
	m := open(t, s, nil)
	other := llm.Tool{Name: "act", Description: "Acts."}
	req := llm.Request{System: "be brief", Tools: []llm.Tool{look, other}, Messages: []llm.Message{llm.UserText("look")}}
	first := generate(t, m, req)
	req.Messages = append(req.Messages, first.Message, result(first.Calls()[0], "A"))
	generate(t, m, req)
	before, after := sent(t, s.Requests()[0]), sent(t, s.Requests()[1])
	after.Contents = after.Contents[:1]
	check.Diff(t, "beginning of the conversation", after, before)
}

func TestATextWhoseEndIsSignedStaysOneAndComesBackDivided(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{Events: []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"lo","thoughtSignature":"c2lnbmVk"}]},"finishReason":"STOP"}]}`,
	}}), llmtest.Say("ok"), llmtest.Say("ok"))
	m := open(t, s, nil)
	reply := generate(t, m, ask("hi"))
	check.Equal(t, "text", reply.Text(), "hello")
	generate(t, m, llm.Request{Messages: []llm.Message{
		llm.UserText("hi"), stored(t, reply.Message),
		llm.UserText("and?"),
	}})
	want := []*llmtest.GeminiPart{{Text: "hel"}, {Text: "lo", ThoughtSignature: []byte("signed")}}
	check.Diff(t, "parts", sent(t, s.Requests()[1]).Contents[1].Parts, want)
	for i, p := range reply.Message.Parts { // as whoever shortens a history may
		if p.Text != "" {
			reply.Message.Parts[i].Text = "help"
		}
	}
	generate(t, m, llm.Request{Messages: []llm.Message{llm.UserText("hi"), reply.Message, llm.UserText("and?")}})
	check.Diff(t, "changed parts", sent(t, s.Requests()[2]).Contents[1].Parts, []*llmtest.GeminiPart{{Text: "help"}})
}
