package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// rig is an open Manager with fakes around it.
type rig struct {
	*sessions.Manager
	t       *testing.T
	store   *sessionstest.Store
	backend *sessionstest.Backend
	policy  sessionstest.Policy

	mu     sync.Mutex
	limits sessions.Limits
}

// newRig opens a Manager in a synctest bubble and closes it at the end of the test.
func newRig(t *testing.T, limits sessions.Limits, backend *sessionstest.Backend) *rig {
	t.Helper()
	r := &rig{t: t, store: sessionstest.OpenStore(t), backend: backend, limits: limits}
	r.Manager = r.manager()
	check.Must(t, r.Open(t.Context()))
	t.Cleanup(func() { check.Must(t, r.Close(context.Background())) })
	return r
}

// withRig runs a test in a bubble with a Manager whose backend does one act for every task.
func withRig(t *testing.T, limits sessions.Limits, test func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		test(t, newRig(t, limits, &sessionstest.Backend{}))
	})
}

// withHolding runs a test in a bubble with a Manager whose tasks that begin with "hold" last until free is
// called; the others end at once.
func withHolding(t *testing.T, limits sessions.Limits, test func(t *testing.T, r *rig, free func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		hold := make(chan struct{})
		free := sync.OnceFunc(func() { close(hold) })
		r := newRig(t, limits, &sessionstest.Backend{
			Script: func(_ sessions.Session, t sessions.Task) []sessionstest.ScriptStep {
				if strings.HasPrefix(t.Prompt, "hold") {
					return []sessionstest.ScriptStep{sessionstest.Wait("wait", hold), sessionstest.Answer("done")}
				}
				return []sessionstest.ScriptStep{sessionstest.Act("look"), sessionstest.Answer("done")}
			},
		})
		defer free()
		test(t, r, free)
	})
}

func (r *rig) manager() *sessions.Manager {
	return &sessions.Manager{
		Store: r.store, Backends: map[string]sessions.Backend{"script": r.backend, "other": &sessionstest.Backend{}},
		DefaultRuntime: "script", Scopes: &cancel.Scopes{}, Policy: &r.policy,
		Limits: func() sessions.Limits {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.limits
		},
	}
}

func (r *rig) setLimits(l sessions.Limits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits = l
}

// discord returns the origin of a user in a channel of a guild.
func discord(guild, user string) sessions.Origin {
	return sessions.Origin{Kind: sessions.FromDiscord, Guild: guild, Channel: "c", User: user, UserName: "@" + user}
}

func ask(user, prompt string) sessions.Task {
	return sessions.Task{Prompt: prompt, Origin: discord("g", user)}
}

func goOn(session, user, prompt string) sessions.Task {
	task := ask(user, prompt)
	task.SessionID = session
	return task
}

func named(id, user, prompt string) sessions.Task {
	task := ask(user, prompt)
	task.ID = id
	return task
}

func (r *rig) scope() cancel.Scope { return cancel.Scope{Guild: "g", Channel: "c"} }

// run runs a task to its end. The task must be accepted.
func (r *rig) run(task sessions.Task) sessions.TaskRecord {
	r.t.Helper()
	rec, err := r.Run(r.t.Context(), task, nil)
	check.Must(r.t, err)
	return rec
}

// pass advances the fake clock and waits until every goroutine is blocked.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// started is a task running on its own goroutine.
type started struct {
	done chan struct{}
	rec  sessions.TaskRecord
	err  error

	mu     sync.Mutex
	events []string
}

// start starts a task and waits until every goroutine is blocked.
func (r *rig) start(ctx context.Context, task sessions.Task) *started {
	s := &started{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.rec, s.err = r.Run(ctx, task, func(ev sessions.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, describe(ev))
		})
	}()
	synctest.Wait()
	return s
}

func (s *started) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}

func (s *started) final() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *started) end(t *testing.T) sessions.TaskRecord {
	t.Helper()
	<-s.done
	check.Must(t, s.err)
	return s.rec
}

func describe(ev sessions.Event) string {
	switch {
	case ev.Step != nil:
		return fmt.Sprintf("%s %d %s", ev.Step.Phase, ev.Step.N, ev.Step.Label)
	case ev.Record.State == sessions.TaskQueued:
		return strings.TrimSpace(fmt.Sprintf("queued %d %s", ev.Record.Position, ev.Record.Shortage))
	case ev.Record.HeldBy != "":
		return "held by " + ev.Record.HeldBy
	}
	return string(ev.Record.State)
}

// scripts returns a backend that plays the script for the prompt.
func scripts(byPrompt map[string][]sessionstest.ScriptStep) *sessionstest.Backend {
	return &sessionstest.Backend{Script: func(_ sessions.Session, t sessions.Task) []sessionstest.ScriptStep {
		if moves, ok := byPrompt[t.Prompt]; ok {
			return moves
		}
		return []sessionstest.ScriptStep{sessionstest.Act("look"), sessionstest.Answer("done: " + t.Prompt)}
	}}
}

func TestAnAnswerThatSaysItCouldNotBeDoneIsAFailedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := sessionstest.Answer("there is no lamp")
		answer.Step.Failed = true
		r := newRig(t, sessions.Limits{}, scripts(map[string][]sessionstest.ScriptStep{"p": {answer}}))
		rec := r.start(t.Context(), ask("ada", "p")).end(t)
		if rec.State != sessions.TaskFailed || rec.Answer != "there is no lamp" || rec.Reason != "" {
			t.Errorf("state %s, answer %q, reason %q, want a failed task whose answer says why", rec.State, rec.Answer,
				rec.Reason)
		}
	})
}

func TestATaskIsDoneAndEverythingIsToldAndWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		think := sessionstest.ScriptStep{Step: sessions.Step{
			Kind: sessions.StepThink, Label: "think",
			Usage: llm.Usage{Calls: 1, USD: 0.5},
		}}
		look := sessionstest.Act("look")
		look.Step.Memory = []byte(`{"k":1}`)
		look.Step.View = &llm.Image{MediaType: "image/png", Data: []byte{1}}
		answer := sessionstest.Answer("a lamp")
		answer.Step.Images = []llm.Image{{MediaType: "image/png", Data: []byte{2}}}
		r := newRig(t, sessions.Limits{Views: 3}, scripts(map[string][]sessionstest.ScriptStep{"p": {think, look, answer}}))
		all, unsubscribe := r.Subscribe()
		defer unsubscribe()

		s := r.start(t.Context(), ask("ada", "p"))
		rec := s.end(t)

		want := []string{
			"queued 0", "running", "begun 1 think", "done 1 think", "begun 2 look", "done 2 look",
			"done 3 answer", "done",
		}
		check.Diff(t, "told", s.told(), want)
		var heard []string
		for range want {
			heard = append(heard, describe(<-all))
		}
		check.Diff(t, "subscriber heard", heard, want)
		if rec.State != sessions.TaskDone || rec.Answer != "a lamp" || len(rec.Images) != 1 || rec.Steps != 1 ||
			rec.Usage.USD != 0.5 {
			t.Errorf("record = %+v", rec)
		}
		stored, err := r.Task(t.Context(), rec.ID)
		check.Must(t, err)
		if diff := cmp.Diff(rec, stored); diff != "" {
			t.Errorf("stored record (-returned +stored):\n%s", diff)
		}
		session, err := r.Session(t.Context(), rec.SessionID)
		check.Must(t, err)
		if session.State != sessions.SessionIdle || session.URL != "http://example.test/look" || session.Title != "look" ||
			string(session.Memory) != `{"k":1}` || session.Steps != 1 || session.Usage.USD != 0.5 ||
			session.Runtime != "script" {
			t.Errorf("session = %+v", session)
		}
		steps, err := r.Steps(t.Context(), rec.ID)
		if err != nil || len(steps) != 3 {
			t.Errorf("steps = %+v, %v", steps, err)
		}
		if v, err := r.View(t.Context(), rec.ID, 2); err != nil || len(v.Data) != 1 {
			t.Errorf("view = %+v, %v", v, err)
		}
	})
}

func TestWhatIsNotAcceptedIsRefusedInWordsForPeople(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits sessions.Limits
		task   sessions.Task
		want   error
		words  string
	}{
		{"an empty task", sessions.Limits{}, ask("ada", " \n"), sessions.ErrBadTask, "say what to do"},
		{
			"a long task",
			sessions.Limits{},
			ask("ada", strings.Repeat("ü", 8001)), sessions.ErrBadTask,
			"8001 characters and may have 8000",
		},
		{"when it is off", sessions.Limits{Disabled: true}, ask("ada", "p"), sessions.ErrDisabled, "switched off"},
		{
			"when Discord may not",
			sessions.Limits{PerHourUser: -1},
			ask("ada", "p"), sessions.ErrBudgetSpent,
			"no tasks per hour",
		},
		{
			"an unknown session",
			sessions.Limits{},
			sessions.Task{Prompt: "p", SessionID: "nope"},
			sessions.ErrNotFound,
			`no session "nope"`,
		},
		{
			"an unknown runtime",
			sessions.Limits{},
			sessions.Task{Prompt: "p", Runtime: "x"},
			sessions.ErrBadTask,
			`no runtime "x"; there is: other, script`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withRig(t, tc.limits, func(t *testing.T, r *rig) {
				t.Helper()
				_, err := r.Run(t.Context(), tc.task, func(ev sessions.Event) { t.Errorf("told %s", describe(ev)) })
				if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.words) {
					t.Errorf("err = %v, want %v that says %q", err, tc.want, tc.words)
				}
				if tasks, err := r.Tasks(t.Context(), sessions.TaskQuery{}); err != nil || len(tasks) != 0 {
					t.Errorf("tasks = %v, %v, want none", tasks, err)
				}
			})
		})
	}
}

func TestTheLongestTaskIsAccepted(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		prompt := strings.Repeat("ü", 8000)
		if rec := r.run(ask("ada", prompt)); rec.Answer != "done: "+prompt {
			t.Error("the prompt was changed")
		}
	})
}

func TestASessionGoesOnForItsOwnerAlone(t *testing.T) {
	operator := sessions.Origin{Kind: sessions.FromTerminal, Channel: "cli"}
	dashboard := sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard"}
	named := sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard", User: "ada"}
	for _, tc := range []struct {
		name      string
		owner, by sessions.Origin
		want      error
	}{
		{"the one who began it", discord("g", "ada"), discord("g", "ada"), nil},
		{"in another guild", discord("g", "ada"), discord("h", "ada"), nil},
		{"somebody else", discord("g", "ada"), discord("g", "bob"), sessions.ErrNotOwner},
		{"the operator, from another door", operator, dashboard, nil},
		{"the operator, of a session that has a name", named, operator, nil},
		{"somebody with a name, of the operator's", operator, named, sessions.ErrNotOwner},
		{"the operator, of somebody's in Discord", discord("g", "ada"), dashboard, sessions.ErrNotOwner},
		{"somebody in Discord with the same name", named, discord("g", "ada"), sessions.ErrNotOwner},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
				t.Helper()
				first := r.run(sessions.Task{Prompt: "one", Origin: tc.owner})
				second, err := r.Run(t.Context(),
					sessions.Task{Prompt: "two", Origin: tc.by, SessionID: " " + strings.ToUpper(first.SessionID)}, nil)
				if !errors.Is(err, tc.want) {
					t.Fatalf("err = %v, want %v", err, tc.want)
				}
				if err == nil && second.SessionID != first.SessionID {
					t.Errorf("it went on with %q, want %q", second.SessionID, first.SessionID)
				}
			})
		})
	}
}

func TestASessionKeepsItsRuntime(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		task := ask("ada", "p")
		task.Runtime = "other"
		rec := r.run(task)
		task.SessionID, task.Runtime = rec.SessionID, ""
		if rec = r.run(task); rec.Runtime != "other" {
			t.Errorf("runtime = %q, want the session's", rec.Runtime)
		}
		task.Runtime = "nobody"
		check.Fails(t, check.Err(r.Run(t.Context(), task, nil)), sessions.ErrBadTask)
		task.Runtime = "script"
		if rec = r.run(task); rec.Runtime != "script" {
			t.Errorf("runtime = %q, want the one asked for", rec.Runtime)
		}
	})
}

func TestATaskThatIsThereAlreadyIsRefused(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		task := named("mine", "ada", "p")
		if rec := r.run(task); rec.ID != "mine" {
			t.Errorf("id = %q, want mine", rec.ID)
		}
		check.Fails(t, check.Err(r.Run(t.Context(), task, nil)), sessions.ErrBadTask)
	})
}

func TestStepsAreLimitedForEachTask(t *testing.T) {
	for _, tc := range []struct {
		name       string
		limits     sessions.Limits
		asks, want int
	}{
		{"the setting", sessions.Limits{MaxSteps: 10}, 0, 10},
		{"fewer", sessions.Limits{MaxSteps: 10}, 3, 3},
		{"more than there may be", sessions.Limits{MaxSteps: 10}, 50, 10},
		{"more, where a task may ask for more", sessions.Limits{MaxSteps: 10, StepCeiling: 30}, 50, 30},
		{"nonsense", sessions.Limits{MaxSteps: 10}, -5, 10},
		{"no limit", sessions.Limits{}, 50, 50},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := 0
				r := newRig(t, tc.limits,
					&sessionstest.Backend{Script: func(_ sessions.Session, t sessions.Task) []sessionstest.ScriptStep {
						got = t.MaxSteps
						return []sessionstest.ScriptStep{sessionstest.Answer("ok")}
					}})
				task := ask("ada", "p")
				task.MaxSteps = tc.asks
				r.run(task)
				check.Equal(t, "most steps", got, tc.want)
			})
		})
	}
}

func TestTheHoursTasksFromDiscordAreCounted(t *testing.T) {
	withRig(t, sessions.Limits{PerHourUser: 2, PerHourGuild: 3}, func(t *testing.T, r *rig) {
		t.Helper()
		refused := func(task sessions.Task, words ...string) {
			t.Helper()
			_, err := r.Run(t.Context(), task, nil)
			for _, w := range words {
				check.Fails(t, err, sessions.ErrBudgetSpent, w)
			}
		}
		r.run(ask("ada", "one"))
		pass(10 * time.Minute)
		r.run(ask("ada", "two"))
		refused(ask("ada", "three"), "you have had the maximum of 2 tasks", "in 50 minutes")
		r.run(ask("bob", "of somebody else"))
		refused(ask("cy", "three"), "this server has had the maximum of 3 tasks within an hour", "in 50 minutes")
		r.run(sessions.Task{Prompt: "elsewhere", Origin: discord("h", "cy")})
		r.run(sessions.Task{Prompt: "directly", Origin: discord("", "cy")})
		refused(sessions.Task{Prompt: "directly", Origin: discord("", "ada")}, "you have had the maximum of 2 tasks")
		r.run(sessions.Task{Prompt: "four", Origin: sessions.Origin{Kind: sessions.FromDashboard}})
		pass(51 * time.Minute)
		r.run(ask("ada", "three"))
	})
}

func TestAnswersAndFailuresEndATask(t *testing.T) {
	limited := sessionstest.Answer("so far")
	limited.Step.Limit = "step limit of 10"
	closed := sessionstest.Answer("bye")
	closed.Step.Closed = true
	spent := &cancel.Cause{Reason: cancel.BudgetSpent, Detail: "$2"}
	for _, tc := range []struct {
		name          string
		moves         []sessionstest.ScriptStep
		state         sessions.TaskState
		answer, words string
	}{
		{"an answer", []sessionstest.ScriptStep{sessionstest.Answer("yes")}, sessions.TaskDone, "yes", ""},
		{"a limit", []sessionstest.ScriptStep{limited}, sessions.TaskLimited, "so far", "step limit of 10"},
		{"the model closed it", []sessionstest.ScriptStep{closed}, sessions.TaskDone, "bye", ""},
		{
			"an error",
			[]sessionstest.ScriptStep{sessionstest.Act("x"), {Err: errors.New("no key for the model")}},
			sessions.TaskFailed, "", "no key for the model",
		},
		{
			"a budget",
			[]sessionstest.ScriptStep{{Err: fmt.Errorf("ask: %w", spent)}},
			sessions.TaskLimited, "",
			"budget spent: $2",
		},
		{"a panic", []sessionstest.ScriptStep{{Panic: "nil map"}}, sessions.TaskFailed, "", "crashed: nil map"},
		{"nothing", []sessionstest.ScriptStep{sessionstest.Act("x")}, sessions.TaskFailed, "", "without an answer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, sessions.Limits{}, scripts(map[string][]sessionstest.ScriptStep{"p": tc.moves}))
				rec := r.run(ask("ada", "p"))
				if rec.State != tc.state || rec.Answer != tc.answer || !strings.Contains(rec.Reason, tc.words) ||
					(tc.words == "") != (rec.Reason == "") {
					t.Errorf("record: %s, answer %q, reason %q", rec.State, rec.Answer, rec.Reason)
				}
				next := goOn(rec.SessionID, "ada", "again")
				again, err := r.Run(t.Context(), next, nil)
				switch {
				case rec.Closed && !errors.Is(err, sessions.ErrSessionClosed):
					t.Errorf("a closed session went on: %v", err)
				case !rec.Closed && (err != nil || again.State != sessions.TaskDone):
					t.Errorf("the session did not go on: %+v, %v", again, err)
				}
			})
		})
	}
}

func TestNothingIsDoneThatCannotBeWrittenDown(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		r.store.Fail = func(m string) error {
			if m == "SaveStep" {
				return errors.New("the disk is full")
			}
			return nil
		}
		s := r.start(t.Context(), ask("ada", "p"))
		rec := s.end(t)
		if rec.State != sessions.TaskFailed || !strings.Contains(rec.Reason, "the disk is full") {
			t.Errorf("record: %s, reason %q", rec.State, rec.Reason)
		}
		check.Diff(t, "told", s.told(), []string{"queued 0", "running", "failed"})
		check.Equal(t, "acts were done", r.backend.Acts(), 0)
	})
}

func TestAnAnswerThatCannotBeKeptIsToldAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sessions.Limits{},
			scripts(map[string][]sessionstest.ScriptStep{"p": {sessionstest.Answer("at 10:40")}}))
		r.store.Fail = func(m string) error {
			if m == "SaveStep" {
				return &sessions.StoreError{Text: "there is no room", Err: errors.New("13")}
			}
			return nil
		}
		rec := r.start(t.Context(), ask("ada", "p")).end(t)
		if want := "what was done could not be written down: there is no room"; rec.State != sessions.TaskFailed ||
			rec.Answer != "at 10:40" || rec.Reason != want {
			t.Errorf("state %s, answer %q, reason %q", rec.State, rec.Answer, rec.Reason)
		}
	})
}

func TestATaskThatCannotBeWrittenDownIsNotAccepted(t *testing.T) {
	withRig(t, sessions.Limits{Running: 1, Queued: 1}, func(t *testing.T, r *rig) {
		t.Helper()
		broken := errors.New("the disk is full")
		fail := true
		r.store.Fail = func(m string) error {
			if m == "SaveTask" && fail {
				return broken
			}
			return nil
		}
		check.Fails(t, check.Err(r.Run(t.Context(), ask("ada", "p"), nil)), broken)
		fail = false
		r.run(ask("ada", "p"))
	})
}

func TestASubscriberWhoFallsBehindIsToldSo(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		slow, stopSlow := r.Subscribe()
		defer stopSlow()
		quick, stopQuick := r.Subscribe()
		heard := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range quick {
				heard++
			}
		}()
		for range 60 { // six events each
			r.run(ask("ada", "p"))
			synctest.Wait()
		}
		stopQuick()
		stopQuick()
		<-done
		n := 0
		for range slow {
			n++
		}
		if n >= heard || n < 100 {
			t.Errorf("the slow one heard %d events before its channel was closed, the quick one %d", n, heard)
		}
		check.Equal(t, "heard", heard, 60*6)
	})
}

func TestTheNextStartTidiesUp(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		session := sessions.Session{
			ID: "old", Origin: discord("g", "ada"), Runtime: "script", State: sessions.SessionRunning,
			URL: "http://x.test/",
		}
		task := sessions.TaskRecord{Task: sessions.Task{ID: "t", SessionID: "old", Prompt: "p"}, State: sessions.TaskRunning}
		check.Must(t, r.store.SaveTask(t.Context(), task, session))
		second := r.manager()
		check.Must(t, second.Open(t.Context()))
		defer second.Close(t.Context())
		rec, err := second.Task(t.Context(), "t")
		if err != nil || rec.State != sessions.TaskInterrupted || rec.Reason == "" {
			t.Errorf("task = %+v, %v", rec, err)
		}
		next := goOn("old", "ada", "go on")
		if rec, err := second.Run(t.Context(), next, nil); err != nil || rec.State != sessions.TaskDone {
			t.Errorf("the session did not go on: %+v, %v", rec, err)
		}
	})
}

func TestWhoMayNotEnterIsRefusedBeforeAnythingHappens(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		r.policy.Access = func(o sessions.Origin) error {
			if o.User == "ada" {
				return nil
			}
			return errors.New("you are not on the list")
		}
		r.run(ask("ada", "lamps"))
		_, err := r.Run(t.Context(), ask("eve", "secrets"), nil)
		if !errors.Is(err, sessions.ErrForbidden) || err.Error() != "you are not on the list" {
			t.Errorf("got %v, want the refusal in its own words", err)
		}
		if all, err := r.Tasks(t.Context(), sessions.TaskQuery{}); err != nil || len(all) != 1 {
			t.Errorf("written down: %d tasks, %v; want ada's alone", len(all), err)
		}
	})
}

// profiles gives everybody a profile with their own name, and "shared" to all who ask for it.
func profiles(o sessions.Origin, _ sessions.Place, want string) (string, error) {
	switch want {
	case "", o.User:
		return o.User, nil
	case "shared":
		return want, nil
	}
	return "", errors.New("that profile is not yours")
}

func TestASessionKeepsTheProfileItBeganWith(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		r.policy.Profile = profiles
		profile := func(id string) string {
			s, err := r.Session(t.Context(), id)
			check.Must(t, err)
			return s.Profile
		}
		own := r.run(ask("ada", "one"))
		check.Equal(t, "without a wish", profile(own.SessionID), "ada")
		task := ask("ada", "two")
		task.Profile = "shared"
		shared := r.run(task)
		check.Equal(t, "with a wish", profile(shared.SessionID), "shared")
		task = goOn(shared.SessionID, "ada", "three")
		r.run(task)
		check.Equal(t, "gone on with", profile(shared.SessionID), "shared")
		task.Profile = "ada"
		check.Fails(t, check.Err(r.Run(t.Context(), task, nil)), sessions.ErrBadTask, "start a new one")
		task = ask("ada", "four")
		task.Profile = "bob"
		check.Fails(t, check.Err(r.Run(t.Context(), task, nil)), sessions.ErrForbidden)
	})
}

func TestAProfileThatWasTakenAwayEndsItsSessions(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		r.policy.Profile = profiles
		task := ask("ada", "one")
		task.Profile = "shared"
		task.SessionID = r.run(task).SessionID
		task.Profile = ""
		r.policy.Profile = func(_ sessions.Origin, _ sessions.Place, want string) (string, error) {
			return "", errors.New("the profile " + want + " is not yours")
		}
		check.Fails(t, check.Err(r.Run(t.Context(), task, nil)), sessions.ErrForbidden, "shared")
	})
}

func TestAPrivateSessionIsNotGoneOnWithInPublic(t *testing.T) {
	withRig(t, sessions.Limits{}, func(t *testing.T, r *rig) {
		t.Helper()
		task := ask("ada", "my bank")
		task.Origin.Private = true
		task.SessionID = r.run(task).SessionID
		r.run(task)
		if last, err := r.LastSession(t.Context(), task.Origin); err != nil || last.ID != task.SessionID {
			t.Errorf("the last session, asked privately: %q, %v", last.ID, err)
		}
		task.Origin.Private = false
		check.Fails(t, check.Err(r.LastSession(t.Context(), task.Origin)), sessions.ErrNotFound)
		check.Fails(t, check.Err(r.Run(t.Context(), task, nil)), sessions.ErrBadTask, "private")
	})
}
