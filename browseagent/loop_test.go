package browseagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

func TestATaskIsAskedActedAndAnswered(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), call("click", `{"ref":"e5"}`), say("It costs 39 €."))
	answer, steps := b.answer(t)
	if answer.Text != "It costs 39 €." || answer.Limit != "" || answer.Closed {
		t.Errorf("got answer %+v", answer)
	}
	check.Equal(t, "steps", labels(steps), `think; open shop.test; think; click "Buy"; think; answer`)
	done := acts(steps)
	if done[0].URL != "https://shop.test" || done[0].View == nil || done[0].Title != "Lumen" || done[0].Failed {
		t.Errorf("got first act %+v, want address, title and picture", done[0])
	}
	if got := steps[1].Usage; got.Calls != 1 || got.USD != 0.5 {
		t.Errorf("got usage %+v of the first thought", got)
	}
	checkAnswered(t, b.model.asked(t, -1).Messages)
}

func TestAnActionAndItsPictureShareASlot(t *testing.T) {
	var log []string
	b := newBench(call("open", `{"url":"shop.test"}`), call("click", `{"ref":"e5"}`), say("done"))
	b.browser.make = func() *page {
		noted := func(context.Context, map[string]any) ([]string, error) {
			log = append(log, "act")
			return nil, nil
		}
		return &page{
			state: home, on: map[string]func(context.Context, map[string]any) ([]string, error){
				"navigate": noted,
				"click":    noted,
			},
			shot: func(int) ([]byte, error) {
				log = append(log, "picture")
				return nil, nil
			},
		}
	}
	b.agent.Steps = func(context.Context) (end func(), err error) {
		log = append(log, "begin")
		return func() { log = append(log, "end") }, nil
	}
	b.answer(t)
	check.Equal(t, "log", strings.Join(log, " "), "begin act picture end begin act picture end")
	stopped := errors.New("stopped by Ada")
	b = newBench(call("open", `{"url":"shop.test"}`))
	b.agent.Steps = func(context.Context) (end func(), err error) { return nil, stopped }
	if _, err := b.run(t.Context()); !errors.Is(err, stopped) || b.browser.acts() > 0 {
		t.Errorf("got %v and %d acts, want the task to end with %v", err, b.browser.acts(), stopped)
	}
}

func TestTheModelIsToldWhatItNeeds(t *testing.T) {
	b := newBench(say("ok"))
	b.settings.Instructions = "Never buy."
	b.answer(t)
	req := b.model.asked(t, 0)
	for _, want := range []string{"UNTRUSTED", "Sunday, 1 March 2026", "the demo shop: " + shop, "Never buy."} {
		check.Contains(t, req.System, want)
	}
	if len(req.Tools) != 23 || req.EndUser == "" || strings.Contains(req.EndUser, "42") || req.MaxTokens != 4096 {
		t.Errorf("got %d tools, end user %q, %d tokens", len(req.Tools), req.EndUser, req.MaxTokens)
	}
	for _, tool := range req.Tools {
		var schema struct {
			Type       string
			Properties map[string]any
			Additional *bool `json:"additionalProperties"`
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Type != "object" || schema.Properties == nil ||
			schema.Additional == nil || *schema.Additional {
			t.Errorf("schema of %s is not a closed object: %s", tool.Name, tool.Schema)
		}
	}
}

func TestWhatTheModelSaysBesideItsCallsIsShown(t *testing.T) {
	b := newBench(reply(llm.StopTools, llm.Part{Text: "Let me look."},
		llm.Part{Call: &llm.ToolCall{ID: "a", Name: "browser_snapshot", Input: json.RawMessage(`{}`)}}), say("ok"))
	_, steps := b.answer(t)
	if steps[1].Text != "Let me look." {
		t.Errorf("got %q, want the remark", steps[1].Text)
	}
	check.Equal(t, "thought before the answer", steps[len(steps)-2].Text, "")
}

func TestTheStepLimitLeavesOneCallForAnAnswer(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), call("scroll", `{"direction":"down"}`), say("So far: nothing."))
	b.task.MaxSteps = 2
	answer, _ := b.answer(t)
	if answer.Limit != "step limit of 2" || answer.Text != "So far: nothing." {
		t.Errorf("got %q with limit %q", answer.Text, answer.Limit)
	}
	last := b.model.asked(t, 2)
	if last.Tools != nil || !strings.Contains(last.Messages[len(last.Messages)-1].Text(), "step limit of 2") {
		t.Errorf("the last request has %d tools and ends with %q", len(last.Tools),
			last.Messages[len(last.Messages)-1].Text())
	}
}

func TestTheStepLimitCountsEachTaskAnew(t *testing.T) {
	b := newBench()
	b.task.MaxSteps = 2
	for range 3 {
		b.script(call("open", `{"url":"shop.test"}`), say("done"))
		if answer, _ := b.answer(t); answer.Limit != "" {
			t.Fatalf("got limit %q in a fresh task", answer.Limit)
		}
	}
}

func TestCallsWithoutToolsAreNotCarriedOut(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`))
	b.task.MaxSteps = 1
	answer, steps := b.answer(t)
	if len(acts(steps)) != 1 || answer.Text == "" {
		t.Errorf("got %d acts and answer %q, want one act and some answer", len(acts(steps)), answer.Text)
	}
	b.script(say("fine"))
	b.answer(t)
	checkAnswered(t, b.model.asked(t, 0).Messages)
}

func TestClosingLeavesExactlyOneCall(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), call("close", `{}`, "click", `{"ref":"e5"}`), say("Bye."))
	b.task.MaxSteps = 2 // closing happens in the last one
	answer, steps := b.answer(t)
	if !answer.Closed || answer.Text != "Bye." || answer.Limit != "" {
		t.Errorf("got %+v, want a closed answer without a limit", answer)
	}
	if len(b.model.requests) != 3 || len(acts(steps)) != 2 || len(b.browser.closed) != 1 {
		t.Errorf("asked %d times, %d acts, closed %q", len(b.model.requests), len(acts(steps)), b.browser.closed)
	}
	rs := results(b.model.asked(t, 2).Messages)
	check.Equal(t, "answer to the click", rs[len(rs)-1].Text, "not executed: the browser was closed")
}

func TestClosingWithoutLastWordsStillAnswers(t *testing.T) {
	b := newBench(reply(llm.StopTools, llm.Part{Text: "39 €."},
		llm.Part{Call: &llm.ToolCall{ID: "a", Name: "browser_close", Input: json.RawMessage(`{}`)}}), reply(llm.StopEnd))
	if answer, _ := b.answer(t); answer.Text != "39 €." || !answer.Closed {
		t.Errorf("got %+v, want what was said while closing", answer)
	}
}

func TestAnEmptyReplyIsNotAnAnswer(t *testing.T) {
	b := newBench(reply(llm.StopEnd), say("Sorry, here it is."))
	if answer, _ := b.answer(t); answer.Text != "Sorry, here it is." {
		t.Errorf("got %q", answer.Text)
	}
	b.script(reply(llm.StopEnd))
	check.Fails(t, check.Err(b.run(t.Context())), nil, "3 replies in a row")
}

func TestUnusableCallsGoBackAndThenEnd(t *testing.T) {
	bad := reply(llm.StopTools,
		llm.Part{Call: &llm.ToolCall{ID: "a", Name: "browser_click", Input: json.RawMessage(`{}`), Malformed: `{"ref":`}})
	b := newBench(bad, call("fly", `{}`), call("click", `{}`))
	steps, err := b.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "test:model") {
		t.Fatalf("got error %v, want one that names the model", err)
	}
	if len(b.browser.opened) != 0 {
		t.Error("a browser was opened for calls that mean nothing")
	}
	for i, want := range []string{"not a JSON object", "no tool", "browser_click requires ref"} {
		if s := acts(steps)[i]; !s.Failed || !strings.Contains(s.Text, want) {
			t.Errorf("act %d: failed %v, %q; want %q", i, s.Failed, s.Text, want)
		}
	}
	b.script(call("click", `{}`), call("open", `{"url":"shop.test"}`), call("click", `{}`), call("click", `{}`),
		say("fine"))
	if answer, _ := b.answer(t); answer.Text != "fine" {
		t.Errorf("got %q: a usable call in between starts the count anew", answer.Text)
	}
}

func TestInputsAreCheckedFieldByField(t *testing.T) {
	for _, tt := range []struct{ tool, input, want string }{
		{"open", `{"url":" "}`, "browser_open requires url"},
		{"open", `{"url":[7]}`, "browser_open url must be a string"},
		{"open", `{"url":"x","uri":"y"}`, `browser_open has no field "uri": it takes url`},
		{"click", `{"ref":"e1","button":"foot"}`, `browser_click button "foot": use left, right or middle`},
		{"click", `{"ref":null}`, "browser_click requires ref"},
		{"click", `[]`, "not a JSON object"},
		{"type", `{"ref":"e1"}`, "browser_type requires text"},
		{"type", `{"ref":"e1","text":"x","submit":"perhaps"}`, "browser_type submit must be true or false"},
		{"select", `{"ref":"e1","values":[]}`, "browser_select requires values"},
		{"select", `{"ref":"e1","values":[{}]}`, "browser_select values must be a list of strings"},
		{"scroll", `{"direction":"down","pixels":1.5}`, "browser_scroll pixels must be a non-negative integer"},
		{"wait", `{}`, "browser_wait requires at least one of timeMs, text, textGone, url, loadState"},
		{"wait", `{"timeMs":60000}`, "browser_wait timeMs exceeds maximum of 30000"},
		{"tabs", `{"action":"select"}`, "browser_tabs requires tab"},
	} {
		b := newBench(call(tt.tool, tt.input), say("ok"))
		_, steps := b.answer(t)
		if s := acts(steps)[0]; !s.Failed || !strings.Contains(s.Text, tt.want) {
			t.Errorf("%s %s: got failed %v, %q; want %q", tt.tool, tt.input, s.Failed, s.Text, tt.want)
		}
		if rs := results(b.model.asked(t, 1).Messages); !rs[0].IsError {
			t.Errorf("%s %s: the model was not told that it failed", tt.tool, tt.input)
		}
	}
}

func TestRepeatingOneselfIsToldAndThenEnds(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), call("click", `{"ref":"e5"}`))
	b.task.MaxSteps = 30
	answer, steps := b.answer(t)
	check.Equal(t, "limit", answer.Limit, "the same 5 times without effect")
	if n := len(acts(steps)); n != 6 {
		t.Errorf("got %d acts, want one and five clicks", n)
	}
	rs := results(b.model.asked(t, -1).Messages)
	for i, want := range []bool{false, false, false, true, true, true} {
		check.Equal(t, fmt.Sprintf("result %d warns", i), strings.Contains(rs[i].Text, "same result"), want)
	}
}

func TestGoingInCirclesEndsToo(t *testing.T) {
	var circle []func(context.Context, llm.Request) (llm.Reply, error)
	for range 10 {
		circle = append(circle, call("click", `{"ref":"e5"}`), call("hover", `{"ref":"e3"}`))
	}
	b := newBench(circle...)
	b.task.MaxSteps = 30
	if answer, steps := b.answer(t); answer.Limit == "" || len(acts(steps)) > 12 {
		t.Errorf("got limit %q after %d acts", answer.Limit, len(acts(steps)))
	}
}

func TestGoingBackToAListAgainAndAgainIsNoCircle(t *testing.T) {
	var walk []func(context.Context, llm.Request) (llm.Reply, error)
	for i := range 6 {
		walk = append(walk, call("click", fmt.Sprintf(`{"ref":"e%d"}`, i)), call("back", `{}`))
	}
	b := newBench(append(walk, say("done"))...)
	b.task.MaxSteps = 30
	if answer, _ := b.answer(t); answer.Limit != "" {
		t.Errorf("got limit %q", answer.Limit)
	}
}

func TestAModelErrorEndsTheTaskAndLeavesTheSession(t *testing.T) {
	broken := &llm.Error{Kind: llm.ErrRateLimited, Model: "test:model", Message: "too many requests"}
	b := newBench(call("open", `{"url":"shop.test"}`), func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{}, broken
	})
	if _, err := b.run(t.Context()); !errors.Is(err, broken) {
		t.Fatalf("got error %v, want that of the model", err)
	}
	b.script(say("still here"))
	b.task.Prompt = "go on"
	b.answer(t)
	ms := b.model.asked(t, 0).Messages
	checkAnswered(t, ms)
	if got := ms[len(ms)-1].Text(); got != "go on" {
		t.Errorf("the conversation ends with %q, want the new prompt", got)
	}
}

func TestAModelThatFallsSilentRunsIntoTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			<-time.After(5 * time.Second)
			llm.ReportProgress(ctx)
			<-ctx.Done()
			return llm.Reply{}, context.Cause(ctx)
		})
		b.settings.StepTimeout = 7 * time.Second
		begun := time.Now()
		_, err := b.run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "no answer within 7 seconds") || time.Since(begun) != 12*time.Second {
			t.Errorf("got error %v after %s", err, time.Since(begun))
		}
	})
}

func TestAModelThatCannotUseToolsIsRefused(t *testing.T) {
	b := newBench(say("x"))
	b.model.caps.Tools = false
	check.Fails(t, check.Err(b.run(t.Context())), nil, "cannot use tools")
	b.agent.Model = func(context.Context, string) (llm.Model, error) { return nil, errors.New("no key") }
	if _, err := b.run(t.Context()); err == nil || err.Error() != "no key" {
		t.Errorf("got error %v", err)
	}
}

func TestRefusedAndCutOffRepliesAreAnswers(t *testing.T) {
	for _, tt := range []struct {
		reply       func(context.Context, llm.Request) (llm.Reply, error)
		text, limit string
		failed      bool
	}{
		{reply(llm.StopRefused), "The model declined to go on.", "", true},
		{reply(llm.StopRefused, llm.Part{Text: "I will not."}), "I will not.", "", true},
		{reply(llm.StopFilter), "The provider of the model withheld the answer.", "", true},
		{reply(llm.StopLength, llm.Part{Text: "It is"}), "It is", "length limit of one answer", false},
		{say("It is"), "It is", "", false},
	} {
		b := newBench(tt.reply)
		if answer, _ := b.answer(t); answer.Text != tt.text || answer.Limit != tt.limit || answer.Failed != tt.failed {
			t.Errorf("got %q with limit %q, failed %v, want %q with %q, %v", answer.Text, answer.Limit, answer.Failed, tt.text,
				tt.limit, tt.failed)
		}
	}
}

func TestTooManyCallsInOneReplyAreNotExecuted(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, "click", fmt.Sprintf(`{"ref":"e%d"}`, i))
	}
	b := newBench(call(many...), say("ok"))
	_, steps := b.answer(t)
	check.Equal(t, "acts", len(acts(steps)), 10)
	checkAnswered(t, b.model.asked(t, 1).Messages)
}

func TestASessionWorksOneTaskAtATime(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), say("ok"))
	var refusals []error
	for step, err := range b.agent.Run(t.Context(), b.session, b.task) {
		check.Must(t, err)
		if step.Kind != sessions.StepAct || step.Phase != sessions.PhaseBegun {
			continue
		}
		for _, err := range b.agent.Run(t.Context(), b.session, b.task) {
			refusals = append(refusals, err)
		}
	}
	if len(refusals) != 1 || refusals[0] == nil || !strings.Contains(refusals[0].Error(), "busy") {
		t.Errorf("a second task at once ended with %v, want one refusal", refusals)
	}
}

func TestWorkThatIsFinishedAtTheStepLimitIsDone(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), say("It costs 5 €.\n[finished]"))
	b.task.MaxSteps = 1
	if answer, _ := b.answer(t); answer.Limit != "" || answer.Text != "It costs 5 €." {
		t.Errorf("got %q with limit %q", answer.Text, answer.Limit)
	}
}
