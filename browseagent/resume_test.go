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
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/llm/plain"
	"clank/sessions"
)

// office is a manager with a bench as its backend.
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
	check.Must(t, o.Open(t.Context()))
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

// work runs a task of ada's, in the given session if any.
func (o *office) work(session, prompt string, steps int, watch func(sessions.Event)) sessions.TaskRecord {
	o.t.Helper()
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "ada"}
	rec, err := o.Run(o.t.Context(), sessions.Task{SessionID: session, Prompt: prompt, Origin: from, MaxSteps: steps},
		watch)
	check.Must(o.t, err)
	return rec
}

// goesOn checks that the session can be continued: the model gets the earlier conversation, with a result for every
// call.
func (o *office) goesOn(first sessions.TaskRecord, wants ...string) {
	o.t.Helper()
	o.bench.script(call("click", `{"ref":"e5"}`), say("the second one costs 39 €"))
	rec := o.work(first.SessionID, "now the second one", 0, nil)
	if rec.State != sessions.TaskDone || rec.Answer != "the second one costs 39 €" {
		o.t.Errorf("it went on to %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
	}
	req := o.bench.model.asked(o.t, 0)
	raw, err := json.Marshal(req.Messages)
	check.Must(o.t, err)
	for _, want := range append(wants, "find a lamp", "now the second one") {
		if !strings.Contains(string(raw), want) {
			o.t.Errorf("the conversation lacks %q: %s", want, raw)
		}
	}
	checkAnswered(o.t, req.Messages)
}

func TestASessionGoesOnAfterTheProgramDiedInTheMiddle(t *testing.T) {
	store := sessionstest.OpenStore(t)
	b := newBench(call("open", `{"url":"shop.test"}`), call("click", `{"ref":"e5"}`, "press", `{"key":"Enter"}`),
		say("never"))
	o := openOffice(t, b, store)
	died := errors.New("the disk is gone")
	clicks := 0
	rec := o.work("", "find a lamp", 0, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.Tool == "browser_click" && ev.Step.Phase == sessions.PhaseBegun {
			if clicks++; clicks == 1 {
				store.Fail = func(string) error { return died } // nothing is stored any more
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
			if got, want := strings.Join(b.page(t).done(), "; "), "navigate url="+shop+"; type ref=e2 text=lamp; press "+
				"key=Enter"; got != want {
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
	second.agent.Browser = b.browser // both use the same pages
	o.Backends["screen"] = second.agent
	o.Policy = &sessionstest.Policy{
		HandOver: func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error) {
			return "", nil
		},
	}
	rec := o.work("", "find a lamp", 0, nil)
	if rec.State != sessions.TaskDone || rec.Answer != "solved" || rec.Runtime != "screen" {
		t.Fatalf("the task ended %s (%s) with %q, worked by %s", rec.State, rec.Reason, rec.Answer, rec.Runtime)
	}
	if got := len(b.browser.opened); got != 1 {
		t.Errorf("the page was opened %d times, want it to be the same", got)
	}
	steps, err := o.Steps(t.Context(), rec.ID)
	want := "think; open shop.test; think; hand over to screen; screen goes on, after local_browser_agent; think; click " +
		"e5; think; answer"
	if got := labels(steps); err != nil || got != want {
		t.Errorf("got steps %s, %v\nwant %s", got, err, want)
	}
	check.Contains(t, lastWords(second.model.asked(t, 0)), "find a lamp", "the canvas is left")

	o.close() // and after a restart, with the requested runtime
	b.script(say("it was the form"))
	o = openOffice(t, b, o.store)
	from := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "ada"}
	back, err := o.Run(t.Context(), sessions.Task{
		SessionID: rec.SessionID, Prompt: "what did you do?", Origin: from,
		Runtime: browseagent.Runtime,
	}, nil)
	if err != nil || back.State != sessions.TaskDone {
		t.Fatalf("it came back to %s (%s), %v", back.State, back.Reason, err)
	}
	raw, _ := json.Marshal(b.model.asked(t, 0).Messages)
	if !strings.Contains(string(raw), "hand_over") || strings.Contains(string(raw), "solved") {
		t.Errorf("the local agent remembers %s", raw)
	}
}

const sentence = `open the demo shop, type "lamp" into Search, press Enter, read`

// withPlain makes the built-in model the bench's model.
func withPlain(b *bench) *bench {
	m := plain.New(plain.Options{Places: map[string]string{"the demo shop": shop}})
	b.agent.Model = func(context.Context, string) (llm.Model, error) { return m, nil }
	return b
}

func TestAgentKeepsTheContractOfABackend(t *testing.T) {
	sessionstest.TestBackend(t, func(*testing.T) sessionstest.BackendCase {
		b := withPlain(newBench())
		b.browser.make = func() *page {
			return &page{on: map[string]func(context.Context, map[string]any) ([]string, error){
				"wait": func(ctx context.Context, _ map[string]any) ([]string, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				},
			}}
		}
		return sessionstest.BackendCase{
			Backend: b.agent, Runtime: browseagent.Runtime, Acts: b.browser.acts,
			Prompt: sentence, Slow: `open the demo shop, wait 30 seconds, read`,
		}
	})
}

func TestPlainWorksTheSentenceOfTheReadme(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = sentence
	answer, steps := b.answer(t)
	check.Equal(t, "the page", strings.Join(b.page(t).done(), "; "), "navigate url="+shop+
		"; type ref=e2 text=lamp; press key=Enter")
	check.Contains(t, answer.Text, "text of Found")
	var got []string
	for _, s := range acts(steps) {
		got = append(got, s.Label)
	}
	check.Equal(t, "labels", strings.Join(got, "; "),
		`open shop.test; type "lamp" into "Search"; press Enter; read the page`)
}

func TestPlainGoesOnInTheSamePage(t *testing.T) {
	b := withPlain(newBench())
	b.task.Prompt = `open the demo shop, press Enter`
	b.answer(t)
	b.task.Prompt = `now click the first link`
	b.answer(t)
	if got := b.page(t).done(); got[len(got)-1] != "click ref=e10" {
		t.Errorf("the page got %q, want the link found to be clicked", got)
	}
}
