package sessions_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

var ada = cancel.Actor{ID: "ada", Name: "@ada"}

func TestATaskInLineCanBeStopped(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		first := r.start(t.Context(), ask("bob", "hold"))
		second := r.start(t.Context(), ask("ada", "p"))
		third := r.start(t.Context(), ask("cy", "p"))

		if got := r.Scopes.Active(r.scope()); len(got) != 3 || got[1].Owner != "ada" || got[1].Label != "browse: p" {
			t.Errorf("active = %+v, want three, the second of ada", got)
		}
		stopped, refused := r.Scopes.Stop(r.scope(), ada, false)
		if len(stopped) != 1 || len(refused) != 2 {
			t.Errorf("stopped %v, refused %v", stopped, refused)
		}
		synctest.Wait()
		rec := second.end(t)
		if rec.State != sessions.TaskStopped || rec.Reason != "stopped by @ada" || !rec.Started.IsZero() {
			t.Errorf("record = %+v", rec)
		}
		check.Diff(t, "told", second.told(), []string{"queued 1", "stopped"})
		free()
		first.end(t)
		third.end(t)
		check.Diff(t, "the one behind was told", third.told()[:3], []string{"queued 2", "queued 1", "running"})
		if got := r.Scopes.Active(r.scope()); len(got) != 0 {
			t.Errorf("active at the end = %v", got)
		}
	})
}

func TestARunningTaskCanBeStoppedAndItsSessionGoesOn(t *testing.T) {
	withHolding(t, sessions.Limits{}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		s := r.start(t.Context(), ask("ada", "hold"))
		begun := time.Now()
		if found, ok := r.Scopes.StopWork(r.Scopes.Active(r.scope())[0].ID, ada, false); !found || !ok {
			t.Fatal("the task was not stopped")
		}
		rec := s.end(t)
		check.Equal(t, "the stop took", time.Since(begun), 0)
		if rec.State != sessions.TaskStopped || rec.Reason != "stopped by @ada" {
			t.Errorf("record: %s, %q", rec.State, rec.Reason)
		}
		steps, err := r.Steps(t.Context(), rec.ID)
		if err != nil || len(steps) != 1 || steps[0].Phase != sessions.PhaseBegun {
			t.Errorf("steps = %+v, %v, want one that begun and was not done", steps, err)
		}
		next := goOn(rec.SessionID, "ada", "p")
		if rec := r.run(next); rec.State != sessions.TaskDone {
			t.Errorf("the session did not go on: %+v", rec)
		}
	})
}

func TestAStuckBackendHoldsUpItsOwnSessionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		hang := sessionstest.Act("hang")
		hang.Stuck = stuck
		r := newRig(t, sessions.Limits{Running: 1},
			scripts(map[string][]sessionstest.ScriptStep{"hang": {hang, sessionstest.Answer("late")}}))
		s := r.start(t.Context(), ask("ada", "hang"))
		begun := time.Now()
		r.Scopes.Stop(r.scope(), ada, false)
		rec := s.end(t)
		if took := time.Since(begun); took > 50*time.Millisecond {
			t.Errorf("the stop took %v, want at most 50ms", took)
		}
		check.Equal(t, "state", rec.State, sessions.TaskStopped)
		if rec := r.run(ask("bob", "p")); rec.State != sessions.TaskDone {
			t.Errorf("another session's task: %+v", rec)
		}

		again := goOn(rec.SessionID, "ada", "p")
		next := r.start(t.Context(), again)
		if next.final() || len(next.told()) != 1 {
			t.Errorf("the session's next task was told %v before the backend let go", next.told())
		}
		close(stuck)
		if rec := next.end(t); rec.State != sessions.TaskDone {
			t.Errorf("the session's next task: %+v", rec)
		}
		check.Equal(t, "acts", r.backend.Acts(), 2)
	})
}

func TestTheTasksOfASessionAreDoneOneAfterTheOther(t *testing.T) {
	withHolding(t, sessions.Limits{}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		first := r.run(ask("ada", "p"))
		hold := goOn(first.SessionID, "ada", "hold")
		second := r.start(t.Context(), hold)
		next := goOn(first.SessionID, "ada", "p")
		third := r.start(t.Context(), next)
		check.Diff(t, "while the session was busy, told", third.told(), []string{"queued 1"})
		if got, err := r.Task(t.Context(), taskOf(t, r, "p")); err != nil || got.Position != 1 {
			t.Errorf("position = %d, %v, want 1", got.Position, err)
		}
		free()
		a, b := second.end(t), third.end(t)
		if a.State != sessions.TaskDone || b.State != sessions.TaskDone || b.Started.Before(a.Ended) {
			t.Errorf("the first %s at %v, the next %s, begun %v", a.State, a.Ended, b.State, b.Started)
		}
	})
}

// taskOf returns the id of the latest task with this prompt.
func taskOf(t *testing.T, r *rig, prompt string) string {
	t.Helper()
	all, err := r.Tasks(t.Context(), sessions.TaskQuery{States: []sessions.TaskState{sessions.TaskQueued}})
	check.Must(t, err)
	for _, rec := range all {
		if rec.Prompt == prompt {
			return rec.ID
		}
	}
	t.Fatalf("no task %q waits", prompt)
	return ""
}

func TestWhyATaskEndedIsTold(t *testing.T) {
	person := &cancel.Cause{Reason: cancel.Stopped, By: "@ada"}
	for _, tc := range []struct {
		name   string
		limits sessions.Limits
		ctx    func(context.Context) (context.Context, context.CancelFunc)
		state  sessions.TaskState
		reason string
	}{
		{
			"it took too long",
			sessions.Limits{TaskTimeout: time.Minute},
			func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
			sessions.TaskLimited, "ran out of time: a task may take 1 minute",
		},
		{
			"nobody waits any more",
			sessions.Limits{},
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, stop := context.WithCancel(ctx)
				time.AfterFunc(time.Second, stop)
				return ctx, stop
			},
			sessions.TaskStopped, "nobody is waiting for it any more",
		},
		{
			"whoever asked set a deadline",
			sessions.Limits{},
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Second)
			},
			sessions.TaskLimited, "ran out of time",
		},
		{
			"the one who asked has a cause",
			sessions.Limits{},
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, stop := context.WithCancelCause(ctx)
				time.AfterFunc(time.Second, func() { stop(person) })
				return ctx, func() { stop(nil) }
			},
			sessions.TaskStopped, "stopped by @ada",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withHolding(t, tc.limits, func(t *testing.T, r *rig, free func()) {
				t.Helper()
				ctx, stop := tc.ctx(t.Context())
				defer stop()
				rec := r.start(ctx, ask("ada", "hold")).end(t)
				if rec.State != tc.state || rec.Reason != tc.reason {
					t.Errorf("%s, %q; want %s, %q", rec.State, rec.Reason, tc.state, tc.reason)
				}
				stored, err := r.Task(t.Context(), rec.ID)
				if err != nil || stored.State != tc.state {
					t.Errorf("stored: %s, %v", stored.State, err)
				}
			})
		})
	}
}

func TestWaitingInLineIsNotCountedAsTime(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1, TaskTimeout: time.Hour}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		first := r.start(t.Context(), ask("ada", "hold"))
		second := r.start(t.Context(), ask("bob", "p"))
		pass(59 * time.Minute)
		r.Scopes.Stop(r.scope(), ada, false)
		first.end(t)
		if rec := second.end(t); rec.State != sessions.TaskDone {
			t.Errorf("the task that waited: %s, %q", rec.State, rec.Reason)
		}
	})
}

func TestCloseInterruptsAllAndParksTheSessions(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		idle := r.run(ask("ada", "p"))
		running := r.start(t.Context(), ask("ada", "hold"))
		waiting := r.start(t.Context(), ask("bob", "p"))
		check.Must(t, r.Close(t.Context()))
		for name, s := range map[string]*started{"running": running, "waiting": waiting} {
			if rec := s.end(t); rec.State != sessions.TaskInterrupted || rec.Reason != "stopped by the restart of clank" {
				t.Errorf("%s: %s, %q", name, rec.State, rec.Reason)
			}
		}
		all, err := r.Sessions(t.Context(), sessions.SessionQuery{})
		if err != nil || len(all) != 3 {
			t.Fatalf("%d sessions, %v", len(all), err)
		}
		for _, s := range all {
			if s.State != sessions.SessionParked {
				t.Errorf("session %s is %s, want parked", s.ID, s.State)
			}
		}
		if got := r.backend.Closed(); len(got) != 2 {
			t.Errorf("closed %v, want %s and the one that ran", got, idle.SessionID)
		}
		check.Fails(t, check.Err(r.Run(t.Context(), ask("ada", "p"), nil)), sessions.ErrShuttingDown)
		check.Fails(t, r.CloseSession(t.Context(), idle.SessionID, ada), sessions.ErrShuttingDown)
	})
}

func TestDrainTakesNothingNewAndWaitsForWhatRuns(t *testing.T) {
	for name, finishes := range map[string]bool{"it ends": true, "the time is over": false} {
		t.Run(name, func(t *testing.T) {
			withHolding(t, sessions.Limits{Running: 1}, func(t *testing.T, r *rig, free func()) {
				t.Helper()
				running := r.start(t.Context(), ask("ada", "hold"))
				waiting := r.start(t.Context(), ask("bob", "p"))
				ctx, end := context.WithTimeout(t.Context(), time.Hour)
				defer end()
				told, drained := make(chan int, 1), make(chan struct{})
				go func() {
					defer close(drained)
					r.Drain(ctx, func(n int) { told <- n })
				}()
				check.Equal(t, "tasks run", <-told, 1)
				check.Fails(t, check.Err(r.Run(t.Context(), ask("ada", "p"), nil)), sessions.ErrShuttingDown, "takes nothing new")
				want := sessions.TaskInterrupted
				if finishes {
					free()
					want = sessions.TaskDone
				}
				<-drained
				if ended := ctx.Err() != nil; ended == finishes {
					t.Errorf("the time was over: %v", ended)
				}
				check.Must(t, r.Close(t.Context()))
				if rec := running.end(t); rec.State != want {
					t.Errorf("what ran is %s, want %s", rec.State, want)
				}
				if rec := waiting.end(t); rec.State != sessions.TaskInterrupted || !rec.Started.IsZero() {
					t.Errorf("what waited is %s, begun %v; want it interrupted before", rec.State, rec.Started)
				}
			})
		})
	}
}

func TestDrainWithoutTasksReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sessions.Limits{}, nil)
		for range 2 { // the second call changes nothing
			r.Drain(t.Context(), func(n int) { t.Errorf("%d tasks run", n) })
		}
		check.Must(t, r.Close(t.Context()))
	})
}

func TestCloseDoesNotWaitForEverForAStuckBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		hang := sessionstest.Act("hang")
		hang.Stuck = stuck
		r := newRig(t, sessions.Limits{}, scripts(map[string][]sessionstest.ScriptStep{"hang": {hang}}))
		s := r.start(t.Context(), ask("ada", "hang"))
		ctx, done := context.WithTimeout(t.Context(), 5*time.Second)
		defer done()
		check.Fails(t, r.Close(ctx), nil, "has not closed in time")
		if rec := s.end(t); rec.State != sessions.TaskInterrupted {
			t.Errorf("state = %s, want interrupted", rec.State)
		}
		close(stuck)
	})
}
