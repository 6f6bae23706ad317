package server

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/cancel"
	"clank/internal/budget"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// Events of the month.
const (
	monthServers, monthPeople = 50, 200

	monthHourUser, monthHourGuild = 3, 4 // tasks
	monthUserCalls, monthMost     = 5, 8 // calls of one person, and of one server, in a day
	monthAtOnce                   = 2    // tasks of one server
)

// wholeMonth runs many tasks, of which make test runs only some.
var wholeMonth = flag.Bool("other", false, "a whole month of tasks, which make test leaves out")

// monthServer is the expected state of a server.
type monthServer struct {
	id    string
	rooms []string
	role  string
	set   settings.Server
	gone  bool
}

// monthTask is the expected state of a task.
type monthTask struct {
	sessions.Task

	on             *monthServer
	profile, model string
	refusal        error // what it should be refused with; nil: it is taken

	ended, stopped, spent bool
	got                   sessions.TaskRecord
	err                   error
}

// month simulates people on many servers. It keeps its own account of what may happen, and compares.
type month struct {
	t       *testing.T
	rand    *rand.Rand // of the test alone
	lasts   *rand.Rand // how long tasks take; guarded by mu
	server  *Server
	manager *sessions.Manager
	servers []*monthServer
	work    sync.WaitGroup
	last    struct { // who asked last: they often ask again
		on   *monthServer
		from sessions.Origin
	}

	mu       sync.Mutex
	tasks    map[string]*monthTask // by id
	sessions []sessions.Session    // what tasks began, with the profile that they had
	asked    map[string][]time.Time
	calls    map[string]int // by day, and person or server
	atOnce   map[string]int // by server
	counts   map[string]int // what has happened, by its name
}

// monthPolicy is the server's policy without browsers.
type monthPolicy struct{ *Server }

func (p monthPolicy) SelectProfile(o sessions.Origin, place sessions.Place, want string) (string, error) {
	return resolveProfile(p.Settings.For(o.Guild), o, place, want)
}

func newMonth(t *testing.T, seed uint64) *month {
	t.Helper()
	db := sqlitetest.Open(t)
	env := map[string]string{"OPENAI_API_KEY": "sk-1"}
	a := &Server{
		Home: &Home{Dir: t.TempDir()}, getenv: func(name string) string { return env[name] },
		logger: slog.New(slog.DiscardHandler),
	}
	a.Settings = &settings.Manager{
		Store: db, Guilds: db, Log: a.logger, Providers: ModelProviders(),
		ServerModels: choosableModels,
	}
	check.Must(t, a.Settings.Open(t.Context()))
	_, _, err := a.Settings.Update(t.Context(), map[string]json.RawMessage{
		"interaction.access.models":                json.RawMessage(`"openai:gpt-5.6 openai:gpt-6-luna"`),
		"agentStack.runtimeConfig.budget.user":     json.RawMessage(fmt.Sprintf(`"%d calls"`, monthUserCalls)),
		"agentStack.runtimeConfig.budget.guild":    json.RawMessage(fmt.Sprintf(`"%d calls"`, monthMost)),
		"agentStack.runtimeConfig.budget.timeZone": json.RawMessage(`"UTC"`),
	}, "")
	check.Must(t, err)
	a.budget = NewBudgetEnforcer(db, a.Settings.Current, a.logger)
	a.budget.GuildLimit = a.guildLimit
	a.models = a.newModelFinder()
	m := &month{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), lasts: rand.New(rand.NewPCG(seed, 2)), server: a,
		tasks: map[string]*monthTask{}, asked: map[string][]time.Time{},
		calls: map[string]int{}, atOnce: map[string]int{}, counts: map[string]int{},
	}
	for i := range monthServers {
		s := &monthServer{id: strconv.Itoa(100_000_000_000_000_000 + i), role: strconv.Itoa(300_000_000_000_000_000 + i)}
		for j := range 3 {
			s.rooms = append(s.rooms, strconv.Itoa(200_000_000_000_000_000+10*i+j))
		}
		m.servers = append(m.servers, s)
	}
	m.manager = &sessions.Manager{
		Store: db, Backends: map[string]sessions.Backend{settings.RuntimeLocal: m}, DefaultRuntime: settings.RuntimeLocal,
		Policy: monthPolicy{a}, Scopes: &a.scopes, Logger: a.logger,
		Limits: func() sessions.Limits {
			return sessions.Limits{
				PerHourUser: monthHourUser, PerHourGuild: monthHourGuild, Running: 8, RunningPerGuild: monthAtOnce,
				RunningPerUser: 2,
				Sessions:       20, SessionIdle: 5 * time.Minute, MaxSteps: 10, TaskTimeout: time.Hour,
			}
		},
	}
	check.Must(t, m.manager.Open(t.Context()))
	return m
}

func (m *month) errorf(format string, args ...any) {
	m.t.Helper()
	m.t.Errorf("%s: "+format, append([]any{time.Now().UTC().Format("02 15:04:05")}, args...)...)
}

// someone returns a random person and server: each person is on a few servers, with its role on every other one.
func (m *month) someone() (*monthServer, sessions.Origin) {
	if m.last.on != nil && m.rand.IntN(2) == 0 {
		return m.last.on, m.last.from
	}
	n := m.rand.IntN(monthPeople)
	i := n%5 + m.rand.IntN(4)*(n%12)
	s := m.servers[i]
	o := sessions.Origin{
		Kind: sessions.FromDiscord, Guild: s.id, Channel: s.rooms[m.rand.IntN(len(s.rooms))],
		User:    strconv.Itoa(400_000_000_000_000_000 + n),
		Private: m.rand.IntN(8) == 0,
	}
	if (n+i)%2 == 0 {
		o.Roles = []string{s.role}
	}
	if m.rand.IntN(5) == 0 {
		o.Channel, o.Parent = "thread of "+o.Channel, o.Channel
	}
	return s, o
}

// usual returns values that the managers of s might set.
func (m *month) usual(s *monthServer) settings.Server {
	pick := func(values ...string) string { return values[m.rand.IntN(len(values))] }
	return settings.Server{
		Channels: pick("", "", s.rooms[0], s.rooms[1]+" "+s.rooms[2]), Roles: pick("", "", s.role),
		Model:  pick("", "openai:gpt-5.6", "openai:gpt-6-luna"),
		Budget: pick("", "2 calls", "5 calls"), Language: pick("", "de", "ja"), Isolation: pick("", settings.IsolationPerson),
		Private: m.rand.IntN(4) == 0,
	}
}

// setUp changes all settings of s as its managers.
func (m *month) setUp(s *monthServer) {
	next, changes := m.usual(s), map[string]json.RawMessage{}
	for key, v := range map[string]any{
		settings.ServerChannels: next.Channels, settings.ServerRoles: next.Roles, settings.ServerModel: next.Model,
		settings.ServerBudget:   next.Budget,
		settings.ServerLanguage: next.Language, settings.ServerIsolation: next.Isolation,
		settings.ServerPrivate: next.Private,
	} {
		changes[key], _ = json.Marshal(v)
	}
	check.Must(m.t, m.server.Settings.UpdateGuild(m.t.Context(), s.id, changes, m.server.Settings.Guild(s.id).Version))
	s.set = next
}

// leave makes clank leave s, or return to it.
func (m *month) leave(s *monthServer) {
	if s.gone = !s.gone; !s.gone {
		return
	}
	m.mu.Lock() // until it is known what was stopped
	defer m.mu.Unlock()
	s.set = settings.Server{}
	m.server.scopes.StopGuild(s.id, &cancel.Cause{Reason: cancel.Gone})
	check.Must(m.t, m.server.Settings.ForgetGuild(m.t.Context(), s.id))
	for _, t := range m.tasks {
		t.stopped = t.stopped || t.on == s && t.refusal == nil && !t.ended
	}
}

// stop lets someone say stop in a channel.
func (m *month) stop() {
	s, o := m.someone()
	by := cancel.Actor{ID: o.User, Moderator: m.rand.IntN(3) == 0}
	m.mu.Lock() // until it is known what was stopped
	defer m.mu.Unlock()
	stopped, _ := m.server.scopes.Stop(cancel.Scope{Guild: s.id, Channel: o.Channel}, by, false)
	m.counts["stopped"] += len(stopped)
	for _, w := range stopped {
		t := m.tasks[w.ID]
		if t.on != s || t.Origin.Channel != o.Channel || t.Origin.User != by.ID && !by.Moderator {
			m.errorf("%s was stopped by %+v on %s", t.ID, by, s.id)
		}
		t.stopped = true
	}
}

// ask lets someone ask for a task, and checks whether it is accepted as expected.
func (m *month) ask(n int) {
	s, o := m.someone()
	if s.gone {
		return
	}
	m.last.on, m.last.from = s, o
	o.Private = o.Private || s.set.Private // as bots ask
	t := &monthTask{
		Task: sessions.Task{ID: "t" + strconv.Itoa(n), Prompt: "task " + strconv.Itoa(n), Origin: o}, on: s,
		model: "plain:steps",
	}
	var goesOn *sessions.Session
	if len(m.sessions) > 0 && m.rand.IntN(2) == 0 {
		goesOn = &m.sessions[len(m.sessions)-1-m.rand.IntN(min(len(m.sessions), 300))]
		if i := slices.IndexFunc(m.sessions, func(s sessions.Session) bool { return s.Origin.User == o.User }); i >= 0 &&
			m.rand.IntN(4) > 0 {
			goesOn = &m.sessions[i]
		}
		t.SessionID = goesOn.ID
	}
	if s.set.Model != "" {
		t.model = s.set.Model
	}
	private := o.Private
	if goesOn != nil {
		private = goesOn.Origin.Private
	}
	switch {
	case private:
		t.profile = "clank@person-" + o.User
	case s.set.Isolation == settings.IsolationPerson:
		t.profile = "clank@person-" + o.User + "at" + s.id
	default:
		t.profile = "clank@server-" + s.id
	}
	t.refusal = m.refusal(t, goesOn)
	m.tasks[t.ID] = t
	if t.refusal == nil {
		for _, key := range []string{o.User, s.id} {
			m.asked[key] = append(m.asked[key], time.Now())
		}
	}
	m.work.Go(func() { m.run(t) })
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case t.refusal != nil && (!t.ended || !errors.Is(t.err, t.refusal)):
		m.errorf("%s should be refused as %v, and is %q, %v", t.ID, t.refusal, t.got.State, t.err)
	case t.refusal == nil && t.ended && t.err != nil:
		m.errorf("%s should be taken: %v", t.ID, t.err)
	}
	if t.refusal != nil {
		m.counts[t.refusal.Error()]++
	}
}

// refusal returns the expected refusal of t.
func (m *month) refusal(t *monthTask, goesOn *sessions.Session) error {
	o, set := t.Origin, t.on.set
	room := o.Channel
	if o.Parent != "" {
		room = o.Parent
	}
	if set.Channels != "" && !strings.Contains(set.Channels, room) || set.Roles != "" && len(o.Roles) == 0 {
		return sessions.ErrForbidden
	}
	for key, most := range map[string]int{o.User: monthHourUser, t.on.id: monthHourGuild} {
		lately := slices.DeleteFunc(m.asked[key], func(at time.Time) bool { return time.Since(at) > time.Hour })
		if m.asked[key] = lately; len(lately) >= most {
			return sessions.ErrBudgetSpent
		}
	}
	switch {
	case goesOn == nil:
	case goesOn.Origin.User != o.User:
		return sessions.ErrNotOwner
	case goesOn.Origin.Private && !o.Private:
		return sessions.ErrBadTask
	case goesOn.Profile != t.profile: // of another server, or from before the server changed whose it is
		return sessions.ErrForbidden
	}
	return nil
}

// run runs a task, and checks what its person receives.
func (m *month) run(t *monthTask) {
	rec, err := m.manager.Run(m.t.Context(), t.Task, func(e sessions.Event) {
		if e.Record.ID != t.ID || e.Record.Prompt != t.Prompt || e.Step != nil && e.Step.Text != "" &&
			!strings.HasSuffix(e.Step.Text, t.Prompt) {
			m.errorf("the person of %s was told of %s: %+v", t.ID, e.Record.ID, e.Step)
		}
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	t.ended, t.got, t.err = true, rec, err
	if t.refusal != nil {
		return
	}
	want, text := sessions.TaskDone, "answer to "+t.Prompt
	switch {
	case t.stopped:
		want, text = sessions.TaskStopped, ""
	case t.spent:
		want, text = sessions.TaskFailed, ""
	}
	if m.counts[string(want)]++; rec.State != want || rec.Answer != text {
		m.errorf("%s ended as %s, %q (%s), want %s, %q", t.ID, rec.State, rec.Answer, rec.Reason, want, text)
	}
}

// Run implements [sessions.Backend].
func (m *month) Run(ctx context.Context, s sessions.Session, task sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		lasts := m.begin(s, task)
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.atOnce[task.Origin.Guild]--
		}()
		step := sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: "click", Label: "look"}
		if !yield(step, nil) {
			return
		}
		select {
		case <-time.After(lasts):
		case <-ctx.Done():
			yield(sessions.Step{}, context.Cause(ctx))
			return
		}
		if err := m.spend(ctx, s, task); err != nil {
			yield(sessions.Step{}, err)
			return
		}
		step.Phase = sessions.PhaseDone
		if yield(step, nil) {
			yield(sessions.Step{N: 2, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer", Text: "answer to " +
				task.Prompt}, nil)
		}
	}
}

// Close implements [sessions.Backend].
func (m *month) Close(context.Context, string) error { return nil }

func (*month) Park(context.Context, string, bool) (bool, error) { return true, nil }

// begin checks a task that starts, and returns its duration.
func (m *month) begin(s sessions.Session, task sessions.Task) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tasks[task.ID]
	if t.refusal != nil || s.Profile != t.profile || task.Model != t.model || s.Origin.User != t.Origin.User ||
		task.Origin.Guild != t.on.id {
		m.errorf("%s runs with %s and %s for %s, want %s, %s, %s (%v)", task.ID, s.Profile, task.Model, s.Origin.User,
			t.profile, t.model, t.Origin.User, t.refusal)
	}
	if m.atOnce[t.on.id]++; m.atOnce[t.on.id] > monthAtOnce {
		m.errorf("%d tasks run at once on %s", m.atOnce[t.on.id], t.on.id)
	}
	if !slices.ContainsFunc(m.sessions, func(have sessions.Session) bool { return have.ID == s.ID }) {
		m.sessions = append(m.sessions, s)
	}
	return time.Duration(m.lasts.Int64N(int64(10 * time.Minute)))
}

// spend makes a model call, which must be charged only to the person and their server.
func (m *month) spend(ctx context.Context, s sessions.Session, task sessions.Task) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tasks[task.ID]
	most := monthMost
	if t.on.set.Budget != "" {
		_, _ = fmt.Sscanf(t.on.set.Budget, "%d calls", &most)
	}
	day := time.Now().UTC().Format(time.DateOnly)
	person, server := day+" "+t.Origin.User, day+" "+t.on.id
	t.spent = m.calls[person] >= monthUserCalls || m.calls[server] >= most
	err := m.server.budget.Spend(llm.WithAccount(ctx, agent.AccountOf(s, task)), budget.Estimate{Model: "plain:steps"},
		func(context.Context) (llm.Usage, time.Duration, error) { return llm.Usage{}, 0, nil })
	if (err != nil) != t.spent {
		m.errorf("%s: %v, with %d calls of the person and %d of %d of the server", t.ID, err, m.calls[person],
			m.calls[server], most)
	}
	if !t.spent {
		m.calls[person]++
		m.calls[server]++
	}
	return err
}

func TestAMonthOnManyServersMixesNothingUp(t *testing.T) {
	if testing.Short() { // make other-half runs it, whole
		t.Skip("a month takes seconds, and a minute with the race detector")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMonth(t, 7)
		begun := time.Now()
		tasks := 1500
		if *wholeMonth {
			tasks = 5000
		}
		for n := range tasks {
			gap := time.Duration(m.rand.Int64N(int64(time.Minute)))
			if m.rand.IntN(5) == 0 {
				gap = time.Duration(m.rand.Int64N(int64(80 * time.Minute)))
			}
			<-time.After(gap)
			synctest.Wait()
			s := m.servers[m.rand.IntN(len(m.servers))]
			switch dice := m.rand.IntN(1000); {
			case dice < 100 && !s.gone:
				m.setUp(s)
			case dice < 250:
				m.stop()
			case dice < 260:
				m.leave(s)
			}
			synctest.Wait()
			m.ask(n)
			if t.Failed() {
				break
			}
		}
		for _, s := range m.servers {
			if got := m.server.Settings.For(s.id); got.Server != s.set || got.Language != s.set.Language {
				t.Errorf("%s has %+v, want %+v", s.id, got.Server, s.set)
			}
		}
		m.work.Wait()
		check.Must(t, m.manager.Close(context.WithoutCancel(t.Context())))
		t.Logf("%s: %v, %d sessions", time.Since(begun), m.counts, len(m.sessions))
		for _, what := range []string{
			"stopped", string(sessions.TaskDone), string(sessions.TaskStopped), string(sessions.TaskFailed),
			sessions.ErrForbidden.Error(),
			sessions.ErrBudgetSpent.Error(), sessions.ErrNotOwner.Error(), sessions.ErrBadTask.Error(),
		} {
			if m.counts[what] < 5 {
				t.Errorf("%q happened %d times", what, m.counts[what])
			}
		}
	})
}
