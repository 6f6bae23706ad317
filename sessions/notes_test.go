package sessions_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// untilFree returns a backend whose tasks wait in their first act until hold is closed.
func untilFree(hold <-chan struct{}) *sessionstest.Backend {
	return &sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
		return []sessionstest.ScriptStep{
			sessionstest.Wait("look", hold), sessionstest.Act("click"),
			sessionstest.Answer("done"),
		}
	}}
}

// texts returns the texts of a task's steps of this kind. Notices and answers must be done.
func (r *rig) texts(task string, kind sessions.StepKind) (texts []string) {
	r.t.Helper()
	steps, err := r.Steps(r.t.Context(), task)
	check.Must(r.t, err)
	for i, s := range steps {
		if s.N != i+1 {
			r.t.Errorf("step %d has number %d", i+1, s.N)
		}
		if (s.Kind == sessions.StepNotice || s.Kind == sessions.StepAnswer) && s.Phase != sessions.PhaseDone {
			r.t.Errorf("step %d, a %s, is %q, want it done", i+1, s.Kind, s.Phase)
		}
		if s.Kind == kind {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

func TestARunningTaskHearsWhatItsOwnerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := newRig(t, sessions.Limits{}, untilFree(hold))
		task := named("mine", "ada", "p")
		run := r.start(t.Context(), task)
		live, err := r.Task(t.Context(), "mine")
		check.Must(t, err)
		for _, id := range []string{"mine", " " + strings.ToUpper(live.SessionID)} {
			if got, err := r.SendNote(t.Context(), id, discord("g", "ada"), " the red one "); err != nil || got != "mine" {
				t.Errorf("Say(%q) = %q, %v; want the task", id, got, err)
			}
		}
		close(hold)
		<-run.done
		want := []string{"@ada says: the red one", "@ada says: the red one"}
		check.Diff(t, "notices", r.texts("mine", sessions.StepNotice), want)
		check.Contains(t, strings.Join(run.told(), "\n"), "the red one")
	})
}

func TestWhatIsSaidReachesTheSessionThatWasMeant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := newRig(t, sessions.Limits{}, untilFree(hold))
		var all []*started
		ids := []string{"one", "two", "three"}
		for _, id := range ids {
			task := named(id, "ada", "p")
			all = append(all, r.start(t.Context(), task))
		}
		for i, id := range ids {
			rec, err := r.Task(t.Context(), id)
			check.Must(t, err)
			for _, to := range []string{id, rec.SessionID} {
				if got, err := r.SendNote(t.Context(), to, discord("g", "ada"), "for number "+strconv.Itoa(i)); err != nil ||
					got != id {
					t.Errorf("Say(%q) = %q, %v; want task %s", to, got, err, id)
				}
			}
		}
		close(hold)
		for i, s := range all {
			s.end(t)
			want := []string{"@ada says: for number " + strconv.Itoa(i), "@ada says: for number " + strconv.Itoa(i)}
			if diff := cmp.Diff(want, r.texts(ids[i], sessions.StepNotice)); diff != "" {
				t.Errorf("notices of %s (-want +got):\n%s", ids[i], diff)
			}
		}
	})
}

func TestATaskInLineHearsWhenItsTurnComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := newRig(t, sessions.Limits{Running: 1}, untilFree(hold))
		first := r.start(t.Context(), ask("bob", "p"))
		task := named("waits", "ada", "p")
		second := r.start(t.Context(), task)
		check.Must(t, check.Err(r.SendNote(t.Context(), "waits", discord("g", "ada"), "hurry")))
		close(hold)
		<-first.done
		<-second.done
		check.Diff(t, "notices", r.texts("waits", sessions.StepNotice), []string{"@ada says: hurry"})
	})
}

func TestWhoMaySayWhatToATask(t *testing.T) {
	private := discord("", "ada")
	private.Private = true
	moderator := discord("g", "mod")
	moderator.Moderator = true
	elsewhere := discord("other", "mod")
	elsewhere.Moderator = true
	memes, both := moderator, moderator
	memes.Channel, both.Channel = "memes", "memes"
	both.ModeratesChannel = func(channel string) bool { return channel == moderator.Channel }
	operator := sessions.Origin{Kind: sessions.FromDashboard, Moderator: true}
	for name, tc := range map[string]struct {
		owner, by sessions.Origin
		text      string
		want      error
	}{
		"its owner":                      {discord("g", "ada"), discord("g", "ada"), "x", nil},
		"its owner, from elsewhere":      {discord("g", "ada"), discord("h", "ada"), "x", nil},
		"somebody else":                  {discord("g", "ada"), discord("g", "bob"), "x", sessions.ErrNotOwner},
		"a moderator":                    {discord("g", "ada"), moderator, "x", nil},
		"a moderator of another channel": {discord("g", "ada"), memes, "x", sessions.ErrNotOwner},
		"a moderator of both channels":   {discord("g", "ada"), both, "x", nil},
		"a moderator of another guild":   {discord("g", "ada"), elsewhere, "x", sessions.ErrNotOwner},
		"the operator":                   {discord("g", "ada"), operator, "x", nil},
		"a moderator, to a private task": {private, moderator, "x", sessions.ErrNotFound},
		"the operator, to a private one": {private, operator, "x", sessions.ErrNotFound},
		"its owner, to a private one":    {private, private, "x", nil},
		"nothing":                        {discord("g", "ada"), discord("g", "ada"), "  ", sessions.ErrBadTask},
		"too much": {
			discord("g", "ada"), discord("g", "ada"), strings.Repeat("x", 9000),
			sessions.ErrBadTask,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hold := make(chan struct{})
				r := newRig(t, sessions.Limits{}, untilFree(hold))
				run := r.start(t.Context(), sessions.Task{ID: "mine", Prompt: "p", Origin: tc.owner})
				if _, err := r.SendNote(t.Context(), "mine", tc.by, tc.text); !errors.Is(err, tc.want) {
					t.Errorf("err = %v, want %v", err, tc.want)
				}
				close(hold)
				<-run.done
			})
		})
	}
}

func TestWhoMayNotComeInMayNotSayAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := newRig(t, sessions.Limits{}, untilFree(hold))
		run := r.start(t.Context(), sessions.Task{ID: "mine", Prompt: "p", Origin: discord("g", "ada")})
		r.policy.Access = func(sessions.Origin) error { return errors.New("this channel is not on the list") }
		check.Fails(t, check.Err(r.SendNote(t.Context(), "mine", discord("g", "ada"), "x")), sessions.ErrForbidden)
		close(hold)
		<-run.done
	})
}

func TestATaskThatHasEndedSaysHowToGoOn(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		rec := r.run(ask("ada", "p"))
		for id, want := range map[string]string{
			rec.ID:        "task " + rec.ID + " has ended (done); to go on, start a task in its session " + rec.SessionID,
			rec.SessionID: "nothing runs in session " + rec.SessionID + "; to go on, start a task in it",
			"nobody":      `there is no task or session "nobody" that you could tell something`,
		} {
			_, err := r.SendNote(t.Context(), id, discord("g", "ada"), "x")
			if !errors.Is(err, sessions.ErrNotFound) || err.Error() != want {
				t.Errorf("Say(%q): %v, want %s", id, err, want)
			}
		}
	})
}

func TestATaskTakesOnlySoManyNotes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := newRig(t, sessions.Limits{}, untilFree(hold))
		run := r.start(t.Context(), sessions.Task{ID: "mine", Prompt: "p", Origin: discord("g", "ada")})
		var err error
		for range 21 {
			_, err = r.SendNote(t.Context(), "mine", discord("g", "ada"), "x")
		}
		check.Fails(t, err, sessions.ErrQueueFull)
		close(hold)
		<-run.done
	})
}

func TestWhatWasSaidTooLateIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		late := sessionstest.Answer("done")
		late.Hold = hold
		r := newRig(t, sessions.Limits{},
			&sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
				return []sessionstest.ScriptStep{late}
			}})
		run := r.start(context.Background(), sessions.Task{ID: "mine", Prompt: "p", Origin: discord("g", "ada")})
		check.Must(t, check.Err(r.SendNote(t.Context(), "mine", discord("g", "ada"), "and the price")))
		close(hold)
		<-run.done
		got := r.texts("mine", sessions.StepNotice)
		if len(got) != 1 || !strings.HasPrefix(got[0], "@ada says: and the price (too late") {
			t.Errorf("notices = %q, want what was said", got)
		}
		if run.rec.State != sessions.TaskDone || run.rec.Answer != "done" {
			t.Errorf("the task ended %s with %q", run.rec.State, run.rec.Answer)
		}
	})
}

func TestManySpeakAtOnceAndNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sessions.Limits{},
			&sessionstest.Backend{Script: func(sessions.Session, sessions.Task) []sessionstest.ScriptStep {
				var moves []sessionstest.ScriptStep
				for range 50 {
					tick := make(chan struct{})
					time.AfterFunc(time.Millisecond, func() { close(tick) })
					moves = append(moves, sessionstest.Wait("act", tick))
				}
				return append(moves, sessionstest.Answer("done"))
			}})
		run := r.start(t.Context(), sessions.Task{ID: "mine", Prompt: "p", Origin: discord("g", "ada")})
		var said atomic.Int64
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for range 20 {
					if _, err := r.SendNote(t.Context(), "mine", discord("g", "ada"), "x"); err == nil {
						said.Add(1)
					}
				}
			})
		}
		wg.Wait()
		<-run.done
		if got := len(r.texts("mine", sessions.StepNotice)); got != int(said.Load()) || got == 0 {
			t.Errorf("%d notes were taken and %d recorded", said.Load(), got)
		}
	})
}
