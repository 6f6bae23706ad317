package sessions

import (
	"context"
	"fmt"

	"clank/llm"
)

// Session returns the session with that id, or [ErrNotFound].
func (m *Manager) Session(ctx context.Context, id string) (Session, error) {
	return m.Store.Session(ctx, id)
}

// Sessions returns sessions, last used first.
func (m *Manager) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) {
	return m.Store.Sessions(ctx, q)
}

// LastSession returns the session that o's user last used in o's channel, with the same privacy as o, and that can be
// continued; or [ErrNotFound].
func (m *Manager) LastSession(ctx context.Context, o Origin) (Session, error) {
	ss, err := m.Store.Sessions(ctx, SessionQuery{
		Of: &o, States: []SessionState{SessionIdle, SessionRunning, SessionParked},
	})
	if err != nil {
		return Session{}, fmt.Errorf("find the last session: %w", err)
	}
	for _, s := range ss {
		if o.Private == s.Origin.Private { // a private page must not show up in public, nor the reverse
			return s, nil
		}
	}
	return Session{}, refuse(ErrNotFound, "there is no session here to go on with")
}

// Task returns the task with that id, with its queue position.
func (m *Manager) Task(ctx context.Context, id string) (TaskRecord, error) {
	r, err := m.Store.Task(ctx, id)
	m.addPosition(&r)
	return r, err
}

// Tasks returns the tasks that match q, newest first, without the pictures of their answers.
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
			r.Position, r.Shortage = j.queueStatus.position, j.queueStatus.shortage
		}
	}
}

// Steps returns the steps of a task by number. The View of a step has its media type but no data; [Manager.View]
// returns it whole.
func (m *Manager) Steps(ctx context.Context, taskID string) ([]Step, error) {
	return m.Store.Steps(ctx, taskID)
}

// TaskFacets returns the values to filter tasks by, of the tasks that by can see.
func (m *Manager) TaskFacets(ctx context.Context, by *Sight) (TaskFacets, error) {
	return m.Store.TaskFacets(ctx, by)
}

// LastSteps returns the last step of each task; tasks without steps are missing.
func (m *Manager) LastSteps(ctx context.Context, tasks []string) (map[string]LastStep, error) {
	return m.Store.LastSteps(ctx, tasks)
}

// View returns the stored screenshot of a step, or [ErrNotFound].
func (m *Manager) View(ctx context.Context, taskID string, n int) (llm.Image, error) {
	return m.Store.View(ctx, taskID, n)
}
