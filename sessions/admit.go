package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"clank/cancel"
	"clank/internal/untrusted"
)

// admit checks a task, gives it a session and stores it. The caller must then enqueue it and call endJob in the end.
func (m *Manager) admit(ctx context.Context, t Task, watch func(Event)) (*queuedTask, error) {
	lim := m.Limits()
	if err := checkPrompt(t.Prompt); err != nil {
		return nil, err
	}
	if lim.Disabled {
		return nil, ErrDisabled
	}
	if err := m.checkAccess(t.Origin); err != nil {
		return nil, err
	}
	if err := m.lockLoading(ctx); err != nil {
		return nil, err
	}
	defer m.unlockLoading()
	if err := m.checkHour(ctx, t.Origin, lim); err != nil {
		return nil, err
	}
	asked := t
	l, err := m.resolveSession(ctx, &t)
	if err != nil {
		return nil, err
	}
	defer m.unpin(l)
	if err := m.assignID(ctx, &t); err != nil {
		return nil, err
	}
	if err := m.adoptFiles(l, &t); err != nil {
		return nil, err
	}
	t.MaxSteps = lim.steps(t.MaxSteps)
	inbox := cmp.Or(t.Inbox, &Inbox{})
	t.Inbox = nil // it is for the backend, not for watchers
	prompt := t.Prompt
	t.Prompt = m.maskPrompt(l, prompt)
	j := &queuedTask{
		prompt: prompt, likely: LikelyCodes(prompt),
		inbox: inbox, runtimeRequested: asked.Runtime != "", requestedModel: asked.Model,
		rec:  TaskRecord{Task: t, State: TaskQueued, Asked: time.Now()},
		live: l, user: userKey(t.Origin), guild: guildKey(t.Origin), watch: watch,
		start: make(chan struct{}), positionChanged: make(chan struct{}, 1),
	}
	if err := m.reserve(j, lim); err != nil {
		return nil, err
	}
	err = m.saveWith(ctx, l, func(ctx context.Context, s Session) error { return m.Store.SaveTask(ctx, j.rec, s) })
	if err != nil {
		m.endJob(j, false)
		m.activeRuns.Done()
		return nil, fmt.Errorf("write down the task: %w", err)
	}
	return j, nil
}

// enqueue puts j in the queue, where it can be stopped and started, and returns the context that a stop cancels.
func (m *Manager) enqueue(ctx context.Context, j *queuedTask) context.Context {
	o := j.rec.Origin
	ctx, handle := m.Scopes.Begin(ctx, cancel.Scope{Guild: o.Guild, Channel: o.Channel},
		cancel.Work{ID: j.rec.ID, Owner: o.User, Label: taskLabel(j.rec.Task)})
	m.mu.Lock()
	defer m.mu.Unlock()
	j.handle = handle
	switch {
	case m.closed:
		handle.Stop(&cancel.Cause{Reason: cancel.ShuttingDown})
	case j.live.State == SessionClosed:
		handle.Stop(&cancel.Cause{Reason: cancel.Stopped, Detail: "the session was closed"})
	}
	m.queue.waiting = append(m.queue.waiting, j)
	for i, j := range m.queue.order() {
		if !j.awaitsRoom {
			j.setQueueStatus(i+1, m.held)
		}
	}
	m.dispatch()
	if j.started || j.queueStatus.position == 0 {
		j.unpublished = []queueStatus{{}} // it does not wait for others
	}
	return ctx
}

// reserve checks that the queue has room for j and binds j to its session.
func (m *Manager) reserve(j *queuedTask, lim Limits) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return ErrShuttingDown
	}
	if m.drained != nil {
		return refuse(ErrShuttingDown, "clank is being restarted and takes nothing new; ask again in a minute")
	}
	if j.live.State == SessionClosed {
		return refuse(ErrSessionClosed, "session %s is closed; leave it out to start a new one", j.live.ID)
	}
	all, guild, own := 0, 0, 0
	for _, l := range m.live {
		for _, o := range l.tasks {
			if o.started {
				continue
			}
			all++
			if o.guild == j.guild {
				guild++
			}
			if o.user == j.user {
				own++
			}
		}
	}
	switch {
	case lim.Queued > 0 && all >= lim.Queued:
		return refuse(ErrQueueFull, "the maximum of %d tasks for everyone together is waiting; try again in a while", all)
	case lim.QueuedPerGuild > 0 && j.rec.Origin.Guild != "" && guild >= lim.QueuedPerGuild:
		return refuse(ErrQueueFull, "the maximum of %d tasks for one server is waiting; try again in a while", guild)
	case lim.QueuedPerUser > 0 && own >= lim.QueuedPerUser:
		return refuse(ErrQueueFull, "the maximum of %d tasks for one person is waiting; wait for one of yours, or stop "+
			"it", own)
	}
	j.live.tasks = append(j.live.tasks, j)
	m.activeRuns.Add(1)
	return nil
}

func (m *Manager) checkAccess(o Origin) error {
	if m.Policy == nil {
		return nil
	}
	if err := m.Policy.CheckAccess(o); err != nil {
		return refuse(ErrForbidden, "%v", err)
	}
	return nil
}

func checkPrompt(prompt string) error {
	if strings.TrimSpace(prompt) == "" {
		return refuse(ErrBadTask, "the task is empty; say what to do")
	}
	if n := utf8.RuneCountInString(prompt); n > maxPrompt {
		return refuse(ErrBadTask, "the task has %d characters and may have %d; say it more briefly", n, maxPrompt)
	}
	return nil
}

// checkHour refuses a task from Discord if its person or server has reached the hourly limit.
func (m *Manager) checkHour(ctx context.Context, o Origin, lim Limits) error {
	if o.Kind != FromDiscord {
		return nil
	}
	err := m.checkHourOf(ctx, TaskQuery{User: o.User}, lim.PerHourUser, "you have had the maximum of %d tasks "+
		"within an hour; the next one can start in %v")
	if err != nil || o.Guild == "" {
		return err
	}
	return m.checkHourOf(ctx, TaskQuery{Guild: o.Guild}, lim.PerHourGuild, "this server has had the maximum of %d "+
		"tasks within an hour; the next one can start in %v")
}

// checkHourOf refuses a task if q matches limit tasks within the last hour. text is the refusal, with verbs for the
// limit and the time to wait.
func (m *Manager) checkHourOf(ctx context.Context, q TaskQuery, limit int, text string) error {
	switch {
	case limit == 0:
		return nil
	case limit < 0:
		return refuse(ErrBudgetSpent, "browsing from Discord is switched off: the settings allow no tasks per hour")
	}
	now := time.Now()
	q.Kind, q.Since, q.Limit = FromDiscord, now.Add(-time.Hour), limit
	rs, err := m.Store.Tasks(ctx, q)
	if err != nil {
		return fmt.Errorf("count the tasks of the last hour: %w", err)
	}
	if len(rs) < limit {
		return nil
	}
	free := rs[len(rs)-1].Asked.Add(time.Hour).Sub(now)
	return refuse(ErrBudgetSpent, text, limit, DurationText(free))
}

// resolveSession returns the session that t continues, or a new one, pinned, and completes t from it.
func (m *Manager) resolveSession(ctx context.Context, t *Task) (*liveSession, error) {
	t.SessionID = strings.ToLower(strings.TrimSpace(t.SessionID))
	if t.SessionID == "" {
		return m.newSession(ctx, t)
	}
	l, err := m.pinLoading(ctx, t.SessionID)
	if err != nil {
		return nil, err
	}
	s := m.current(l)
	switch {
	case !s.MayUse(t.Origin):
		err = refuse(ErrNotOwner, "session %s belongs to %s; leave it out to start one of your own", s.ID, s.owner())
	case s.State == SessionClosed:
		err = refuse(ErrSessionClosed, "session %s is closed; leave it out to start a new one", s.ID)
	case s.Origin.Private && !t.Origin.Private:
		err = refuse(ErrBadTask, "session %s is private; go on with it privately, or leave it out to start a new one", s.ID)
	case t.Profile != "" && s.Profile != "" && t.Profile != s.Profile && !isInstance(s.Profile, t.Profile):
		err = refuse(ErrBadTask, "session %s works with the browser profile %s; to use %s, start a new one", s.ID, s.Profile,
			t.Profile)
	default:
		t.Runtime = cmp.Or(t.Runtime, s.Runtime)
		if err = m.route(t); err == nil {
			err = m.resolveProfile(t, t.Origin.Place(s.Origin.Private), s.Profile)
		}
	}
	if err != nil {
		m.unpin(l)
		return nil, err
	}
	m.mu.Lock()
	l.Profile = t.Profile
	m.mu.Unlock()
	return l, nil
}

// isInstance reports whether has is a place's own instance of the profile want.
func isInstance(has, want string) bool {
	base, place := SplitProfile(has)
	return place != "" && base == want
}

// resolveProfile sets t's browser profile. has is the profile of its session; empty if the session is new.
func (m *Manager) resolveProfile(t *Task, place Place, has string) error {
	t.Profile = cmp.Or(has, t.Profile)
	if m.Policy == nil {
		return nil
	}
	name, err := m.Policy.SelectProfile(t.Origin, place, t.Profile)
	if err != nil {
		return refuse(ErrForbidden, "%v", err)
	}
	t.Profile = name
	return nil
}

func (m *Manager) newSession(ctx context.Context, t *Task) (*liveSession, error) {
	if err := m.route(t); err != nil {
		return nil, err
	}
	if err := m.resolveProfile(t, t.Origin.Place(t.Origin.Private), ""); err != nil {
		return nil, err
	}
	id, err := newID(ctx, sessionIDLen, func(ctx context.Context, id string) error {
		m.mu.Lock()
		_, taken := m.live[id]
		m.mu.Unlock()
		if taken {
			return nil
		}
		_, err := m.Store.Session(ctx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	t.SessionID = id
	now := time.Now()
	// Parked: the session has no page yet; its first task opens one.
	return m.addLive(Session{
		ID: id, Origin: t.Origin, Runtime: t.Runtime, Profile: t.Profile, State: SessionParked, Created: now, LastUsed: now,
	}), nil
}

// route sets t's runtime and model.
func (m *Manager) route(t *Task) error {
	if m.Policy != nil {
		runtime, model, err := m.Policy.Route(*t)
		if err != nil {
			return refuse(ErrBadTask, "%v", err)
		}
		t.Runtime, t.Model = runtime, model
	}
	t.Runtime = cmp.Or(t.Runtime, m.DefaultRuntime)
	return m.checkRuntime(t.Runtime)
}

func (m *Manager) checkRuntime(name string) error {
	if m.Backends[name] != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(m.Backends))
	return refuse(ErrBadTask, "there is no runtime %q; there is: %s", name, strings.Join(names, ", "))
}

// assignID gives t an unused id, or checks that the one it has is unused.
func (m *Manager) assignID(ctx context.Context, t *Task) error {
	taken := func(ctx context.Context, id string) error {
		_, err := m.Store.Task(ctx, id)
		return err
	}
	if t.ID == "" {
		id, err := newID(ctx, taskIDLen, taken)
		t.ID = id
		return err
	}
	switch err := taken(ctx, t.ID); {
	case err == nil:
		return refuse(ErrBadTask, "there is a task %q already", t.ID)
	case !errors.Is(err, ErrNotFound):
		return fmt.Errorf("look for task %q: %w", t.ID, err)
	}
	return nil
}

// briefLen is the length of a shortened prompt, in bytes.
const briefLen = 60

// taskLabel returns a label for t that others may read.
func taskLabel(t Task) string {
	if t.Origin.Private {
		return "browse (private)"
	}
	return "browse: " + untrusted.ShortenLine(t.Prompt, briefLen)
}
