package sessions_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"
)

func by(user string) sessions.ControlRequest {
	return sessions.ControlRequest{From: discord("g", user)}
}

// ended returns why control ended. It fails the test if it has not.
func ended(t *testing.T, c *sessions.Control) error {
	t.Helper()
	synctest.Wait()
	select {
	case <-c.Ended():
		return c.Err()
	default:
		t.Fatal("the page is still held")
		return nil
	}
}

func TestWhoMayWorkAPage(t *testing.T) {
	dashboard := sessions.Origin{Kind: sessions.FromDashboard, Moderator: true}
	for _, tc := range []struct {
		name    string
		private bool
		req     sessions.ControlRequest
		want    error
	}{
		{"who asked for the session", false, by("ada"), nil},
		{"somebody else", false, by("bob"), sessions.ErrNotOwner},
		{"a moderator", false, sessions.ControlRequest{From: sessions.Origin{
			Kind: sessions.FromDiscord, Guild: "g",
			User: "bob", Moderator: true,
		}}, sessions.ErrNotOwner},
		{"who was invited", false, sessions.ControlRequest{From: discord("g", "bob"), Invited: true}, nil},
		{"the operator", false, sessions.ControlRequest{From: dashboard}, nil},
		{"the operator, of a private one", true, sessions.ControlRequest{From: dashboard}, sessions.ErrNotOwner},
		{"the owner of a private one", true, by("ada"), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
				t.Helper()
				task := ask("ada", "p")
				task.Origin.Private = tc.private
				c, err := r.TakeControl(t.Context(), r.run(task).SessionID, tc.req)
				if !errors.Is(err, tc.want) {
					t.Fatalf("%v, want %v", err, tc.want)
				}
				if c != nil {
					c.End()
				}
			})
		})
	}
}

func TestOnePersonHoldsAPageAtATime(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		id := r.run(ask("ada", "p")).SessionID
		first, err := r.TakeControl(t.Context(), id, by("ada"))
		check.Must(t, err)
		before := r.Control(id)
		bob := by("bob")
		bob.Invited = true
		check.Fails(t, check.Err(r.TakeControl(t.Context(), id, bob)), sessions.ErrControlHeld, "ada")
		<-before.Changed
		if s := r.Control(id); !strings.Contains(s.Holder, "ada") || len(s.Wanted) != 1 || s.Waiting {
			t.Errorf("state: %+v", s)
		}
		again, err := r.TakeControl(t.Context(), id, by("ada"))
		check.Must(t, err)
		check.Fails(t, ended(t, first), nil, "another window of yours")
		check.Equal(t, "the first is of use", first.Touch(), false)
		again.Offer()
		second, err := r.TakeControl(t.Context(), id, bob)
		check.Must(t, err)
		check.Fails(t, ended(t, again), nil, "handed over")
		again.End() // which no longer has any effect
		if s := r.Control(id); !strings.Contains(s.Holder, "bob") || s.Offered {
			t.Errorf("state: %+v", s)
		}
		next := r.start(t.Context(), goOn(id, "ada", "p"))
		synctest.Wait()
		check.Diff(t, "while the page is held, told", next.told(), []string{"queued 1"})
		second.End()
		check.Must(t, ended(t, second))
		if rec := next.end(t); rec.State != sessions.TaskDone {
			t.Errorf("the task that waited: %+v", rec)
		}
	})
}

func TestATaskStandsStillWhileItsPageIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, thought := make(chan struct{}), make(chan struct{})
		think := sessionstest.ScriptStep{Step: sessions.Step{Kind: sessions.StepThink, Label: "think"}, Hold: thought}
		r := newRig(t, sessions.Limits{TaskTimeout: time.Minute}, scripts(map[string][]sessionstest.ScriptStep{
			"work": {sessionstest.Wait("one", hold), think, sessionstest.Act("two"), sessionstest.Answer("done")},
		}))
		s := r.start(t.Context(), ask("ada", "work"))
		id := r.Scopes.Active(r.scope())[0].ID
		rec, err := r.Task(t.Context(), id)
		check.Must(t, err)
		soon, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		check.Fails(t, check.Err(r.TakeControl(soon, rec.SessionID, by("ada"))), context.DeadlineExceeded)
		taken := make(chan *sessions.Control)
		take := func() {
			c, err := r.TakeControl(t.Context(), rec.SessionID, by("ada"))
			if err != nil {
				t.Error(err)
			}
			taken <- c
		}
		go take()
		synctest.Wait()
		if s := r.Control(rec.SessionID); !s.Waiting {
			t.Errorf("state in the middle of a step: %+v", s)
		}
		close(hold)
		c := <-taken
		synctest.Wait()
		check.Equal(t, "acts while the page was held", r.backend.Acts(), 1)
		pass(2 * time.Minute) // longer than the task's time limit
		c.Touch()
		pass(2 * time.Minute)
		c.End()
		synctest.Wait()
		go take() // while the model thinks
		c = <-taken
		close(thought)
		synctest.Wait()
		check.Equal(t, "acts while the page was held again", r.backend.Acts(), 1)
		c.End()
		if rec := s.end(t); rec.State != sessions.TaskDone {
			t.Errorf("%s: %s", rec.State, rec.Reason)
		}
		steps, err := r.Steps(t.Context(), rec.ID)
		check.Must(t, err)
		var notices []string
		for _, step := range steps {
			if step.Kind == sessions.StepNotice {
				notices = append(notices, step.Text)
			}
		}
		if text := strings.Join(notices, "\n"); strings.Count(text, "@ada has worked the page") != 2 {
			t.Errorf("notices:\n%s", text)
		}
		if told := strings.Join(s.told(), "\n"); strings.Count(told, "held by @ada\nrunning") != 2 {
			t.Errorf("told:\n%s", told)
		}
	})
}

func TestWhatEndsAHold(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(t *testing.T, r *rig, id string)
		want string
	}{
		"nothing is done": {
			func(*testing.T, *rig, string) { pass(sessions.DefaultControlIdle + time.Second) },
			"nothing was done",
		},
		"a stop": {func(_ *testing.T, r *rig, _ string) { r.Scopes.Stop(r.scope(), ada, false) }, "stopped by @ada"},
		"the session is closed": {func(t *testing.T, r *rig, id string) {
			t.Helper()
			check.Must(t, r.CloseSession(t.Context(), id, ada))
		}, "closed"},
		"the program ends": {func(t *testing.T, r *rig, _ string) {
			t.Helper()
			check.Must(t, r.Close(t.Context()))
		}, "shutting down"},
	} {
		t.Run(name, func(t *testing.T) {
			withRig(t, sessions.Limits{SessionIdle: time.Minute}, func(t *testing.T, r *rig) {
				t.Helper()
				id := r.run(ask("ada", "p")).SessionID
				c, err := r.TakeControl(t.Context(), id, by("ada"))
				check.Must(t, err)
				pass(2 * time.Minute) // a session under control is not parked
				if !c.Touch() || len(r.backend.Closed()) > 0 {
					t.Fatalf("after two minutes: %v, closed %v", c.Err(), r.backend.Closed())
				}
				told := 0
				c.OnEnd(func() { told++ })
				tc.end(t, r, id)
				check.Fails(t, ended(t, c), nil, tc.want)
				c.OnEnd(func() { told++ }) // late, so at once
				check.Equal(t, "told", told, 2)
				refusal := map[string]string{"closed": "there is no page to work", "shutting down": "shutting down"}[tc.want]
				check.Outcome(t, "taken again", check.Err(r.TakeControl(t.Context(), id, by("ada"))), refusal)
			})
		})
	}
}

func TestABackendKnowsThatThePageWasWorked(t *testing.T) {
	var inbox sessions.Inbox
	if inbox.Add(sessions.Note{By: "@bob", Text: "the red one"}); inbox.TookOver() {
		t.Error("words are no take-over")
	}
	if inbox.Add(sessions.Note{By: "@ada", TookOver: true}); !inbox.TookOver() {
		t.Error("a take-over is not told")
	}
	if inbox.Drain(); inbox.TookOver() {
		t.Error("it is told again")
	}
}
