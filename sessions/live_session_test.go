package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

func (r *rig) state(id string) sessions.SessionState {
	r.t.Helper()
	s, err := r.Session(r.t.Context(), id)
	check.Must(r.t, err)
	return s.State
}

func (r *rig) wantState(id string, want sessions.SessionState) {
	r.t.Helper()
	if got := r.state(id); got != want {
		r.t.Errorf("session %s is %s, want %s", id, got, want)
	}
}

func TestAnIdleSessionIsParkedAndCanBeReopened(t *testing.T) {
	withRig(t, sessions.Limits{SessionIdle: 5 * time.Minute}, func(t *testing.T, r *rig) {
		t.Helper()
		rec := r.run(ask("ada", "p"))
		pass(4 * time.Minute)
		r.wantState(rec.SessionID, sessions.SessionIdle)
		pass(2 * time.Minute)
		r.wantState(rec.SessionID, sessions.SessionParked)
		if got := r.backend.Parked(); !slices.Equal(got, []string{rec.SessionID}) || len(r.backend.Closed()) != 0 {
			t.Errorf("parked %v and closed %v, want %s parked", got, r.backend.Closed(), rec.SessionID)
		}
		next := goOn(rec.SessionID, "ada", "again")
		r.run(next)
		r.wantState(rec.SessionID, sessions.SessionIdle)
	})
}

func TestASessionWhosePageWouldLoseSomethingIsParkedForRoomAlone(t *testing.T) {
	withRig(t, sessions.Limits{SessionIdle: 5 * time.Minute, Sessions: 2}, func(t *testing.T, r *rig) {
		t.Helper()
		var loses sync.Map // ids of sessions
		r.backend.OnPark = func(id string, must bool) bool { _, is := loses.Load(id); return must || !is }
		first := r.run(ask("ada", "p")).SessionID
		loses.Store(first, true)
		pass(time.Second)
		second := r.run(ask("bob", "p")).SessionID
		pass(time.Hour)
		r.wantState(first, sessions.SessionIdle)
		r.wantState(second, sessions.SessionParked)
		third := r.run(ask("cy", "p")).SessionID
		r.wantState(first, sessions.SessionIdle)
		fourth := r.run(ask("dee", "p")).SessionID // the third may be parked without a loss
		synctest.Wait()
		r.wantState(first, sessions.SessionIdle)
		r.wantState(third, sessions.SessionParked)
		loses.Store(fourth, true)
		pass(time.Hour)
		r.run(ask("eve", "p"))
		synctest.Wait()
		r.wantState(first, sessions.SessionParked)
		r.wantState(fourth, sessions.SessionIdle)
		if got := r.backend.Closed(); len(got) != 0 {
			t.Errorf("closed %v, which loses what was kept", got)
		}
		check.Must(t, r.CloseSession(t.Context(), first, ada))
		if got, want := r.backend.Closed(), []string{first}; !slices.Equal(got, want) ||
			!slices.Equal(r.backend.Parked(), []string{second, third, first}) {
			t.Errorf("closed %v, want %v; parked %v", got, want, r.backend.Parked())
		}
	})
}

func TestARunningSessionIsNotParked(t *testing.T) {
	withHolding(t, sessions.Limits{SessionIdle: time.Minute}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		s := r.start(t.Context(), ask("ada", "hold"))
		pass(time.Hour)
		if got := r.backend.Closed(); len(got) != 0 {
			t.Errorf("closed %v while it ran", got)
		}
		free()
		rec := s.end(t)
		r.wantState(rec.SessionID, sessions.SessionIdle)
	})
}

func TestASharedSessionIsNotParked(t *testing.T) {
	withRig(t, sessions.Limits{SessionIdle: time.Minute}, func(t *testing.T, r *rig) {
		t.Helper()
		rec := r.run(ask("ada", "p"))
		check.Must(t, r.SetShared(t.Context(), rec.SessionID, true))
		pass(time.Hour)
		r.wantState(rec.SessionID, sessions.SessionIdle)
		later := r.run(ask("ada", "p"))
		check.Must(t, r.SetShared(t.Context(), rec.SessionID, false))
		if last, err := r.LastSession(t.Context(), later.Origin); err != nil || last.ID != later.SessionID {
			t.Errorf("%s was used last, error %v: to watch is not to use", last.ID, err)
		}
		pass(30 * time.Second)
		r.wantState(rec.SessionID, sessions.SessionIdle)
		pass(time.Minute)
		r.wantState(rec.SessionID, sessions.SessionParked)
	})
}

func TestSharingWhatIsNotThereOrClosedFails(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		check.Fails(t, r.SetShared(t.Context(), "nope", true), sessions.ErrNotFound)
		rec := r.run(ask("ada", "p"))
		check.Must(t, r.CloseSession(t.Context(), rec.SessionID, ada))
		check.Fails(t, r.SetShared(t.Context(), rec.SessionID, true), sessions.ErrSessionClosed)
	})
}

func TestTheOldestIdleSessionMakesRoomForANewOne(t *testing.T) {
	withRig(t, sessions.Limits{Sessions: 3}, func(t *testing.T, r *rig) {
		t.Helper()
		var ids []string
		for i := range 4 {
			rec := r.run(ask("ada", strconv.Itoa(i)))
			ids = append(ids, rec.SessionID)
			if i == 0 {
				check.Must(t, r.SetShared(t.Context(), rec.SessionID, true))
			}
			pass(time.Second)
		}
		r.wantState(ids[0], sessions.SessionIdle) // the oldest, but watched
		r.wantState(ids[1], sessions.SessionParked)
		r.wantState(ids[2], sessions.SessionIdle)
		r.wantState(ids[3], sessions.SessionIdle)
	})
}

func TestANewSessionWaitsWhereAllAreRunning(t *testing.T) {
	withHolding(t, sessions.Limits{Sessions: 1}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		first := r.start(t.Context(), ask("ada", "hold"))
		second := r.start(t.Context(), ask("bob", "p"))
		pass(time.Hour)
		if second.final() || first.final() {
			t.Fatal("a running session made room")
		}
		free()
		a, b := first.end(t), second.end(t)
		if b.State != sessions.TaskDone {
			t.Errorf("second: %s, %q", b.State, b.Reason)
		}
		synctest.Wait()
		r.wantState(a.SessionID, sessions.SessionParked)
	})
}

func TestPagesAreNeverMoreThanTheCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parking := make(chan struct{})
		begun := 0
		backend := &sessionstest.Backend{OnPark: func(string, bool) bool { begun++; <-parking; return true }}
		r := newRig(t, sessions.Limits{Sessions: 1}, backend)
		r.run(ask("ada", "p"))
		second, third := r.start(t.Context(), ask("bob", "p")), r.start(t.Context(), ask("cy", "p"))
		if second.final() || third.final() || begun != 1 {
			t.Errorf("before the page was parked: %v %v, parking %d", second.told(), third.told(), begun)
		}
		check.Diff(t, "while a page is parked for the second", second.told(), []string{"queued 0"})
		check.Diff(t, "behind it", third.told(), []string{"queued 2"})
		close(parking)
		second.end(t)
		third.end(t)
	})
}

func TestATaskStartsAsSoonAsEnoughSessionsAreParkedForIt(t *testing.T) {
	for _, tt := range []struct{ open, limit int }{{1, 1}, {3, 1}, {3, 2}, {2, 1}} {
		withRig(t, sessions.Limits{Sessions: tt.open}, func(t *testing.T, r *rig) {
			t.Helper()
			for i := range tt.open {
				r.run(ask("ada", strconv.Itoa(i)))
				pass(time.Second)
			}
			r.setLimits(sessions.Limits{Sessions: tt.limit})
			start := time.Now()
			late := r.start(t.Context(), ask("bob", "p"))
			<-late.done
			if waited := time.Since(start); waited != 0 {
				t.Errorf("%d sessions for %d: the task waited for %s", tt.open, tt.limit, waited)
			}
			synctest.Wait()
			if parked := len(r.backend.Parked()); parked != tt.open-tt.limit+1 {
				t.Errorf("%d sessions for %d: %d were parked", tt.open, tt.limit, parked)
			}
		})
	}
}

func TestLimitsThatRiseLetTasksStart(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		r.start(t.Context(), ask("ada", "hold"))
		second := r.start(t.Context(), ask("bob", "p"))
		r.setLimits(sessions.Limits{Running: 2})
		pass(time.Minute)
		if !second.final() {
			t.Errorf("told %v, want it to be done", second.told())
		}
	})
}

func TestASessionIsClosedForGood(t *testing.T) {
	withHolding(t, sessions.Limits{}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		rec := r.run(ask("ada", "p"))
		var tasks []*started
		for range 2 {
			task := goOn(rec.SessionID, "ada", "hold")
			tasks = append(tasks, r.start(t.Context(), task))
		}
		check.Fails(t, r.CloseSession(t.Context(), rec.SessionID, cancel.Actor{ID: "bob", Name: "@bob"}),
			sessions.ErrNotOwner)
		check.Fails(t, r.CloseSession(t.Context(), "nope", ada), sessions.ErrNotFound)
		check.Must(t, r.CloseSession(t.Context(), rec.SessionID, cancel.Actor{ID: "mod", Name: "@mod", Moderator: true}))
		for _, s := range tasks {
			if got := s.end(t); got.State != sessions.TaskStopped || got.Reason != "stopped by @mod: the session was closed" {
				t.Errorf("its task: %s, %q", got.State, got.Reason)
			}
		}
		r.wantState(rec.SessionID, sessions.SessionClosed)
		if got := r.backend.Closed(); !slices.Equal(got, []string{rec.SessionID}) {
			t.Errorf("closed pages %v, want one", got)
		}
		next := goOn(rec.SessionID, "ada", "p")
		check.Fails(t, check.Err(r.Run(t.Context(), next, nil)), sessions.ErrSessionClosed)
		if err := r.CloseSession(t.Context(), rec.SessionID, ada); err != nil {
			t.Errorf("closing it again: %v", err)
		}
	})
}

func TestASessionThatDoesNotLetGoIsClosedAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		hang := sessionstest.Act("hang")
		hang.Stuck = stuck
		r := newRig(t, sessions.Limits{}, scripts(map[string][]sessionstest.ScriptStep{"hang": {hang}}))
		s := r.start(t.Context(), ask("ada", "hang"))
		all, err := r.Sessions(t.Context(), sessions.SessionQuery{})
		if err != nil || len(all) != 1 {
			t.Fatalf("%d sessions, %v", len(all), err)
		}
		id := all[0].ID
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		err = r.CloseSession(ctx, id, ada)
		check.Fails(t, err, nil, "has not let go yet")
		r.wantState(id, sessions.SessionClosed)
		if rec := s.end(t); rec.State != sessions.TaskStopped {
			t.Errorf("its task: %s", rec.State)
		}
		if got := r.backend.Closed(); len(got) != 0 {
			t.Errorf("closed %v while the backend was at it", got)
		}
		close(stuck)
		synctest.Wait()
		r.wantState(id, sessions.SessionClosed)
		if got := r.backend.Closed(); !slices.Equal(got, []string{id}) {
			t.Errorf("closed %v afterwards, want %s", got, id)
		}
	})
}

func TestTasksBehindOneThatClosesTheSessionAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		bye := sessionstest.Answer("bye")
		bye.Step.Closed = true
		r := newRig(t, sessions.Limits{},
			scripts(map[string][]sessionstest.ScriptStep{"close": {sessionstest.Wait("wait", hold), bye}}))
		rec := r.run(ask("ada", "p"))
		task := goOn(rec.SessionID, "ada", "close")
		first := r.start(t.Context(), task)
		task.Prompt = "p"
		second := r.start(t.Context(), task)
		close(hold)
		if got := first.end(t); got.State != sessions.TaskDone || !got.Closed {
			t.Errorf("first: %+v", got)
		}
		if got := second.end(t); got.State != sessions.TaskStopped || !strings.Contains(got.Reason, "closed the session") {
			t.Errorf("second: %s, %q", got.State, got.Reason)
		}
		synctest.Wait()
		r.wantState(rec.SessionID, sessions.SessionClosed)
		if got := r.backend.Closed(); !slices.Equal(got, []string{rec.SessionID}) {
			t.Errorf("closed pages %v", got)
		}
	})
}

func TestABackendThatCannotCloseIsNotWaitedForTwice(t *testing.T) {
	for name, onClose := range map[string]func(context.Context, string) error{
		"an error": func(context.Context, string) error { return errors.New("no") },
		"a panic":  func(context.Context, string) error { panic("no") },
		"a hang":   func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, sessions.Limits{SessionIdle: time.Minute}, &sessionstest.Backend{OnClose: onClose})
				rec := r.run(ask("ada", "p"))
				pass(2 * time.Minute)
				r.wantState(rec.SessionID, sessions.SessionParked)
				next := goOn(rec.SessionID, "ada", "p")
				r.run(next)
			})
		})
	}
}

func TestTheLastSessionIsTheOneToGoOnWith(t *testing.T) {
	withRig(t, sessions.Limits{SessionIdle: time.Minute}, func(t *testing.T, r *rig) {
		t.Helper()
		here := discord("g", "ada")
		check.Fails(t, check.Err(r.LastSession(t.Context(), here)), sessions.ErrNotFound)
		first := r.run(ask("ada", "p"))
		pass(time.Second)
		second := r.run(ask("ada", "p"))
		pass(time.Second)
		r.run(ask("bob", "p"))
		r.run(sessions.Task{Prompt: "p", Origin: discord("h", "ada")})
		pass(time.Hour) // all are parked
		want := func(id string) {
			t.Helper()
			if got, err := r.LastSession(t.Context(), here); err != nil || got.ID != id {
				t.Errorf("last session = %q, %v, want %q", got.ID, err, id)
			}
		}
		want(second.SessionID)
		check.Must(t, r.CloseSession(t.Context(), second.SessionID, ada))
		want(first.SessionID)
	})
}

func TestOldTasksAreForgotten(t *testing.T) {
	withRig(t, sessions.Limits{KeepFor: 24 * time.Hour, SessionIdle: time.Minute}, func(t *testing.T, r *rig) {
		t.Helper()
		old := r.run(ask("ada", "p"))
		pass(20 * time.Hour)
		young := r.run(ask("ada", "p"))
		pass(6 * time.Hour)
		check.Fails(t, check.Err(r.Task(t.Context(), old.ID)), sessions.ErrNotFound)
		if _, err := r.Task(t.Context(), young.ID); err != nil {
			t.Errorf("the young one: %v", err)
		}
	})
}

func TestIDsAreShortAndHaveNoLookAlikes(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		seen := make(map[string]bool)
		for range 50 {
			rec := r.run(ask("ada", "p"))
			if len(rec.SessionID) != 6 || strings.ContainsAny(rec.SessionID, "aeiouyl01") || seen[rec.SessionID] ||
				seen[rec.ID] {
				t.Errorf("session %q, task %q", rec.SessionID, rec.ID)
			}
			seen[rec.SessionID], seen[rec.ID] = true, true
		}
	})
}

// think returns a model call after which memory is stored.
func think(memory string) sessionstest.ScriptStep {
	return sessionstest.ScriptStep{Step: sessions.Step{Kind: sessions.StepThink, Label: "think", Memory: []byte(memory)}}
}

// relay opens a Manager whose two backends follow the scripts; every hand-over is allowed.
func relay(t *testing.T, script,
	other func(sessions.Session, sessions.Task) []sessionstest.ScriptStep,
) (*rig, *sessionstest.Backend) {
	t.Helper()
	r := newRig(t, sessions.Limits{MaxSteps: 10}, &sessionstest.Backend{Script: script})
	second := &sessionstest.Backend{Script: other}
	r.Backends["other"] = second
	r.policy.HandOver = func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error) {
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
				return []sessionstest.ScriptStep{
					think(`"a"`), sessionstest.Act("one"),
					sessionstest.HandOver("other", "solve the canvas"),
				}
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
		if rec.State != sessions.TaskDone || rec.Answer != "solved" || rec.Runtime != "other" || rec.Model != "plain:other" ||
			rec.Steps != 2 {
			t.Errorf("the task ended %+v", rec)
		}
		if rec.Prompt != "do the form" || !strings.Contains(got.Prompt, "do the form") ||
			!strings.Contains(got.Prompt, "solve the canvas") {
			t.Errorf("prompt = %q, the next mind's = %q", rec.Prompt, got.Prompt)
		}
		if got.MaxSteps != 9 || at.URL != "http://example.test/one" || at.Memory != nil || at.Runtime != "other" {
			t.Errorf("the next mind got %d steps in session %+v", got.MaxSteps, at)
		}
		check.Diff(t, "notices", r.texts(rec.ID, sessions.StepNotice), []string{"other goes on, after script"})
		s, err := r.Session(t.Context(), rec.SessionID)
		if err != nil || s.Runtime != "other" || string(s.Memory) != `"b"` || string(s.Others["script"]) != `"a"` {
			t.Errorf("session = %+v, %v; want both memories", s, err)
		}
		check.Must(t, r.CloseSession(t.Context(), s.ID, cancel.Actor{Moderator: true}))
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
		check.Diff(t, "memories", found, want)
	})
}

func TestAHandOverThatIsRefusedIsToldToTheSameMind(t *testing.T) {
	for name, tc := range map[string]struct {
		to   string
		ask  func(context.Context, sessions.Session, sessions.Task, sessions.HandOverError) (string, error)
		want string
	}{
		"by the settings": {"other", nil, "it was not handed over to other: the settings do not allow it"},
		"by a person": {"other", func(context.Context, sessions.Session, sessions.Task,
			sessions.HandOverError,
		) (string, error) {
			return "", errors.New("@ada said no")
		}, "it was not handed over to other: @ada said no"},
		"to nobody": {
			"nobody", nil,
			`it was not handed over to nobody: there is no runtime "nobody"; there is: other, script`,
		},
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
				r.policy.HandOver = tc.ask
				rec := r.run(ask("ada", "p"))
				if rec.State != sessions.TaskDone || rec.Runtime != "script" || rec.Prompt != "p" {
					t.Errorf("the task ended %+v", rec)
				}
				check.Diff(t, "notices", r.texts(rec.ID, sessions.StepNotice), []string{tc.want})
				check.Contains(t, told, tc.want)
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
			return []sessionstest.ScriptStep{
				think(`1`), sessionstest.Act("a"), think(`2`),
				sessionstest.HandOver("other", "found the shop; the price is left"),
			}
		}, nil)
		task := ask("ada", "p")
		task.MaxSteps = 2
		rec := r.run(task)
		if rec.State != sessions.TaskLimited || rec.Reason != "step limit of 2" ||
			rec.Answer != "found the shop; the price is left" {
			t.Errorf("the task ended %s (%s) with %q", rec.State, rec.Reason, rec.Answer)
		}
		check.Equal(t, "second.Acts()", second.Acts(), 0)
	})
}

func TestAHandOverCanBeStoppedWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, second := relay(t, func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
			return []sessionstest.ScriptStep{sessionstest.HandOver("other", "the rest")}
		}, nil)
		r.policy.HandOver = func(ctx context.Context, _ sessions.Session, _ sessions.Task,
			_ sessions.HandOverError,
		) (string, error) {
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
		check.Must(t, err)
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
		t.Helper()
		r.policy.RouteTo = func(task sessions.Task) (string, string, error) {
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
