package sessions_test

import (
	"fmt"
	"math/rand/v2"
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
)

// parseTask makes a task from "guild/user", which is also its prompt.
func parseTask(who string) sessions.Task {
	guild, user, _ := strings.Cut(who, "/")
	o := discord(guild, user)
	o.Channel = user // a direct message, where there is no guild
	return sessions.Task{Prompt: who, Origin: o}
}

func TestTheLineIsFair(t *testing.T) {
	for _, tc := range []struct {
		name, asked, want string
	}{
		{"alone, in order", "g/a g/a g/a", "g/a g/a g/a"},
		{"a first task before another's second", "g/a g/a g/a g/b", "g/a g/b g/a g/a"},
		{"taking turns", "g/a g/a g/a g/b g/b g/b", "g/a g/b g/a g/b g/a g/b"},
		{"three take turns", "g/a g/a g/b g/b g/c", "g/a g/b g/c g/a g/b"},
		{"first tasks in order", "g/a g/b g/c g/d", "g/a g/b g/c g/d"},
		{"guilds take turns", "g/a g/b g/c g/d h/e h/f", "g/a h/e g/b h/f g/c g/d"},
		{"one user is one user in all guilds", "g/a h/a i/a g/b", "g/a g/b h/a i/a"},
		{"a user outside of guilds is as good as a guild", "g/a g/b g/c /d", "g/a /d g/b g/c"},
		{"users outside of guilds have a turn each", "/d /e g/b g/c", "/d /e g/b g/c"},
		{"users outside of guilds, and who is in one", "g/a g/b /d /e /f", "g/a /d /e /f g/b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var order []string
				hold := make(chan struct{})
				backend := &sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, task.Prompt)
					return []sessionstest.ScriptStep{sessionstest.Wait("wait", hold), sessionstest.Answer("done")}
				}}
				r := newRig(t, sessions.Limits{Running: 1}, backend)
				var all []*started
				for who := range strings.FieldsSeq(tc.asked) {
					all = append(all, r.start(t.Context(), parseTask(who)))
				}
				close(hold)
				for _, s := range all {
					s.end(t)
				}
				check.Diff(t, "order", order, strings.Fields(tc.want))
			})
		})
	}
}

func TestWhoComesLateJoinsTheRoundUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		hold := make(chan struct{})
		r := newRig(t, sessions.Limits{Running: 1},
			&sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, task.Prompt)
				if task.Prompt == "h/z" {
					return []sessionstest.ScriptStep{sessionstest.Wait("wait", hold), sessionstest.Answer("done")}
				}
				return []sessionstest.ScriptStep{sessionstest.Answer("done")}
			}})
		for range 3 {
			r.run(parseTask("g/a"))
		}
		all := []*started{r.start(t.Context(), parseTask("h/z"))}
		for who := range strings.FieldsSeq("g/a i/b i/b i/b") {
			all = append(all, r.start(t.Context(), parseTask(who)))
		}
		close(hold)
		for _, s := range all {
			s.end(t)
		}
		// A user who was served three times waits for one turn of the other, not for three.
		check.Diff(t, "order", order, strings.Fields("g/a g/a g/a h/z i/b g/a i/b i/b"))
	})
}

func TestEveryPlaceInLineIsTold(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		r.start(t.Context(), ask("ada", "hold"))
		second := r.start(t.Context(), ask("ada", "p"))
		third := r.start(t.Context(), ask("bob", "p")) // overtakes the second
		free()
		second.end(t)
		third.end(t)
		check.Diff(t, "second", second.told()[:4], []string{"queued 1", "queued 2", "queued 1", "running"})
		check.Diff(t, "third", third.told()[:2], []string{"queued 1", "running"})
	})
}

// fullMachine is a [sessions.Machine] that is short of memory until roomy is set.
type fullMachine struct{ roomy atomic.Bool }

func (m *fullMachine) Shortage() string {
	if m.roomy.Load() {
		return ""
	}
	return sessions.ShortMemory
}

func TestTasksWaitUntilTheMachineHasMemory(t *testing.T) {
	withHolding(t, sessions.Limits{}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		idle := r.start(t.Context(), ask("ada", "p")).end(t)
		var machine fullMachine
		r.Machine = &machine
		first := r.start(t.Context(), ask("ada", "hold")) // one task may always run
		second := r.start(t.Context(), ask("ada", "p"))
		third := r.start(t.Context(), ask("bob", "p"))
		check.Diff(t, "first", first.told()[1:2], []string{"running"})
		parked, err := r.Session(t.Context(), idle.SessionID)
		check.Must(t, err)
		check.Diff(t, "the session of a task that has ended", parked.State, sessions.SessionParked)
		machine.roomy.Store(true)
		second.end(t)
		third.end(t)
		check.Diff(t, "second", second.told()[:4], []string{"queued 1", "queued 1 memory", "queued 2 memory", "running"})
		check.Diff(t, "third", third.told()[:2], []string{"queued 1 memory", "running"})
		if first.final() {
			t.Error("they waited for the first task")
		}
		free()
		first.end(t)
	})
}

func TestAPlaceInLineIsToldAsItWasThoughTheTurnHasCome(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1}, func(t *testing.T, r *rig, free func()) {
		t.Helper()
		r.start(t.Context(), ask("ada", "hold"))
		var told []string
		late, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			_, _ = r.Run(t.Context(), ask("ada", "p"), func(ev sessions.Event) {
				told = append(told, describe(ev))
				if len(told) == 2 {
					<-late
				}
			})
		}()
		synctest.Wait()
		third := r.start(t.Context(), ask("bob", "p")) // overtakes it, and ends before it learns of that
		free()
		third.end(t)
		synctest.Wait()
		close(late)
		<-done
		check.Diff(t, "told", told[:min(4, len(told))], []string{"queued 1", "queued 2", "queued 1", "running"})
	})
}

func TestAFullLineRefusesMore(t *testing.T) {
	withHolding(t, sessions.Limits{Running: 1, Queued: 4, QueuedPerGuild: 3, QueuedPerUser: 2},
		func(t *testing.T, r *rig, free func()) {
			t.Helper()
			waits := func(s *started) *started {
				t.Helper()
				if s.final() {
					t.Errorf("a task that there is room for has ended: %v", s.err)
				}
				return s
			}
			first := named("first", "ada", "hold")
			waits(r.start(t.Context(), first)) // it runs, so it is not in the queue
			rec, err := r.Task(t.Context(), "first")
			check.Must(t, err)
			again := goOn(rec.SessionID, "ada", "p")
			waits(r.start(t.Context(), again)) // behind it, in the same session
			waits(r.start(t.Context(), ask("ada", "p")))
			if s := r.start(t.Context(), ask("ada", "p")); s.err == nil ||
				!strings.Contains(s.err.Error(), "maximum of 2 tasks for one person") {
				t.Errorf("a third of one user: err = %v", s.err)
			}
			waits(r.start(t.Context(), ask("bob", "p")))
			if s := r.start(t.Context(), ask("cy", "p")); s.err == nil ||
				!strings.Contains(s.err.Error(), "maximum of 3 tasks for one server") {
				t.Errorf("a fourth of one server: err = %v", s.err)
			}
			elsewhere := func(user string) sessions.Task { return sessions.Task{Prompt: "p", Origin: discord("h", user)} }
			waits(r.start(t.Context(), elsewhere("cy")))
			if s := r.start(t.Context(), elsewhere("dan")); s.err == nil ||
				!strings.Contains(s.err.Error(), "maximum of 4 tasks for everyone") {
				t.Errorf("a fifth of all: err = %v", s.err)
			}
		})
}

// load is a random load on the queue, with the expected properties.
type load struct {
	name   string
	limits sessions.Limits
	tasks  int
	users  int
	guilds int
}

func TestUnderAnyLoadCapsHoldEverybodyIsServedAndNobodyOvertakesForEver(t *testing.T) {
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for _, l := range []load{
		{"one place", sessions.Limits{Running: 1}, 60, 5, 2},
		{"some places", sessions.Limits{Running: 3}, 80, 6, 3},
		{"a cap for users", sessions.Limits{Running: 4, RunningPerUser: 1}, 80, 6, 2},
		{"a cap for guilds", sessions.Limits{Running: 4, RunningPerGuild: 2}, 80, 6, 3},
		{"all caps", sessions.Limits{Running: 3, RunningPerGuild: 2, RunningPerUser: 1, Sessions: 3}, 80, 8, 3},
		{"few pages", sessions.Limits{Sessions: 2}, 60, 5, 2},
	} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", l.name, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { l.check(t, rand.New(rand.NewPCG(seed, 1))) })
			})
		}
	}
}

// check runs the load and checks the properties.
func (l load) check(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	var mu sync.Mutex
	running := make(map[string]int) // also by user and by guild
	worst := make(map[string]int)
	count := func(task sessions.Task, n int) {
		mu.Lock()
		defer mu.Unlock()
		for kind, key := range map[string]string{"": "all", "user": "user " + task.Origin.User, "guild": "guild " +
			task.Origin.Guild} {
			running[key] += n
			worst[kind] = max(worst[kind], running[key])
		}
	}
	took := make(map[string]time.Duration) // by task
	backend := &sessionstest.Backend{Script: func(_ sessions.Session, task sessions.Task) []sessionstest.ScriptStep {
		count(task, 1)
		hold := make(chan struct{})
		mu.Lock()
		defer mu.Unlock()
		time.AfterFunc(took[task.ID], func() {
			count(task, -1)
			close(hold)
		})
		return []sessionstest.ScriptStep{sessionstest.Wait("wait", hold), sessionstest.Answer("done")}
	}}
	r := newRig(t, l.limits, backend)
	var all []*started
	for i := range l.tasks {
		user := rnd.IntN(l.users) * rnd.IntN(2) // every other one is of the same user
		task := parseTask(fmt.Sprintf("g%d/u%d", user%l.guilds, user))
		task.ID = strconv.Itoa(i)
		mu.Lock()
		took[task.ID] = time.Duration(1+rnd.IntN(10_000_000)) * time.Microsecond
		mu.Unlock()
		all = append(all, r.start(t.Context(), task))
		pass(time.Duration(rnd.IntN(2_000_000)) * time.Microsecond)
	}
	recs := make([]sessions.TaskRecord, 0, len(all))
	for _, s := range all {
		rec := s.end(t)
		if rec.State != sessions.TaskDone {
			t.Errorf("task %s: %s, %q", rec.ID, rec.State, rec.Reason)
		}
		recs = append(recs, rec)
	}
	for kind, most := range map[string]int{
		"": l.limits.Running, "user": l.limits.RunningPerUser,
		"guild": l.limits.RunningPerGuild,
	} {
		if most > 0 && worst[kind] > most {
			t.Errorf("%d tasks of one %s ran at once, want at most %d", worst[kind], kind, most)
		}
	}
	if l.limits.RunningPerGuild == 0 { // there the first in line may have to wait for its guild
		checkTurns(t, recs)
	}
}

// checkTurns checks that a task of a user with nothing queued or running waits for at most two tasks of each other
// user that start after it was asked for: one for the current round, and one if the user had had a turn in it
// already.
func checkTurns(t *testing.T, recs []sessions.TaskRecord) {
	t.Helper()
	for _, rec := range recs {
		first := true
		before := make(map[string]int)
		for _, o := range recs {
			if o.Origin.User == rec.Origin.User {
				first = first && (o.ID == rec.ID || !o.Asked.Before(rec.Asked) || o.Ended.Before(rec.Asked))
			} else if o.Started.After(rec.Asked) && o.Started.Before(rec.Started) {
				before[o.Origin.User]++
			}
		}
		for user, n := range before {
			if first && n > 2 {
				t.Errorf("task %s of %s waited for %d tasks of %s", rec.ID, rec.Origin.User, n, user)
			}
		}
	}
}
