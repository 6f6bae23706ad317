package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"clank/computeruse"
	"clank/computeruse/anthropic"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
)

func TestCallsAreAnsweredInOrderEachForWhatItCameTo(t *testing.T) {
	server := llmtest.NewAnthropicServer(t,
		llmtest.Answer(use("computer.left_click", `{"coordinate":[1,2]}`, "read_text", `{}`, "computer.zoom",
			`{"region":[0,0,5,5]}`,
			"computer.cursor_position", `{}`, "computer.type", `{"text":"x"}`, "computer.key", `{"text":"Return"}`)),
		llmtest.Say("done"))
	talk := begin(t, open(t, server, "claude-opus-5-5", ""), nil)
	turn := next(t, talk, task("go"))
	if len(turn.Calls) != 5 || len(turn.Tools) != 1 || turn.Stop != llm.StopTools {
		t.Fatalf("turn = %+v", turn)
	}
	enlarged := picture(20, 20)
	in := computeruse.Input{
		Says: []string{"and hurry"},
		Outcomes: []computeruse.CallResult{
			{CallID: turn.Calls[0].ID},
			{CallID: turn.Calls[1].ID, Image: &enlarged},
			{CallID: turn.Calls[2].ID, Text: "the mouse is at 1,2"},
			{CallID: turn.Calls[3].ID, Err: "nothing has the focus", Text: "notes"},
			{CallID: turn.Calls[4].ID, Skipped: true},
		},
		Results: []llm.ToolResult{{ID: turn.Tools[0].ID, Text: "the page says hi"}},
		Shot:    shot(2),
	}
	last := next(t, talk, in)
	if last.Text != "done" || len(last.Calls)+len(last.Tools) != 0 {
		t.Errorf("last turn = %+v", last)
	}
	parts := server.Requests()[1].Messages[2].Parts
	result := func(i int, text string, failed bool, images ...llm.Image) {
		t.Helper()
		check.Diff(t, fmt.Sprintf("result %d", i), parts[i].Result,
			&llm.ToolResult{ID: parts[i].Result.ID, Text: text, IsError: failed, Images: images})
	}
	result(0, "Done.", false)
	result(1, "the page says hi", false)
	result(2, "Done.", false, enlarged)
	result(3, "the mouse is at 1,2\nThe screen now, at http://example.test/:", false, in.Shot.Image)
	result(4, "nothing has the focus\nnotes", true)
	result(5, "Not executed: an earlier computer action in this turn failed.", true)
	if parts[6].Text != "and hurry" || len(parts) != 7 {
		t.Errorf("after the results: %+v", parts[6:])
	}
}

func TestThePictureStandsAloneWhereNoActionWasDone(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(use("computer.left_click", `{"coordinate":[1,2]}`)),
		llmtest.Say("done"))
	talk := begin(t, open(t, server, "claude-opus-5-5", ""), nil)
	turn := next(t, talk, task("go"))
	next(t, talk, computeruse.Input{
		Outcomes: []computeruse.CallResult{{CallID: turn.Calls[0].ID, Err: "no"}},
		Shot:     shot(2),
	})
	parts := server.Requests()[1].Messages[2].Parts
	if len(parts) != 3 || !parts[0].Result.IsError || parts[2].Image == nil {
		t.Errorf("parts = %+v", parts)
	}
	check.Contains(t, string(server.Requests()[1].Body), `"oversized_image":"error"`)
}

func TestThinkingAndOldPicturesInALongTalk(t *testing.T) {
	server := llmtest.NewAnthropicServer(t) // refuses thinking that is missing or changed
	server.SetFallback(func(r llmtest.Request) llmtest.Reply {
		n := len(r.Messages)
		reply := use("computer.wait", `{"duration":1}`, "computer.screenshot", `{}`)
		reply.Reasoning = &llmtest.Reasoning{Summary: "step", Encrypted: strings.Repeat("s", n)}
		if n%4 == 1 {
			reply.Reasoning = &llmtest.Reasoning{Encrypted: strings.Repeat("r", n)}
		}
		return reply
	})
	mind := open(t, server, "claude-opus-5-5", "")
	talk, in := begin(t, mind, nil), task("go")
	for step := range 8 {
		turn := next(t, talk, in)
		check.Equal(t, fmt.Sprintf("step %d: reasoning", step), turn.Reasoning,
			map[bool]string{true: "", false: "step"}[step%2 == 0])
		in = done(turn, step+2)
	}
	for step, r := range server.Requests() {
		want := []int{1000 + step - 1, 1000 + step, 1000 + step + 1}[max(0, 2-step):]
		check.Diff(t, fmt.Sprintf("step %d: pictures", step), widths(t, r), want)
	}
	memory, err := talk.Memory()
	check.Must(t, err)
	talk, in = begin(t, mind, memory), task("go on")
	for step := range 5 {
		in = done(next(t, talk, in), step+2)
	}
	requests := server.Requests()
	for i, r := range requests[:len(requests)-1] {
		if i != 7 { // its memory is without pictures
			marks(t, i, r.Body, requests[i+1].Body)
		}
	}
}

const mark = `,"cache_control":{"type":"ephemeral"}`

// marks checks that the cache keeps all that the next request repeats of a conversation, up to a message of the user.
func marks(t *testing.T, step int, body, next []byte) {
	t.Helper()
	var is, becomes struct{ Messages []json.RawMessage }
	check.Must(t, errors.Join(json.Unmarshal(body, &is), json.Unmarshal(next, &becomes)))
	marked, stable, same := -1, -1, true
	for i, m := range is.Messages {
		raw := string(m)
		same = same && strings.ReplaceAll(raw, mark, "") == strings.ReplaceAll(string(becomes.Messages[i]), mark, "")
		if strings.Contains(raw, mark) {
			marked = i
		}
		if same && strings.Contains(raw, `"role":"user"`) {
			stable = i
		}
	}
	check.Equal(t, fmt.Sprintf("step %d: the message up to which the cache keeps the conversation", step), marked, stable)
}

func TestPicturesThatTheModelHasNotSeenAreAllSent(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(use("computer.zoom", `{"region":[0,0,5,5]}`, "computer.zoom",
		`{"region":[0,0,6,6]}`, "computer.zoom", `{"region":[0,0,7,7]}`, "computer.zoom", `{"region":[0,0,8,8]}`)),
		llmtest.Answer(use("computer.screenshot", `{}`)), llmtest.Say("done"))
	talk := begin(t, open(t, server, "claude-opus-5-5", ""), nil)
	in := done(next(t, talk, task("go")), 2)
	for i := range in.Outcomes {
		enlarged := picture(20+i, 8)
		in.Outcomes[i].Image = &enlarged
	}
	next(t, talk, done(next(t, talk, in), 3))
	for i, want := range [][]int{{1001}, {20, 21, 22, 23, 1002}, {23, 1002, 1003}} {
		check.Diff(t, fmt.Sprintf("request %d: pictures", i), widths(t, server.Requests()[i]), want)
	}
}

// widths returns the widths of the pictures in a request.
func widths(t *testing.T, r llmtest.Request) (all []int) {
	t.Helper()
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Image != nil {
				all = append(all, width(t, *p.Image))
			}
			if p.Result != nil {
				for _, i := range p.Result.Images {
					all = append(all, width(t, i))
				}
			}
		}
	}
	return all
}

func width(t *testing.T, i llm.Image) int {
	t.Helper()
	c, _, err := image.DecodeConfig(bytes.NewReader(i.Data))
	check.Must(t, err)
	return c.Width
}

func TestATalkGoesOnFromItsMemoryWithoutPictures(t *testing.T) {
	for name, stop := range map[string]bool{"after the answer": false, "with calls open": true} {
		t.Run(name, func(t *testing.T) {
			thought := &llmtest.Reasoning{Summary: "aha <b>", Encrypted: "sig=="}
			click := use("computer.left_click", `{"coordinate":[1,2]}`)
			click.Reasoning = thought
			server := llmtest.NewAnthropicServer(t, llmtest.Answer(click), llmtest.Say("first done"), llmtest.Say("second done"))
			mind := open(t, server, "claude-opus-5-5", "")
			talk := begin(t, mind, nil)
			turn := next(t, talk, task("the first one"))
			if !stop {
				next(t, talk, done(turn, 2))
			}
			memory, err := talk.Memory()
			check.Must(t, err)
			if bytes.Contains(memory, []byte("base64")) {
				t.Error("the memory holds pictures")
			}
			turn = next(t, begin(t, mind, memory), computeruse.Input{Says: []string{"now the second one"}, Shot: shot(3)})
			if turn.Text == "" {
				t.Errorf("turn = %+v", turn)
			}
			requests := server.Requests()
			last := requests[len(requests)-1]
			check.Equal(t, "the conversation begins with", last.Messages[0].Parts[0].Text, "the first one")
			check.Contains(t, last.LastText(), "The screen now")
		})
	}
}

func TestAnotherModelGetsOnlyTheWordsOfAMemory(t *testing.T) {
	const first = "user: the first one\n\nThe screen now, at http://example.test/:\n\n(an earlier picture)"
	clicked := []string{first, "assistant: I click", "user: hurry"}
	for name, tt := range map[string]struct {
		model, said string
		tools       anthropic.Tools
		want        []string
	}{
		"an older one": {"claude-opus-4-6", "I click", "", clicked},
		"as new a one": {"claude-sonnet-5-5", "I click", "", clicked},
		"other tools":  {"claude-opus-5-5", "I click", anthropic.ToolsBrowser, clicked},
		"no words":     {"claude-opus-4-6", "", "", []string{first + "\n\nhurry"}},
	} {
		click := use("computer.left_click", `{"coordinate":[1,2]}`)
		click.Text, click.Reasoning = tt.said, &llmtest.Reasoning{Summary: "aha", Encrypted: "sig"}
		server := llmtest.NewAnthropicServer(t, llmtest.Answer(click), llmtest.Say("first done"), llmtest.Say("hello"))
		talk := begin(t, open(t, server, "claude-opus-5-5", ""), nil)
		in := done(next(t, talk, task("the first one")), 2)
		in.Says = []string{"hurry"}
		next(t, talk, in)
		memory, err := talk.Memory()
		check.Must(t, err)
		next(t, begin(t, open(t, server, tt.model, tt.tools), memory), computeruse.Input{Says: []string{"go on"}})
		var roles []string
		for _, m := range server.Requests()[2].Messages {
			roles = append(roles, string(m.Role)+": "+m.Text())
			if slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Call != nil || p.Result != nil }) {
				t.Errorf("%s: a call is sent: %+v", name, m.Parts)
			}
		}
		check.Diff(t, name, roles, slices.Concat(tt.want, []string{"assistant: first done", "user: go on"}))
	}
}

func TestMemoriesThatAreNoneAreRefused(t *testing.T) {
	mind := open(t, llmtest.NewAnthropicServer(t), "claude-opus-5-5", "")
	for _, memory := range []string{
		`[]`, `{"messages":[{"role":"system","content":[]}]}`,
		`{"messages":[{"role":"user","content":["x"]}]}`,
	} {
		check.Fails(t, check.Err(mind.Begin(computeruse.ConversationOptions{Memory: []byte(memory)})),
			nil, "read stored conversation: ")
	}
}

func TestWhatWasToldInVainIsToldAgain(t *testing.T) {
	server := llmtest.NewAnthropicServer(t, llmtest.Answer(use("computer.wait", `{"duration":1}`)),
		llmtest.SayWithFault("one two", llmtest.Fault{At: 4, Cut: llmtest.CutClose}), llmtest.Say("done"))
	talk := begin(t, open(t, server, "claude-opus-5-5", ""), nil)
	turn := next(t, talk, task("go"))
	var told *llm.Error
	if _, err := talk.Next(t.Context(), done(turn, 2)); !errors.As(err, &told) {
		t.Fatalf("err = %v, want an *llm.Error", err)
	}
	check.Equal(t, "text", next(t, talk, computeruse.Input{Says: []string{"again"}, Shot: shot(3)}).Text, "done")
	parts := server.Requests()[2].Messages[2].Parts
	if len(parts) != 4 || parts[0].Result == nil || parts[0].Result.IsError || parts[1].Text != "again" ||
		parts[3].Image == nil {
		t.Errorf("told: %+v", parts)
	}
}

func TestAnswersWithoutCallsAreTheLast(t *testing.T) {
	for name, tt := range map[string]struct {
		reply llmtest.Reply
		text  string
		stop  llm.StopReason
	}{
		"text":         {llmtest.Reply{Text: "all done"}, "all done", llm.StopEnd},
		"nothing":      {llmtest.Reply{}, "", llm.StopEnd},
		"only thought": {llmtest.Reply{Reasoning: &llmtest.Reasoning{Summary: "hm", Encrypted: "s"}}, "", llm.StopEnd},
		"refusal": {
			llmtest.Reply{Refusal: "harm", Calls: []llmtest.Call{{Name: "computer.screenshot"}}},
			"The model declined to answer: harm", llm.StopRefused,
		},
		"too long": {llmtest.Reply{Text: "well", Finish: "length"}, "well", llm.StopLength},
	} {
		t.Run(name, func(t *testing.T) {
			server := llmtest.NewAnthropicServer(t, llmtest.Answer(tt.reply), llmtest.Say("hello again"))
			talk := begin(t, open(t, server, "claude-opus-5-5", ""), nil)
			turn := next(t, talk, task("go"))
			if turn.Text != tt.text || turn.Stop != tt.stop || len(turn.Calls)+len(turn.Tools) != 0 {
				t.Errorf("turn = %+v, want %q, %s", turn, tt.text, tt.stop)
			}
			check.Equal(t, "afterwards", next(t, talk, computeruse.Input{Says: []string{"and now?"}}).Text,
				"hello again")
		})
	}
}

func TestPicturesFitTheModelAndKeepTheirShape(t *testing.T) {
	server := llmtest.NewAnthropicServer(t)
	for _, model := range []string{"claude-opus-5-5", "claude-opus-4-7", "claude-opus-4-6", "claude-haiku-4-5"} {
		mind := open(t, server, model, "")
		edge, pixels := llmtest.AnthropicImageLimits(model)
		for _, screen := range []image.Point{
			{X: 1, Y: 1},
			{X: 800, Y: 600},
			{X: 1920, Y: 1080},
			{X: 3840, Y: 2160},
			{X: 1080, Y: 9000},
			{X: 5000, Y: 5000},
			{X: 20000, Y: 3},
			{X: 1, Y: 20000},
			{X: 20000, Y: 1},
		} {
			got := mind.Fit(screen)
			if got.X > screen.X || got.Y > screen.Y || got.X < 1 || got.Y < 1 || max(got.X, got.Y) > edge ||
				got.X*got.Y > pixels {
				t.Errorf("%s: Fit(%v) = %v", model, screen, got)
			}
			if off := got.X*screen.Y - got.Y*screen.X; max(off, -off) > 2*max(screen.X, screen.Y) && got.Y > 1 {
				t.Errorf("%s: Fit(%v) = %v is of another shape", model, screen, got)
			}
		}
		for _, screen := range []image.Point{{X: 1024, Y: 768}, {X: 0, Y: 5}, {X: 5, Y: 0}} {
			check.Equal(t, model+": a small screen becomes", mind.Fit(screen), screen)
		}
	}
}

func FuzzMemoriesAreGoneOnWithOrRefused(f *testing.F) {
	f.Add([]byte(`{"tools":"computer_toolset_20260801","owner":"","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}]}`))
	server := llmtest.OpenAnthropic()
	f.Cleanup(server.Close)
	mind, err := tryOpen(server, "claude-opus-5-5", anthropic.ToolsAuto)
	check.Must(f, err)
	f.Fuzz(func(t *testing.T, memory []byte) {
		talk, err := mind.Begin(computeruse.ConversationOptions{Memory: memory})
		if err != nil {
			return
		}
		again, err := talk.Memory()
		if err != nil {
			t.Fatalf("memory cannot be stored again: %v", err)
		}
		if _, err := mind.Begin(computeruse.ConversationOptions{Memory: again}); err != nil {
			t.Errorf("memory cannot be read again: %v", err)
		}
	})
}

func TestAtTheEndAnAnswerInWordsIsAskedForWhereTheModelIsKnown(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-opus-5-5": true, "claude-sonnet-4-6": true,
		"somebodys-model": false,
	} {
		tools := anthropic.Tools("")
		if !want {
			tools = anthropic.ToolsComputer
		}
		server := llmtest.NewAnthropicServer(t, llmtest.Answer(use("read_text", `{}`)), llmtest.Say("done"))
		talk := begin(t, open(t, server, model, tools), nil)
		in := done(next(t, talk, task("go")), 2)
		in.Final, in.MaxTokens, in.Says = true, 50, []string{"Answer now."}
		if turn := next(t, talk, in); turn.Text != "done" {
			t.Errorf("%s: the last turn is %+v", model, turn)
		}
		for i, asked := range server.Requests() {
			check.Equal(t, fmt.Sprintf("%s: the longest answer to question %d", model, i), asked.MaxTokens, []int{4000, 50}[i])
			check.Equal(t, fmt.Sprintf("%s: question %d forbids calls", model, i),
				strings.Contains(string(asked.Body), `"tool_choice":{"type":"none"}`), want && i == 1)
		}
	}
}
