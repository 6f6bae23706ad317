package sessions_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

func (r *rig) state(id string) sessions.SessionState {
	r.t.Helper()
	s, err := r.Session(r.t.Context(), id)
	must(r.t, err)
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
		rec := r.run(ask("ada", "p"))
		pass(4 * time.Minute)
		r.wantState(rec.SessionID, sessions.SessionIdle)
		pass(2 * time.Minute)
		r.wantState(rec.SessionID, sessions.SessionParked)
		if got := r.backend.Closed(); len(got) != 1 || got[0] != rec.SessionID {
			t.Errorf("closed %v, want %s", got, rec.SessionID)
		}
		next := goOn(rec.SessionID, "ada", "again")
		r.run(next)
		r.wantState(rec.SessionID, sessions.SessionIdle)
	})
}

func TestARunningSessionIsNotParked(t *testing.T) {
	withHolding(t, sessions.Limits{SessionIdle: time.Minute}, func(t *testing.T, r *rig, free func()) {
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
		rec := r.run(ask("ada", "p"))
		must(t, r.SetShared(t.Context(), rec.SessionID, true))
		pass(time.Hour)
		r.wantState(rec.SessionID, sessions.SessionIdle)
		must(t, r.SetShared(t.Context(), rec.SessionID, false))
		pass(30 * time.Second)
		r.wantState(rec.SessionID, sessions.SessionIdle)
		pass(time.Minute)
		r.wantState(rec.SessionID, sessions.SessionParked)
	})
}

func TestSharingWhatIsNotThereOrClosedFails(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		if err := r.SetShared(t.Context(), "nope", true); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("unknown: err = %v", err)
		}
		rec := r.run(ask("ada", "p"))
		must(t, r.CloseSession(t.Context(), rec.SessionID, ada))
		if err := r.SetShared(t.Context(), rec.SessionID, true); !errors.Is(err, sessions.ErrSessionClosed) {
			t.Errorf("closed: err = %v", err)
		}
	})
}

func TestTheOldestIdleSessionMakesRoomForANewOne(t *testing.T) {
	withRig(t, sessions.Limits{Sessions: 3}, func(t *testing.T, r *rig) {
		var ids []string
		for i := range 4 {
			rec := r.run(ask("ada", strconv.Itoa(i)))
			ids = append(ids, rec.SessionID)
			if i == 0 {
				must(t, r.SetShared(t.Context(), rec.SessionID, true))
			}
			pass(time.Second)
		}
		r.wantState(ids[0], sessions.SessionIdle) // oldest, and watched
		r.wantState(ids[1], sessions.SessionParked)
		r.wantState(ids[2], sessions.SessionIdle)
		r.wantState(ids[3], sessions.SessionIdle)
	})
}

func TestANewSessionWaitsWhereAllAreRunning(t *testing.T) {
	withHolding(t, sessions.Limits{Sessions: 1}, func(t *testing.T, r *rig, free func()) {
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
		closing := make(chan struct{})
		backend := &sessionstest.Backend{OnClose: func(context.Context, string) error { <-closing; return nil }}
		r := newRig(t, sessions.Limits{Sessions: 1}, backend)
		r.run(ask("ada", "p"))
		second, third := r.start(t.Context(), ask("bob", "p")), r.start(t.Context(), ask("cy", "p"))
		if second.final() || third.final() || len(backend.Closed()) != 1 {
			t.Errorf("before the page was closed: %v %v, closing %v", second.told(), third.told(), backend.Closed())
		}
		close(closing)
		second.end(t)
		third.end(t)
	})
}

func TestATaskStartsAsSoonAsEnoughSessionsAreParkedForIt(t *testing.T) {
	for _, tt := range []struct{ open, limit int }{{1, 1}, {3, 1}, {3, 2}, {2, 1}} {
		withRig(t, sessions.Limits{Sessions: tt.open}, func(t *testing.T, r *rig) {
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
			if closed := len(r.backend.Closed()); closed != tt.open-tt.limit+1 {
				t.Errorf("%d sessions for %d: %d were parked", tt.open, tt.limit, closed)
			}
		})
	}
}

func TestLimitsThatRiseLetTasksStart(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1}, func(t *testing.T, r *rig, free func()) {
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
		rec := r.run(ask("ada", "p"))
		var tasks []*started
		for range 2 {
			task := goOn(rec.SessionID, "ada", "hold")
			tasks = append(tasks, r.start(t.Context(), task))
		}
		if err := r.CloseSession(t.Context(), rec.SessionID, cancel.Actor{ID: "bob", Name: "@bob"}); !errors.Is(err, sessions.ErrNotOwner) {
			t.Errorf("somebody else: err = %v, want ErrNotOwner", err)
		}
		if err := r.CloseSession(t.Context(), "nope", ada); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("unknown: err = %v, want ErrNotFound", err)
		}
		must(t, r.CloseSession(t.Context(), rec.SessionID, cancel.Actor{ID: "mod", Name: "@mod", Moderator: true}))
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
		if _, err := r.Run(t.Context(), next, nil); !errors.Is(err, sessions.ErrSessionClosed) {
			t.Errorf("going on: err = %v, want ErrSessionClosed", err)
		}
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
		if err == nil || !strings.Contains(err.Error(), "has not let go yet") {
			t.Errorf("err = %v, want one that says so", err)
		}
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
		r := newRig(t, sessions.Limits{}, scripts(map[string][]sessionstest.ScriptStep{"close": {sessionstest.Wait("wait", hold), bye}}))
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
		here := discord("g", "ada")
		if _, err := r.LastSession(t.Context(), here); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("before the first: err = %v, want ErrNotFound", err)
		}
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
		must(t, r.CloseSession(t.Context(), second.SessionID, ada))
		want(first.SessionID)
	})
}

func TestOldTasksAreForgotten(t *testing.T) {
	withRig(t, sessions.Limits{KeepFor: 24 * time.Hour, SessionIdle: time.Minute}, func(t *testing.T, r *rig) {
		old := r.run(ask("ada", "p"))
		pass(20 * time.Hour)
		young := r.run(ask("ada", "p"))
		pass(6 * time.Hour)
		if _, err := r.Task(t.Context(), old.ID); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("the old one: err = %v, want ErrNotFound", err)
		}
		if _, err := r.Task(t.Context(), young.ID); err != nil {
			t.Errorf("the young one: %v", err)
		}
	})
}

func TestIDsAreShortAndHaveNoLookAlikes(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		seen := make(map[string]bool)
		for range 50 {
			rec := r.run(ask("ada", "p"))
			if len(rec.SessionID) != 6 || strings.ContainsAny(rec.SessionID, "aeiouyl01") || seen[rec.SessionID] || seen[rec.ID] {
				t.Errorf("session %q, task %q", rec.SessionID, rec.ID)
			}
			seen[rec.SessionID], seen[rec.ID] = true, true
		}
	})
}
