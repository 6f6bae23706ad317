package browseagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/llm"
	"clank/sessions"
)

// hang blocks until its context ends.
func hang(ctx context.Context, _ map[string]any) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func withPage(b *bench, p *page) *bench {
	b.browser.make = func() *page { return p }
	return b
}

func TestAStopInTheMiddleKeepsTheConversationWhole(t *testing.T) {
	stopped := errors.New("stopped by @ada")
	ctx, stop := context.WithCancelCause(t.Context())
	b := newBench(call("open", `{"url":"shop.test"}`, "click", `{"ref":"e5"}`, "hover", `{"ref":"e3"}`))
	withPage(b, &page{on: map[string]func(context.Context, map[string]any) ([]string, error){
		"click": func(ctx context.Context, args map[string]any) ([]string, error) {
			stop(stopped)
			return hang(ctx, args)
		},
	}})
	steps, err := b.run(ctx)
	if !errors.Is(err, stopped) {
		t.Fatalf("got error %v, want the cause", err)
	}
	if done := acts(steps); len(done) != 1 {
		t.Errorf("got %d done acts, want the first alone", len(done))
	}
	if got := b.page(t).done(); len(got) != 2 {
		t.Errorf("the page got %q, want nothing after the click", got)
	}

	b.script(say("ok"))
	b.task.Prompt = "now click the second one"
	b.answer(t)
	ms := b.model.asked(t, 0).Messages
	checkAnswered(t, ms)
	rs := results(ms)
	for _, r := range rs[1:] {
		if r.Text != "interrupted: stopped by @ada" || !r.IsError {
			t.Errorf("got result %q, want that it was interrupted", r.Text)
		}
	}
}

func TestAStopWhileTheModelThinksIsNoAct(t *testing.T) {
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	b := newBench(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		stop(stopped)
		return call("open", `{"url":"shop.test"}`)(ctx, req)
	})
	b.model.deaf = true
	steps, err := b.run(ctx)
	if !errors.Is(err, stopped) || len(steps) != 1 || len(b.browser.opened) != 0 {
		t.Errorf("got error %v, %d steps, opened %q; want the cause after one step", err, len(steps), b.browser.opened)
	}
}

func TestClosingASessionEndsItsTask(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`))
	var err error
	for step, e := range b.agent.Run(t.Context(), b.session, b.task) {
		if e != nil {
			err = e
			break
		}
		if step.Kind == sessions.StepAct && step.Phase == sessions.PhaseBegun {
			if err := b.agent.Close(t.Context(), b.session.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err == nil || err.Error() != "the session was closed" || len(b.browser.opened) != 0 {
		t.Errorf("got error %v and opened %q, want no page after the end", err, b.browser.opened)
	}
}

func TestAnActThatTakesTooLongFailsAndTheModelGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(call("open", `{"url":"shop.test"}`), call("click", `{"ref":"e5"}`), say("It does not answer."))
		b.settings.StepTimeout = 5 * time.Second
		withPage(b, &page{on: map[string]func(context.Context, map[string]any) ([]string, error){"click": hang}})
		_, steps := b.answer(t)
		if s := acts(steps)[1]; !s.Failed || s.Text != "no result within 5s" {
			t.Errorf("got %+v, want that there was no result", s)
		}
		if rs := results(b.model.asked(t, 2).Messages); !strings.Contains(rs[1].Text, "page changes: none") {
			t.Errorf("the model reads %q, want the page as it is after the failure too", rs[1].Text)
		}
	})
}

func TestAWaitMayTakeLongerThanAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(call("wait", `{"timeMs":20000}`), say("ok"))
		b.settings.StepTimeout = 5 * time.Second
		withPage(b, &page{on: map[string]func(context.Context, map[string]any) ([]string, error){
			"wait": func(ctx context.Context, _ map[string]any) ([]string, error) {
				select {
				case <-time.After(20 * time.Second):
					return nil, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
		}})
		if _, steps := b.answer(t); acts(steps)[0].Failed {
			t.Errorf("got %+v, want a wait of 20 seconds", acts(steps)[0])
		}
	})
}

func TestABrowserThatCannotBeHadEndsTheTask(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`))
	b.browser.open = func(context.Context, string, string) error { return errors.New("no Chromium found") }
	if _, err := b.run(t.Context()); err == nil || err.Error() != "open the browser: no Chromium found" {
		t.Errorf("got error %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(call("open", `{"url":"shop.test"}`))
		b.browser.open = func(ctx context.Context, _, _ string) error { _, err := hang(ctx, nil); return err }
		if _, err := b.run(t.Context()); err == nil || !strings.Contains(err.Error(), "did not open in time") {
			t.Errorf("got error %v", err)
		}
	})
}

func TestALaterRunGoesOnFromMemory(t *testing.T) {
	opaque := llm.Part{Opaque: &llm.Opaque{Owner: "test", Data: json.RawMessage(`{"sig":"x"}`)}}
	b := newBench(
		reply(llm.StopTools, opaque, llm.Part{Call: &llm.ToolCall{ID: "a", Name: "browser_open", Input: json.RawMessage(`{"url":"http://shop.test/"}`)}}),
		call("screenshot", `{}`), say("done"))
	b.answer(t)
	if strings.Contains(string(b.session.Memory), "media_type") {
		t.Error("the memory holds pictures")
	}
	if err := b.agent.Close(t.Context(), b.session.ID); err != nil {
		t.Fatal(err)
	}

	b.script(call("click", `{"ref":"e5"}`), say("ok"))
	b.task.Prompt = "buy it"
	_, steps := b.answer(t)
	ms := b.model.asked(t, 0).Messages
	checkAnswered(t, ms)
	if ms[0].Text() != "find a lamp" || ms[1].Parts[0].Opaque == nil || string(ms[1].Parts[0].Opaque.Data) != `{"sig":"x"}` {
		t.Errorf("got %+v, want the conversation with its opaque part", ms[:2])
	}
	if got := b.browser.opened; len(got) != 2 || got[1] != shop {
		t.Errorf("opened %q, want the page where it was", got)
	}
	if !strings.Contains(labels(steps), "opened again at "+shop) {
		t.Errorf("got steps %s, want a notice", labels(steps))
	}
	rs := results(b.model.asked(t, 1).Messages)
	if got := rs[len(rs)-1].Text; !strings.Contains(got, "note: the page had been closed") || !strings.Contains(got, "\npage:\n") {
		t.Errorf("the model reads %q, want a note and the whole page", got)
	}
}

func TestAMemoryFromTheMiddleOfATaskIsSettled(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`, "click", `{"ref":"e5"}`), say("x"))
	for step, err := range b.agent.Run(t.Context(), b.session, b.task) {
		if err != nil {
			t.Fatal(err)
		}
		if step.Memory != nil {
			b.session.Memory = step.Memory
		}
		if step.Kind == sessions.StepAct && step.Phase == sessions.PhaseDone {
			break
		}
	}
	if err := b.agent.Close(t.Context(), b.session.ID); err != nil {
		t.Fatal(err)
	}
	b.script(say("ok"))
	b.answer(t)
	ms := b.model.asked(t, 0).Messages
	checkAnswered(t, ms)
	if rs := results(ms); rs[1].Text != "interrupted: the program ended" {
		t.Errorf("got %q", rs[1].Text)
	}
}

func TestAnUnreadableMemoryIsToldAndLeftOut(t *testing.T) {
	for _, memory := range []string{
		`{"version":99}`, `[]`, `{"version":1,"entries":[{"role":"king"}]}`,
		`{"version":1,"entries":[{"role":"user","parts":[{"text":"x"}],"bulk":[{"part":3}]}]}`,
	} {
		b := newBench(say("ok"))
		b.session.Memory = json.RawMessage(memory)
		_, steps := b.answer(t)
		if steps[0].Kind != sessions.StepNotice || len(b.model.asked(t, 0).Messages) != 1 {
			t.Errorf("%s: got steps %s, want a notice and an empty conversation", memory, labels(steps))
		}
	}
}

func TestAPageThatCannotBeReopenedIsReplacedByAnEmptyOne(t *testing.T) {
	b := newBench(call("snapshot", `{}`), say("ok"))
	b.session.URL = "http://gone.test/"
	b.browser.open = func(_ context.Context, _, url string) error {
		if url != "" {
			return errors.New("not allowed")
		}
		return nil
	}
	_, steps := b.answer(t)
	if !strings.Contains(labels(steps), "could not be opened again at http://gone.test/ (not allowed)") {
		t.Errorf("got steps %s, want a notice", labels(steps))
	}
}

func TestACrashedPageIsReopenedAndTold(t *testing.T) {
	b := newBench(call("open", `{"url":"http://shop.test/"}`), call("click", `{"ref":"e5"}`), say("ok"))
	var steps []sessions.Step
	for step, err := range b.agent.Run(t.Context(), b.session, b.task) {
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
		if step.Kind == sessions.StepAct && step.Phase == sessions.PhaseDone && step.Tool == "browser_open" {
			b.browser.mu.Lock()
			delete(b.browser.pages, b.session.ID) // it crashed
			b.browser.mu.Unlock()
		}
	}
	rs := results(b.model.asked(t, 2).Messages)
	if got := rs[1].Text; !strings.Contains(got, "\npage:\n") {
		t.Errorf("the model reads %q, want the whole page again", got)
	}
	if !strings.Contains(labels(steps), "opened again") || len(b.browser.opened) != 2 {
		t.Errorf("got steps %s and opened %q", labels(steps), b.browser.opened)
	}
}

// spent returns a model whose budget allows no further call.
func spent(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, &llm.Error{Kind: llm.ErrBudgetSpent, Model: "test:model", Message: "budget spent: 0.98 of 1.00 USD for today"}
}

func TestASpentBudgetEndsTheTaskWithWhatWasFound(t *testing.T) {
	b := newBench(
		call("open", `{"url":"shop.test"}`),
		reply(llm.StopTools, llm.Part{Text: "The lamp is called Anna."}, llm.Part{Call: &llm.ToolCall{ID: "1", Name: "browser_extract", Input: []byte(`{}`)}}),
		spent,
	)
	answer, steps := b.answer(t)
	if got, want := answer.Limit, "budget spent: 0.98 of 1.00 USD for today"; got != want {
		t.Errorf("got limit %q, want %q", got, want)
	}
	for _, want := range []string{"The lamp is called Anna.", "Lumen, https://shop.test", "text of Lumen"} {
		if !strings.Contains(answer.Text, want) {
			t.Errorf("the answer so far lacks %q: %s", want, answer.Text)
		}
	}
	if got := len(b.model.requests); got != 3 {
		t.Errorf("the model was asked %d times, want 3: none after the budget was spent", got)
	}
	if got, want := answer.N, steps[len(steps)-2].N+1; got != want {
		t.Errorf("got answer number %d, want %d", got, want)
	}
	b.task.Prompt = "go on"
	b.script(say("Anna costs 39 €."))
	if answer, _ := b.answer(t); answer.Text != "Anna costs 39 €." || answer.Limit != "" {
		t.Errorf("after the budget was raised: got answer %+v", answer)
	}
	checkAnswered(t, b.model.asked(t, -1).Messages)
}

func TestABudgetSpentWhileWrappingUpNeedsNoFurtherQuestion(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), spent)
	b.settings.MaxSteps = 1
	answer, _ := b.answer(t)
	if !strings.HasPrefix(answer.Limit, "budget spent") || !strings.Contains(answer.Text, "shop.test") {
		t.Errorf("got answer %+v", answer)
	}
}

func TestAStoppedTaskIsStoppedAlthoughItsBudgetIsSpent(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	b := newBench(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		stop(&cancel.Cause{Reason: cancel.Stopped})
		return spent(ctx, req)
	})
	b.model.deaf = true
	steps, err := b.run(ctx)
	if _, stopped := errors.AsType[*cancel.Cause](err); !stopped {
		t.Errorf("got %v after %s, want the cause of the stop", err, labels(steps))
	}
}
