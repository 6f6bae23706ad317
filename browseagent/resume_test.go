package browseagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browseagent"
	"clank/cancel"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"
)

// office is a manager over a bench.
type office struct {
	*sessions.Manager
	t     *testing.T
	bench *bench
	store *sessionstest.Store
}

func openOffice(t *testing.T, b *bench, store *sessionstest.Store) *office {
	t.Helper()
	o := &office{t: t, bench: b, store: store, Manager: &sessions.Manager{
		Store: store, Backends: map[string]sessions.Backend{browseagent.Runtime: b.agent},
		DefaultRuntime: browseagent.Runtime,
		Limits:         func() sessions.Limits { return sessions.Limits{MaxSteps: 10} }, Scopes: &cancel.Scopes{},
	}}
	if err := o.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.close)
	return o
}

func (o *office) close() {
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	if err := o.Close(ctx); err != nil {
		o.t.Error(err)
	}
}

// work runs a task of ada's, in a session if that is not empty.
func (o *office) work(session, prompt string, steps int, watch func(sessions.Event)) sessions.TaskRecord {
	o.t.Helper()
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "ada"}
	rec, err := o.Run(o.t.Context(), sessions.Task{SessionID: session, Prompt: prompt, Origin: from, MaxSteps: steps}, watch)
	if err != nil {
		o.t.Fatal(err)
	}
	return rec
}

// goesOn checks that the session can be gone on with: the model finds what was
// said before, every call of it answered.
func (o *office) goesOn(first sessions.TaskRecord, wants ...string) {
	o.t.Helper()
	o.bench.script(call("click", `{"ref":"e5"}`), say("the second one costs 39 €"))
	rec := o.work(first.SessionID, "now the second one", 0, nil)
	if rec.State != sessions.TaskDone || rec.Answer != "the second one costs 39 €" {
		o.t.Errorf("it went on to %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
	}
	req := o.bench.model.asked(o.t, 0)
	raw, err := json.Marshal(req.Messages)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, want := range append(wants, "find a lamp", "now the second one") {
		if !strings.Contains(string(raw), want) {
			o.t.Errorf("the conversation lacks %q: %s", want, raw)
		}
	}
	checkAnswered(o.t, req.Messages)
}

func TestASessionGoesOnAfterAStop(t *testing.T) {
	b := newBench()
	o := openOffice(t, b, sessionstest.OpenStore(t))
	b.script(call("open", `{"url":"shop.test"}`), func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
		o.Scopes.Stop(cancel.Scope{Guild: "g", Channel: "c"}, cancel.Actor{ID: "ada", Name: "@ada"}, false)
		<-ctx.Done()
		return llm.Reply{}, context.Cause(ctx)
	})
	rec := o.work("", "find a lamp", 0, nil)
	if rec.State != sessions.TaskStopped {
		t.Fatalf("the task ended %s, want stopped", rec.State)
	}
	o.goesOn(rec, "shop.test")
	if got := len(b.browser.opened); got != 1 {
		t.Errorf("the page was opened %d times, want it to have stayed", got)
	}
}

func TestASessionGoesOnAfterAnError(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrUnavailable, Model: "test:model", Message: "it answered 500"}
	})
	o := openOffice(t, b, sessionstest.OpenStore(t))
	rec := o.work("", "find a lamp", 0, nil)
	if rec.State != sessions.TaskFailed || !strings.Contains(rec.Reason, "answered 500") {
		t.Fatalf("the task ended %s (%s), want failed", rec.State, rec.Reason)
	}
	o.goesOn(rec, "shop.test")
}

func TestASessionGoesOnAfterItsStepsAreUsedUp(t *testing.T) {
	b := newBench(call("open", `{"url":"shop.test"}`), say("so far: a shop"))
	o := openOffice(t, b, sessionstest.OpenStore(t))
	rec := o.work("", "find a lamp", 1, nil)
	if rec.State != sessions.TaskLimited || rec.Answer != "so far: a shop" {
		t.Fatalf("the task ended %s with %q, want what was found", rec.State, rec.Answer)
	}
	o.goesOn(rec, "so far: a shop")
}

func TestASessionGoesOnAfterARestart(t *testing.T) {
	store := sessionstest.OpenStore(t)
	b := newBench(call("open", `{"url":"shop.test"}`), say("a lamp for 20 €"))
	o := openOffice(t, b, store)
	rec := o.work("", "find a lamp", 0, nil)
	o.close()

	b = newBench()
	o = openOffice(t, b, store)
	o.goesOn(rec, "a lamp for 20 €")
	if got := strings.Join(b.browser.opened, " "); got != "https://shop.test" {
		t.Errorf("the page was opened at %q, want where it was", got)
	}
	steps, err := o.Steps(t.Context(), lastTask(t, o))
	if err != nil || !strings.Contains(labels(steps), "the page had been closed and was opened again at https://shop.test") {
		t.Errorf("steps %s, %v; want the person to be told", labels(steps), err)
	}
}

func TestASessionGoesOnAfterTheProgramDiedInTheMiddle(t *testing.T) {
	store := sessionstest.OpenStore(t)
	b := newBench(call("open", `{"url":"shop.test"}`), call("click", `{"ref":"e5"}`, "press", `{"key":"Enter"}`), say("never"))
	o := openOffice(t, b, store)
	died := errors.New("the disk is gone")
	clicks := 0
	rec := o.work("", "find a lamp", 0, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.Tool == "browser_click" && ev.Step.Phase == sessions.PhaseBegun {
			if clicks++; clicks == 1 {
				store.Fail = func(string) error { return died } // nothing reaches the disk any more
			}
		}
	})
	if rec.State != sessions.TaskFailed {
		t.Fatalf("the task ended %s", rec.State)
	}
	o.close()
	store.Fail = nil

	o = openOffice(t, newBench(), store)
	if r, err := o.Task(t.Context(), rec.ID); err != nil || r.State != sessions.TaskInterrupted {
		t.Fatalf("the task is %s, %v; want interrupted", r.State, err)
	}
	o.goesOn(rec, "interrupted: the program ended")
}

func lastTask(t *testing.T, o *office) string {
	t.Helper()
	rs, err := o.Tasks(t.Context(), sessions.TaskQuery{Limit: 1})
	if err != nil || len(rs) == 0 {
		t.Fatalf("no task: %v", err)
	}
	return rs[0].ID
}

func TestTheConversationOfALongSessionStaysBounded(t *testing.T) {
	b := newBench()
	b.settings.HistoryChars = 4000
	o := openOffice(t, b, sessionstest.OpenStore(t))
	session := ""
	for range 30 {
		b.script(call("open", `{"url":"shop.test"}`), say(strings.Repeat("found ", 50)))
		session = o.work(session, "find a lamp "+strings.Repeat("x", 200), 0, nil).SessionID
	}
	s, err := o.Session(t.Context(), session)
	if err != nil || len(s.Memory) > 12000 {
		t.Errorf("after 30 tasks the memory has %d bytes, %v", len(s.Memory), err)
	}
}

func TestTheLiteralModelGoesOnWhereItWasStopped(t *testing.T) {
	for name, steps := range map[string]int{"after its steps were used up": 2, "after a stop": 0} {
		t.Run(name, func(t *testing.T) {
			b := withPlain(newBench())
			o := openOffice(t, b, sessionstest.OpenStore(t))
			rec := o.work("", sentence, steps, func(ev sessions.Event) {
				if steps == 0 && ev.Step != nil && ev.Step.Tool == "browser_press" && ev.Step.Phase == sessions.PhaseBegun {
					o.Scopes.Stop(cancel.Scope{Guild: "g", Channel: "c"}, cancel.Actor{ID: "ada", Name: "@ada"}, false)
				}
			})
			if rec.State != sessions.TaskLimited && rec.State != sessions.TaskStopped {
				t.Fatalf("the task ended %s", rec.State)
			}
			b.session.ID = rec.SessionID
			rec = o.work(rec.SessionID, "continue", 0, nil)
			if rec.State != sessions.TaskDone || !strings.Contains(rec.Answer, "text of Found") {
				t.Errorf("it went on to %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
			}
			if got, want := strings.Join(b.page(t).done(), "; "), "navigate url="+shop+"; type ref=e2 text=lamp; press key=Enter"; got != want {
				t.Errorf("the page got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestATaskThatIsHandedOverStaysOnItsPageAndComesBackToItsConversation(t *testing.T) {
	b := newBench(
		call("open", `{"url":"shop.test"}`),
		named("hand_over", `{"runtime":"screen","brief":"the form is done; the canvas is left"}`),
	)
	b.settings.HandOver = []string{"screen"}
	o := openOffice(t, b, sessionstest.OpenStore(t))
	second := newBench(call("click", `{"ref":"e5"}`), say("solved"))
	second.agent.Browser = b.browser // both work the same pages
	o.Backends["screen"] = second.agent
	o.AllowHandOver = func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error) {
		return "", nil
	}
	rec := o.work("", "find a lamp", 0, nil)
	if rec.State != sessions.TaskDone || rec.Answer != "solved" || rec.Runtime != "screen" {
		t.Fatalf("the task ended %s (%s) with %q, worked by %s", rec.State, rec.Reason, rec.Answer, rec.Runtime)
	}
	if got := len(b.browser.opened); got != 1 {
		t.Errorf("the page was opened %d times, want it to be the same", got)
	}
	steps, err := o.Steps(t.Context(), rec.ID)
	want := "think; open shop.test; think; hand over to screen; screen goes on, after local_browser_agent; think; click e5; think; answer"
	if got := labels(steps); err != nil || got != want {
		t.Errorf("got steps %s, %v\nwant %s", got, err, want)
	}
	if got := lastWords(second.model.asked(t, 0)); !strings.Contains(got, "find a lamp") || !strings.Contains(got, "the canvas is left") {
		t.Errorf("the next mind was told %q", got)
	}

	o.close() // and after a restart, with the runtime asked for
	b.script(say("it was the form"))
	o = openOffice(t, b, o.store)
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "ada"}
	back, err := o.Run(t.Context(), sessions.Task{SessionID: rec.SessionID, Prompt: "what did you do?", Origin: from, Runtime: browseagent.Runtime}, nil)
	if err != nil || back.State != sessions.TaskDone {
		t.Fatalf("it came back to %s (%s), %v", back.State, back.Reason, err)
	}
	raw, _ := json.Marshal(b.model.asked(t, 0).Messages)
	if !strings.Contains(string(raw), "hand_over") || strings.Contains(string(raw), "solved") {
		t.Errorf("the local agent remembers %s", raw)
	}
}
