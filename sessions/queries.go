package sessions

import (
	"context"
	"fmt"

	"clank/llm"
)

// Session returns a session.
func (m *Manager) Session(ctx context.Context, id string) (Session, error) {
	return m.Store.Session(ctx, id)
}

// Sessions returns sessions, last used first.
func (m *Manager) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	return m.Store.Sessions(ctx, q)
}

// LastSession returns the session that o's user used last in o's channel, as private as o is, and that can be continued,
// or [ErrNotFound].
func (m *Manager) LastSession(ctx context.Context, o Origin) (Session, error) {
	ss, err := m.Store.Sessions(ctx, SessionQuery{
		Of: &o, States: []SessionState{SessionIdle, SessionRunning, SessionParked},
	})
	if err != nil {
		return Session{}, fmt.Errorf("find the last session: %w", err)
	}
	for _, s := range ss {
		if o.Private == s.Origin.Private { // neither shows the other's page to whom it is not for
			return s, nil
		}
	}
	return Session{}, refuse(ErrNotFound, "there is no session here to go on with")
}

// Task returns a task, with its place in line if it waits.
func (m *Manager) Task(ctx context.Context, id string) (TaskRecord, error) {
	r, err := m.Store.Task(ctx, id)
	m.addPosition(&r)
	return r, err
}

// Tasks returns tasks, last asked first, without the pictures of their answers.
func (m *Manager) Tasks(ctx context.Context, q TaskQuery) ([]TaskRecord, error) {
	rs, err := m.Store.Tasks(ctx, q)
	for i := range rs {
		m.addPosition(&rs[i])
	}
	return rs, err
}

func (m *Manager) addPosition(r *TaskRecord) {
	if r.State != TaskQueued {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.queue.waiting {
		if j.rec.ID == r.ID {
			r.Position, r.Shortage = j.place.position, j.place.shortage
		}
	}
}

// Steps returns the steps of a task by number. A step whose View is kept has it
// with its media type and no data; [Manager.View] returns it whole.
func (m *Manager) Steps(ctx context.Context, taskID string) ([]Step, error) {
	return m.Store.Steps(ctx, taskID)
}

// TaskFacets returns what the tasks that are kept, and that by sees, differ in.
func (m *Manager) TaskFacets(ctx context.Context, by *Sight) (TaskFacets, error) {
	return m.Store.TaskFacets(ctx, by)
}

// LastSteps returns by task how far it has come; a task without steps has none.
func (m *Manager) LastSteps(ctx context.Context, tasks []string) (map[string]LastStep, error) {
	return m.Store.LastSteps(ctx, tasks)
}

// View returns the picture that is kept of a step, or [ErrNotFound].
func (m *Manager) View(ctx context.Context, taskID string, n int) (llm.Image, error) {
	return m.Store.View(ctx, taskID, n)
}
