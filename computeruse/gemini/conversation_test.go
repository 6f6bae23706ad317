package gemini_test

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"testing"

	"clank/computeruse"
	"clank/computeruse/gemini"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	vendor "clank/llm/gemini"

	"github.com/google/go-cmp/cmp"
)

func TestABatchIsAnsweredCallByCallWithOnePicture(t *testing.T) {
	s := llmtest.NewGeminiServer(t,
		llmtest.Answer(llmtest.Reply{Text: "I click and type.", Calls: []llmtest.Call{
			{Name: "click", Arguments: `{"x":500,"y":250,"intent":"open the form"}`},
			{Name: "read_text", Arguments: `{}`},
			{Name: "type", Arguments: `{"text":"cats","press_enter":true}`},
		}}),
		llmtest.Say("Done."))
	m := mind(t, s, newer)
	talk := begin(t, m, computeruse.ConversationOptions{
		System: "be careful", MaxTokens: 99,
		Tools: []llm.Tool{read("navigate"), read("read_text")},
	})

	turn := next(t, talk, say("find cats"))
	if len(turn.Calls) != 2 || len(turn.Tools) != 1 || turn.Text != "I click and type." || turn.Stop != llm.StopTools {
		t.Fatalf("turn = %+v", turn)
	}
	at := image.Pt(500, 250)
	want := []computeruse.Call{
		{
			ID: turn.Calls[0].ID, Intent: "open the form",
			Actions: []computeruse.Action{{
				Kind: computeruse.ActClick, At: &at, Grid: image.Pt(1000, 1000),
				Button: computeruse.ButtonLeft, Clicks: 1,
			}},
		},
		{ID: turn.Calls[1].ID, Actions: []computeruse.Action{{Kind: computeruse.ActType, Text: "cats", Enter: true}}},
	}
	check.Diff(t, "calls", turn.Calls, want)

	zoomed := llm.Image{MediaType: "image/png", Data: []byte("pngZ")}
	last := next(t, talk, computeruse.Input{
		Says: []string{"hurry"}, Shot: shot(1),
		Outcomes: []computeruse.CallResult{
			{CallID: turn.Calls[0].ID, Text: "a menu opened", Image: &zoomed},
			{CallID: turn.Calls[1].ID, Skipped: true},
		},
		Results: []llm.ToolResult{{ID: turn.Tools[0].ID, Text: "the page"}},
	})
	if last.Text != "Done." || len(last.Calls)+len(last.Tools) != 0 || last.Stop != llm.StopEnd || last.Usage.Calls != 1 {
		t.Errorf("last turn = %+v", last)
	}

	w := wire(t, s.Requests()[1])
	var bodies []map[string]any
	var pictures []int
	for _, p := range w.Contents[2].Parts {
		if r := p.FunctionResponse; r != nil {
			bodies = append(bodies, r.Response)
			pictures = append(pictures, len(r.Parts))
		}
	}
	url := "https://example.com/"
	wantBodies := []map[string]any{
		{"output": "a menu opened", "url": url},
		{"output": "the page"},
		{"error": "not done: an action before it failed", "url": url},
	}
	check.Diff(t, "answers", bodies, wantBodies)
	check.Diff(t, "pictures in answers", pictures, []int{1, 0, 1})
	check.Equal(t, "the person's word arrived as", s.Requests()[1].LastText(), "hurry")
	use := w.Tools[0].ComputerUse
	if use == nil || len(w.Tools) != 2 || len(w.Tools[1].FunctionDeclarations) != 1 {
		t.Errorf("tools = %+v, want the vendor's and read_text: navigate is the vendor's own", w.Tools)
	}
}

func TestWarningsAreAskedOfAPerson(t *testing.T) {
	warned := `{"x":1,"y":2,"safety_decision":{"decision":"require_confirmation","explanation":"It accepts cookies."}}`
	tests := []struct {
		name    string
		outcome func(c computeruse.Call) computeruse.CallResult
		want    map[string]any
	}{
		{
			"yes",
			func(c computeruse.Call) computeruse.CallResult {
				return computeruse.CallResult{CallID: c.ID, Acknowledged: c.Safety}
			},
			map[string]any{"url": "https://example.com/", "safety_acknowledgement": "true"},
		},
		{
			"no",
			func(c computeruse.Call) computeruse.CallResult {
				return computeruse.CallResult{CallID: c.ID, Err: "the person said no"}
			},
			map[string]any{"url": "https://example.com/", "error": "the person said no"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewGeminiServer(t, llmtest.Use("click_at", warned), llmtest.Say("ok"))
			talk := begin(t, mind(t, s, older), computeruse.ConversationOptions{})
			turn := next(t, talk, say("go"))
			if got := wire(t, s.Requests()[0]).Tools[0].ComputerUse.ExcludedPredefinedFunctions; !slices.Equal(got,
				[]string{"search"}) {
				t.Errorf("excluded = %v", got)
			}
			want := []computeruse.SafetyWarning{{
				ID: turn.Calls[0].ID, Code: "require_confirmation",
				Message: "It accepts cookies.",
			}}
			check.Diff(t, "safety", turn.Calls[0].Safety, want)
			next(t, talk, computeruse.Input{Shot: shot(1), Outcomes: []computeruse.CallResult{tt.outcome(turn.Calls[0])}})
			check.Diff(t, "answer", wire(t, s.Requests()[1]).Contents[2].Parts[0].FunctionResponse.Response, tt.want)
		})
	}
}

func TestADecisionNobodyKnowsIsAWarningToo(t *testing.T) {
	for args, want := range map[string]bool{
		`{"x":1,"y":1,"safety_decision":{"decision":"regular"}}`: false,
		`{"x":1,"y":1,"safety_decision":{"decision":"block"}}`:   true,
		`{"x":1,"y":1,"safety_decision":"require_confirmation"}`: true,
		`{"x":1,"y":1,"safety_decision":{}}`:                     true,
		`{"x":1,"y":1,"safety_decision":7}`:                      true,
		`{"x":1,"y":1}`:                                          false,
	} {
		s := llmtest.NewGeminiServer(t, llmtest.Use("click", args))
		turn := next(t, begin(t, mind(t, s, newer), computeruse.ConversationOptions{}), say("go"))
		check.Equal(t, args+": warned", len(turn.Calls[0].Safety) > 0, want)
	}
}

func TestAWarnedToolIsNotRunUnasked(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Use("read_text", `{"safety_decision":{"decision":"require_confirmation"}}`),
		llmtest.Use("read_text", `{"safety_decision":{"decision":"regular"}}`))
	talk := begin(t, mind(t, s, newer), computeruse.ConversationOptions{Tools: []llm.Tool{read("read_text")}})
	turn := next(t, talk, say("go"))
	if len(turn.Tools) != 0 || len(turn.Calls) != 1 || turn.Calls[0].Actions[0].Kind != computeruse.ActUnknown ||
		turn.Calls[0].Safety == nil {
		t.Errorf("turn = %+v, want a warned call that does nothing", turn)
	}
	turn = next(t, talk, computeruse.Input{Outcomes: []computeruse.CallResult{outcome(turn.Calls[0])}})
	if len(turn.Tools) != 1 || string(turn.Tools[0].Input) != "{}" {
		t.Errorf("tools = %+v, want one without the vendor's note", turn.Tools)
	}
}

func TestOnlyTheNewestPicturesAreSent(t *testing.T) {
	s := llmtest.NewGeminiServer(t)
	s.SetFallback(llmtest.Use("take_screenshot", `{}`))
	talk := begin(t, mind(t, s, newer), computeruse.ConversationOptions{})
	turn := next(t, talk, computeruse.Input{Shot: shot(0)}) // a turn of nothing but a picture
	for i := range byte(5) {
		turn = next(t, talk, computeruse.Input{Shot: shot(i + 1), Outcomes: []computeruse.CallResult{outcome(turn.Calls[0])}})
	}
	check.Diff(t, "pictures", images(wire(t, s.Requests()[5])), []byte{3, 4, 5})
}

func TestATalkGoesOnFromItsMemory(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Use("click", `{"x":1,"y":1}`), llmtest.Say("continued"),
		llmtest.Say("and again"))
	m := mind(t, s, newer)
	talk := begin(t, m, computeruse.ConversationOptions{System: "be careful"})
	next(t, talk, say("go")) // its call is never answered: the process ends here
	kept, err := talk.Memory()
	check.Must(t, err)
	talk = begin(t, m, computeruse.ConversationOptions{System: "be careful", Memory: kept})
	check.Equal(t, "text", next(t, talk, computeruse.Input{Says: []string{"continue"}, Shot: shot(9)}).Text,
		"continued")
	w := wire(t, s.Requests()[1])
	check.Diff(t, "pictures", images(w), []byte{9})
	r := w.Contents[2].Parts[0].FunctionResponse
	if r == nil || r.Response["error"] == nil {
		t.Errorf("the open call was answered with %+v, want an error", w.Contents[2].Parts[0])
	}

	// Another model takes over: signatures are not its own.
	if kept, err = talk.Memory(); err != nil {
		t.Fatal(err)
	}
	other := begin(t, mind(t, s, "gemini-3.8-flash"), computeruse.ConversationOptions{Memory: kept})
	next(t, other, computeruse.Input{Says: []string{"and now?"}})
	for _, c := range wire(t, s.Requests()[2]).Contents {
		for _, p := range c.Parts {
			if slices.Equal(p.ThoughtSignature, []byte("signature 0")) {
				t.Error("a signature of another model was sent")
			}
		}
	}
}

func TestAForeignMemoryIsRefused(t *testing.T) {
	s := llmtest.NewGeminiServer(t)
	m := mind(t, s, newer)
	for _, memory := range []string{
		`{`, `{"dialect":"other"}`,
		`{"dialect":"gemini generateContent 1","contents":[{"role":"system","parts":[{"text":"x"}]}]}`,
		`{"dialect":"gemini generateContent 1","contents":[null]}`,
	} {
		check.Fails(t, check.Err(m.Begin(computeruse.ConversationOptions{Memory: []byte(memory)})), nil, "its memory")
	}
}

func TestWhatWasToldIsToldAgainAfterAFailure(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Use("click", `{"x":1,"y":1}`), llmtest.Fail(400, "", "no"), llmtest.Say("ok"))
	talk := begin(t, mind(t, s, newer), computeruse.ConversationOptions{})
	turn := next(t, talk, say("go"))
	_, err := talk.Next(t.Context(),
		computeruse.Input{Shot: shot(1), Outcomes: []computeruse.CallResult{outcome(turn.Calls[0])}})
	var told *llm.Error
	if !errors.As(err, &told) || told.Kind != llm.ErrRejected {
		t.Fatalf("err = %v", err)
	}
	next(t, talk, computeruse.Input{Says: []string{"try again"}, Shot: shot(2)})
	w := wire(t, s.Requests()[2])
	if diff := cmp.Diff([]byte{0, 1, 2}, images(w)); diff != "" || w.Contents[2].Parts[0].FunctionResponse == nil {
		t.Errorf("pictures (-want +got):\n%s\nlast content %+v", diff, w.Contents[2].Parts[0])
	}
}

func TestCallsThatCannotBeUsedAreAnsweredWithWhy(t *testing.T) {
	for name, turn := range map[string]llmtest.Turn{
		"unknown action": llmtest.GeminiUnchecked(
			llmtest.Reply{Calls: []llmtest.Call{{Name: "fly_to", Arguments: `{"x":1}`}}}),
		"excluded action": llmtest.GeminiUnchecked(llmtest.Reply{Calls: []llmtest.Call{{Name: "search"}}}),
		"no place":        llmtest.Use("click", `{"y":3}`),
		"a place in words": llmtest.GeminiUnchecked(
			llmtest.Reply{Calls: []llmtest.Call{{Name: "click", Arguments: `{"x":"left","y":3}`}}}),
		"arguments not JSON":   llmtest.Answer(llmtest.Reply{Calls: []llmtest.Call{{Name: "click", Arguments: `{"x":`}}}),
		"a tool nobody offers": llmtest.Answer(llmtest.Reply{Finish: "UNEXPECTED_TOOL_CALL"}),
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewGeminiServer(t, turn, llmtest.Say("sorry"))
			model := newer
			if name == "excluded action" {
				model = older
			}
			talk := begin(t, mind(t, s, model), computeruse.ConversationOptions{})
			got := next(t, talk, say("go"))
			if len(got.Calls) != 1 || len(got.Calls[0].Actions) != 1 || got.Calls[0].Actions[0].Kind != computeruse.ActUnknown ||
				got.Calls[0].Actions[0].Text == "" {
				t.Fatalf("turn = %+v, want one unknown action that says what it was", got)
			}
			next(t, talk, computeruse.Input{
				Outcomes: []computeruse.CallResult{{CallID: got.Calls[0].ID, Err: "there is no such thing"}},
			})
			w := wire(t, s.Requests()[1])
			last := w.Contents[len(w.Contents)-1].Parts
			if p := last[len(last)-1]; p.FunctionResponse == nil && p.Text != "Your last function call could not be used. "+
				"there is no such thing" {
				t.Errorf("answered with %+v", p)
			}
		})
	}
}

func TestOnlyModelsThatWorkAScreenAreTaken(t *testing.T) {
	m, err := vendor.New(vendor.Options{Key: "AIzaTest0123456789", Model: "gemini-2.5-pro"})
	check.Must(t, err)
	var told *llm.Error
	if _, err := gemini.New(m); !errors.As(err, &told) || told.Hint == "" {
		t.Errorf("err = %v, want one that says what to do", err)
	}
}

func TestPicturesFitTheGrid(t *testing.T) {
	s := llmtest.NewGeminiServer(t)
	m := mind(t, s, newer)
	for _, tt := range []struct{ screen, want image.Point }{
		{image.Pt(1280, 720), image.Pt(1280, 720)},
		{image.Pt(3840, 2160), image.Pt(2000, 1125)},
		{image.Pt(100, 4000), image.Pt(50, 2000)},
	} {
		check.Equal(t, fmt.Sprintf("Fit(%v)", tt.screen), m.Fit(tt.screen), tt.want)
	}
}

func TestATextDividedByItsSignatureIsOne(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{Events: []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"thinking","thought":true},{"text":"hel"}]}}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"lo","thoughtSignature":"c2lnbmVk"}]},"finishReason":"STOP"}]}`,
	}}))
	turn := next(t, begin(t, mind(t, s, newer), computeruse.ConversationOptions{}), say("go"))
	if turn.Text != "hello" || turn.Reasoning != "thinking" {
		t.Errorf("turn = %+v", turn)
	}
}

func TestTheUserHasTheLastWord(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Answer(llmtest.Reply{}), llmtest.Say("hello"), llmtest.Fail(400, "", "no"),
		llmtest.Say("done"))
	talk := begin(t, mind(t, s, newer), computeruse.ConversationOptions{})
	next(t, talk, computeruse.Input{})
	next(t, talk, say("find cats"))
	check.Fails(t, check.Err(talk.Next(t.Context(), computeruse.Input{})), nil, "no")
	next(t, talk, computeruse.Input{}) // it was told already
	var told []string
	for _, c := range wire(t, s.Requests()[3]).Contents {
		for _, p := range c.Parts {
			if p.Text != "" {
				told = append(told, c.Role+": "+p.Text)
			}
		}
	}
	check.Diff(t, "conversation", told, []string{
		"user: Go on.", "user: find cats", "user: " + shot(0).Note(), "model: hello", "user: Go on.",
	})
}

func TestTheLastQuestionForbidsCalls(t *testing.T) {
	s := llmtest.NewGeminiServer(t, llmtest.Use("go_back", `{}`), llmtest.Say("I went back."))
	talk := begin(t, mind(t, s, newer), computeruse.ConversationOptions{MaxTokens: 99})
	turn := next(t, talk, say("go"))
	in := computeruse.Input{
		Final: true, MaxTokens: 50, Says: []string{"Answer now."},
		Outcomes: []computeruse.CallResult{outcome(turn.Calls[0])},
	}
	check.Equal(t, "text", next(t, talk, in).Text, "I went back.")
	first, last := wire(t, s.Requests()[0]), wire(t, s.Requests()[1])
	if first.ToolConfig != nil || last.ToolConfig == nil || last.ToolConfig.FunctionCallingConfig.Mode != "NONE" {
		t.Errorf("modes = %+v and %+v", first.ToolConfig, last.ToolConfig)
	}
	check.Diff(t, "tools", last.Tools, first.Tools)
	for i, want := range []int{99, 50} {
		check.Equal(t, "the longest answer", s.Requests()[i].MaxTokens, want)
	}
}

// Whatever is found as a memory is gone on with or refused, and then kept as it is.
func FuzzMemory(f *testing.F) {
	for _, memory := range []string{
		`{"dialect":"gemini generateContent 1","model":"gemini:gemini-3.5-flash","contents":[{"role":"user","parts":[{"text":"go"}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"click","args":{"x":1}},"thoughtSignature":"c2ln"}]}],` +
			`"pending":[{"id":"1","wire_id":"1","name":"click"}],"size":{"X":10,"Y":10}}`,
		`{"dialect":"gemini generateContent 1","model":"other","contents":[{"role":"model","parts":[{"thought":true,"text":"x"},{"functionResponse":{"parts":[null]}}]}]}`,
		`{"dialect":"gemini generateContent 1","contents":[{"role":"user","parts":[null]}]}`, `null`, `[]`,
	} {
		f.Add([]byte(memory))
	}
	m, err := vendor.New(vendor.Options{Key: "AIzaTest0123456789", Model: newer})
	check.Must(f, err)
	made, err := gemini.New(m)
	check.Must(f, err)
	f.Fuzz(func(t *testing.T, memory []byte) {
		talk, err := made.Begin(computeruse.ConversationOptions{Memory: memory})
		if err != nil || len(memory) == 0 {
			return
		}
		kept, err := talk.Memory()
		check.Must(t, err)
		again, err := made.Begin(computeruse.ConversationOptions{Memory: kept})
		if err != nil {
			t.Fatalf("%v for %s", err, kept)
		}
		if twice, err := again.Memory(); err != nil || string(twice) != string(kept) {
			t.Errorf("kept %s, then %s (%v)", kept, twice, err)
		}
	})
}
