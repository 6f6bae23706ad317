package sessionstest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"clank/llm"
	"clank/sessions"
)

// Store is a [sessions.Store] in memory. The zero value is empty and ready to
// use.
type Store struct {
	// Fail, where it is set, is asked before each call, with the name of the
	// method; its error is the call's. Set it before the first call.
	Fail func(method string) error

	mu       sync.Mutex
	sessions map[string]sessions.Session
	tasks    map[string]sessions.TaskRecord
	steps    map[string]map[int]sessions.Step
}

var _ sessions.Store = (*Store)(nil)

// begin takes the lock, which the caller must give back unless there is an
// error.
func (m *Store) begin(ctx context.Context, method string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if m.Fail != nil {
		if err := m.Fail(method); err != nil {
			return err
		}
	}
	m.mu.Lock()
	if m.tasks == nil {
		m.sessions = make(map[string]sessions.Session)
		m.tasks = make(map[string]sessions.TaskRecord)
		m.steps = make(map[string]map[int]sessions.Step)
	}
	return nil
}

// SaveSession implements [sessions.SessionStore].
func (m *Store) SaveSession(ctx context.Context, s sessions.Session) error {
	if err := m.begin(ctx, "SaveSession"); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.saveSession(s)
	return nil
}

func (m *Store) saveSession(s sessions.Session) {
	s.Memory = slices.Clone(s.Memory)
	m.sessions[s.ID] = s
}

// Session implements [sessions.SessionStore].
func (m *Store) Session(ctx context.Context, id string) (sessions.Session, error) {
	if err := m.begin(ctx, "Session"); err != nil {
		return sessions.Session{}, err
	}
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok {
		return sessions.Session{}, sessions.ErrNotFound
	}
	return s, nil
}

// Sessions implements [sessions.SessionStore].
func (m *Store) Sessions(ctx context.Context, q sessions.SessionQuery) ([]sessions.Session, error) {
	if err := m.begin(ctx, "Sessions"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []sessions.Session
	for _, s := range m.sessions {
		if of := q.Of; of != nil && (s.Origin.Kind != of.Kind || s.Origin.Guild != of.Guild ||
			s.Origin.Channel != of.Channel || s.Origin.User != of.User) {
			continue
		}
		if (q.Guild == "" || s.Origin.Guild == q.Guild) && (q.States == nil || slices.Contains(q.States, s.State)) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b sessions.Session) int {
		return cmp.Or(b.LastUsed.Compare(a.LastUsed), cmp.Compare(a.ID, b.ID))
	})
	return first(found, q.Limit), nil
}

func first[T any](all []T, limit int) []T {
	return all[:min(len(all), cmp.Or(limit, sessions.DefaultLimit))]
}

// SaveTask implements [sessions.TaskStore].
func (m *Store) SaveTask(ctx context.Context, r sessions.TaskRecord, s sessions.Session) error {
	if err := m.begin(ctx, "SaveTask"); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.saveTask(r)
	m.saveSession(s)
	return nil
}

func (m *Store) saveTask(r sessions.TaskRecord) {
	r.Position = 0
	r.Images = slices.Clone(r.Images)
	m.tasks[r.ID] = r
}

// Task implements [sessions.TaskStore].
func (m *Store) Task(ctx context.Context, id string) (sessions.TaskRecord, error) {
	if err := m.begin(ctx, "Task"); err != nil {
		return sessions.TaskRecord{}, err
	}
	defer m.mu.Unlock()
	r, ok := m.tasks[id]
	if !ok {
		return sessions.TaskRecord{}, sessions.ErrNotFound
	}
	return r, nil
}

// Tasks implements [sessions.TaskStore].
func (m *Store) Tasks(ctx context.Context, q sessions.TaskQuery) ([]sessions.TaskRecord, error) {
	if err := m.begin(ctx, "Tasks"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []sessions.TaskRecord
	for _, r := range m.newest() {
		if matches(q, r) {
			r.Images = nil
			found = append(found, r)
		}
	}
	return first(found, q.Limit), nil
}

func matches(q sessions.TaskQuery, r sessions.TaskRecord) bool {
	either := func(want, got string) bool { return want == "" || want == got }
	return either(q.Session, r.SessionID) && either(string(q.Kind), string(r.Origin.Kind)) &&
		either(q.Guild, r.Origin.Guild) && either(q.Channel, r.Origin.Channel) && either(q.User, r.Origin.User) &&
		(q.States == nil || slices.Contains(q.States, r.State)) &&
		(q.Since.IsZero() || !r.Asked.Before(q.Since)) && (q.Before.IsZero() || r.Asked.Before(q.Before))
}

// newest returns all tasks, last asked first.
func (m *Store) newest() []sessions.TaskRecord {
	var all []sessions.TaskRecord
	for _, r := range m.tasks {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b sessions.TaskRecord) int {
		return cmp.Or(b.Asked.Compare(a.Asked), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Recover implements [sessions.TaskStore].
func (m *Store) Recover(ctx context.Context, reason string, now time.Time) (tasks, parked int, err error) {
	if err := m.begin(ctx, "Recover"); err != nil {
		return 0, 0, err
	}
	defer m.mu.Unlock()
	for id, r := range m.tasks {
		if !r.State.Final() {
			r.State, r.Reason, r.Ended = sessions.TaskInterrupted, reason, now
			m.tasks[id] = r
			tasks++
		}
	}
	for id, s := range m.sessions {
		if s.State == sessions.SessionIdle || s.State == sessions.SessionRunning {
			s.State, s.Shared = sessions.SessionParked, false
			m.sessions[id] = s
			parked++
		}
	}
	return tasks, parked, nil
}

// Prune implements [sessions.TaskStore].
func (m *Store) Prune(ctx context.Context, before time.Time, keep, limit int) (int, error) {
	if err := m.begin(ctx, "Prune"); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	all := m.newest()
	all = slices.DeleteFunc(all, func(r sessions.TaskRecord) bool { return !r.State.Final() })
	n := 0
	for i, r := range slices.Backward(all) {
		if n == limit || !r.Asked.Before(before) && (keep == 0 || i < keep) {
			break
		}
		delete(m.tasks, r.ID)
		delete(m.steps, r.ID)
		n++
	}
	m.pruneSessions(before, limit)
	return n, nil
}

func (m *Store) pruneSessions(before time.Time, limit int) {
	used := make(map[string]bool)
	for _, r := range m.tasks {
		used[r.SessionID] = true
	}
	for id, s := range m.sessions {
		over := s.State == sessions.SessionParked || s.State == sessions.SessionClosed
		if limit > 0 && over && !used[id] && s.LastUsed.Before(before) {
			delete(m.sessions, id)
			limit--
		}
	}
}

// SaveStep implements [sessions.StepStore].
func (m *Store) SaveStep(ctx context.Context, r sessions.TaskRecord, s sessions.Session, step sessions.Step, views int) error {
	if err := m.begin(ctx, "SaveStep"); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.saveTask(r)
	m.saveSession(s)
	step.Images, step.Memory = nil, nil
	if m.steps[r.ID] == nil {
		m.steps[r.ID] = make(map[int]sessions.Step)
	}
	if step.View == nil {
		step.View = m.steps[r.ID][step.N].View
	}
	m.steps[r.ID][step.N] = step
	if views = max(views, 0); step.View == nil {
		return nil
	}
	for _, n := range slices.Backward(m.numbers(r.ID)) {
		old := m.steps[r.ID][n]
		if old.View == nil {
			continue
		}
		if views--; views < 0 {
			old.View = nil
			m.steps[r.ID][n] = old
		}
	}
	return nil
}

// numbers returns the numbers of a task's steps, in order.
func (m *Store) numbers(taskID string) []int {
	var ns []int
	for n := range m.steps[taskID] {
		ns = append(ns, n)
	}
	slices.Sort(ns)
	return ns
}

// Steps implements [sessions.StepStore].
func (m *Store) Steps(ctx context.Context, taskID string) ([]sessions.Step, error) {
	if err := m.begin(ctx, "Steps"); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var found []sessions.Step
	for _, n := range m.numbers(taskID) {
		step := m.steps[taskID][n]
		if step.View != nil {
			step.View = &llm.Image{MediaType: step.View.MediaType}
		}
		found = append(found, step)
	}
	return found, nil
}

// View implements [sessions.StepStore].
func (m *Store) View(ctx context.Context, taskID string, n int) (llm.Image, error) {
	if err := m.begin(ctx, "View"); err != nil {
		return llm.Image{}, err
	}
	defer m.mu.Unlock()
	if v := m.steps[taskID][n].View; v != nil {
		return *v, nil
	}
	return llm.Image{}, sessions.ErrNotFound
}
