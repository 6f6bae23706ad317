package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"clank/cancel"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

// think returns a question to a model, after which memory is kept.
func think(memory string) sessionstest.ScriptStep {
	return sessionstest.ScriptStep{Step: sessions.Step{Kind: sessions.StepThink, Label: "think", Memory: []byte(memory)}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// relay opens a Manager whose two backends follow the scripts; every hand-over is allowed.
func relay(t *testing.T, script, other func(sessions.Session, sessions.Task) []sessionstest.ScriptStep) (*rig, *sessionstest.Backend) {
	t.Helper()
	r := newRig(t, sessions.Limits{MaxSteps: 10}, &sessionstest.Backend{Script: script})
	second := &sessionstest.Backend{Script: other}
	r.Backends["other"] = second
	r.AllowHandOver = func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error) {
		return "plain:other", nil
	}
	return r, second
}

func TestATaskIsHandedOverAndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got sessions.Task
		var at sessions.Session
		r, second := relay(t,
			func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
				return []sessionstest.ScriptStep{think(`"a"`), sessionstest.Act("one"), sessionstest.HandOver("other", "solve the canvas")}
			},
			func(s sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
				got, at = task, s
				return []sessionstest.ScriptStep{think(`"b"`), sessionstest.Act("two"), sessionstest.Answer("solved")}
			})
		typed := ask("ada", "do the form")
		typed.Typed = true
		rec := r.run(typed)
		if got.Typed {
			t.Error("what one mind leaves to the next counts as typed by a person")
		}
		if rec.State != sessions.TaskDone || rec.Answer != "solved" || rec.Runtime != "other" || rec.Model != "plain:other" || rec.Steps != 2 {
			t.Errorf("the task ended %+v", rec)
		}
		if rec.Prompt != "do the form" || !strings.Contains(got.Prompt, "do the form") || !strings.Contains(got.Prompt, "solve the canvas") {
			t.Errorf("prompt = %q, the next mind's = %q", rec.Prompt, got.Prompt)
		}
		if got.MaxSteps != 9 || at.URL != "http://example.test/one" || at.Memory != nil || at.Runtime != "other" {
			t.Errorf("the next mind got %d steps in session %+v", got.MaxSteps, at)
		}
		equal(t, "notices", []string{"other goes on, after script"}, r.texts(rec.ID, sessions.StepNotice))
		s, err := r.Session(t.Context(), rec.SessionID)
		if err != nil || s.Runtime != "other" || string(s.Memory) != `"b"` || string(s.Others["script"]) != `"a"` {
			t.Errorf("session = %+v, %v; want both memories", s, err)
		}
		must(t, r.CloseSession(t.Context(), s.ID, cancel.Actor{Moderator: true}))
		if !slices.Contains(r.backend.Closed(), s.ID) || !slices.Contains(second.Closed(), s.ID) {
			t.Errorf("closed %q and %q, want the session in both", r.backend.Closed(), second.Closed())
		}
	})
}

func TestEachRuntimeFindsItsMemoryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var found []string
		script := func(name string) func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return func(s sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
				found = append(found, name+" "+string(s.Memory))
				return []sessionstest.ScriptStep{think(fmt.Sprintf("%q", name+task.Prompt)), sessionstest.Answer("ok")}
			}
		}
		r, _ := relay(t, script("script"), script("other"))
		task := goOn(r.run(ask("ada", "1")).SessionID, "ada", "1")
		for i, runtime := range []string{"other", "script", "", "other"} {
			task.Prompt, task.Runtime = strconv.Itoa(i+2), runtime
			r.run(task)
		}
		want := []string{"script ", "other ", `script "script1"`, `script "script3"`, `other "other2"`}
		equal(t, "memories", want, found)
	})
}

func TestAHandOverThatIsRefusedIsToldToTheSameMind(t *testing.T) {
	for name, tc := range map[string]struct {
		to   string
		ask  func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error)
		want string
	}{
		"by the settings": {"other", nil, "it was not handed over to other: the settings do not allow it"},
		"by a person": {"other", func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error) {
			return "", errors.New("@ada said no")
		}, "it was not handed over to other: @ada said no"},
		"to nobody": {"nobody", nil, `it was not handed over to nobody: there is no runtime "nobody"; there is: other, script`},
		"to itself": {"script", nil, "it was not handed over to script: it is the one that works at it already"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told string
				r, _ := relay(t, func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
					if told = task.Prompt; told == "p" {
						return []sessionstest.ScriptStep{think(`1`), sessionstest.HandOver(tc.to, "the rest")}
					}
					return []sessionstest.ScriptStep{think(`2`), sessionstest.Answer("as far as I could")}
				}, nil)
				r.AllowHandOver = tc.ask
				rec := r.run(ask("ada", "p"))
				if rec.State != sessions.TaskDone || rec.Runtime != "script" || rec.Prompt != "p" {
					t.Errorf("the task ended %+v", rec)
				}
				equal(t, "notices", []string{tc.want}, r.texts(rec.ID, sessions.StepNotice))
				if !strings.Contains(told, tc.want) {
					t.Errorf("the mind was told %q", told)
				}
			})
		})
	}
}

func TestATaskIsNotPassedToAndFroForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passes := 0
		pass := func(to string) func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
				passes++
				return []sessionstest.ScriptStep{sessionstest.HandOver(to, "you do it")}
			}
		}
		r, _ := relay(t, pass("other"), pass("script"))
		rec := r.run(ask("ada", "p"))
		if rec.State != sessions.TaskFailed || !strings.Contains(rec.Reason, "to and fro 4 times") || passes != 5 {
			t.Errorf("the task ended %s (%s) after %d passes", rec.State, rec.Reason, passes)
		}
	})
}

func TestTheStepLimitIsSharedByAllWhoWorkAtATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, second := relay(t, func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return []sessionstest.ScriptStep{think(`1`), sessionstest.Act("a"), think(`2`), sessionstest.HandOver("other", "found the shop; the price is left")}
		}, nil)
		task := ask("ada", "p")
		task.MaxSteps = 2
		rec := r.run(task)
		if rec.State != sessions.TaskLimited || rec.Reason != "step limit of 2" || rec.Answer != "found the shop; the price is left" {
			t.Errorf("the task ended %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
		}
		if second.Acts() != 0 {
			t.Errorf("the next mind did %d acts, want none", second.Acts())
		}
	})
}

func TestAHandOverCanBeStoppedWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, second := relay(t, func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return []sessionstest.ScriptStep{sessionstest.HandOver("other", "the rest")}
		}, nil)
		r.AllowHandOver = func(ctx context.Context, _ sessions.Session, _ sessions.Task, _ sessions.HandOverError) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}
		run := r.start(t.Context(), ask("ada", "p"))
		r.Scopes.Stop(r.scope(), cancel.Actor{ID: "ada", Name: "@ada"}, false)
		<-run.done
		if run.rec.State != sessions.TaskStopped || second.Acts() != 0 {
			t.Errorf("the task ended %s (%s); the next mind did %d acts", run.rec.State, run.rec.Reason, second.Acts())
		}
	})
}

func TestATaskInLineFollowsItsSessionToTheNextRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r, _ := relay(t, func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return []sessionstest.ScriptStep{sessionstest.Wait("look", hold), sessionstest.HandOver("other", "the rest")}
		}, nil)
		first := named("first", "ada", "one")
		one := r.start(t.Context(), first)
		rec, err := r.Task(t.Context(), "first")
		must(t, err)
		second := goOn(rec.SessionID, "ada", "two")
		two := r.start(t.Context(), second)
		close(hold)
		<-one.done
		<-two.done
		if two.rec.Runtime != "other" || two.rec.Answer != "done: two" {
			t.Errorf("the second task was worked by %s: %q", two.rec.Runtime, two.rec.Answer)
		}
	})
}

func TestTheRouteDecidesRuntimeAndModel(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		r.Route = func(task sessions.Task) (string, string, error) {
			if task.Model == "bad" {
				return "", "", errors.New("model bad is not known; choose another")
			}
			return "other", "plain:steps", nil
		}
		if rec := r.run(ask("ada", "p")); rec.Runtime != "other" || rec.Model != "plain:steps" {
			t.Errorf("runtime %q, model %q; want those of the route", rec.Runtime, rec.Model)
		}
		task := ask("ada", "p")
		task.Model = "bad"
		_, err := r.Run(t.Context(), task, nil)
		if !errors.Is(err, sessions.ErrBadTask) || err.Error() != "model bad is not known; choose another" {
			t.Errorf("err = %v, want the reason of the route", err)
		}
	})
}
