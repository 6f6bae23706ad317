package dashboard_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"clank/sessions"
	"clank/settings"
)

// memory keeps what the Manager and the settings want kept.
type memory struct {
	mu       sync.Mutex
	sessions map[string]sessions.Session
	tasks    map[string]sessions.Record
	steps    map[string]map[int]sessions.Step

	settings map[string]json.RawMessage
	version  int
}

func newMemory() *memory {
	return &memory{sessions: map[string]sessions.Session{}, tasks: map[string]sessions.Record{}, steps: map[string]map[int]sessions.Step{}}
}

func (m *memory) SaveSession(_ context.Context, s sessions.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[s.ID] = s
	return nil
}

func (m *memory) Session(_ context.Context, id string) (sessions.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok {
		return s, fmt.Errorf("session %q: %w", id, sessions.ErrNotFound)
	}
	return s, nil
}

func (m *memory) Sessions(_ context.Context, q sessions.SessionQuery) ([]sessions.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []sessions.Session
	for _, s := range m.sessions {
		if (q.Of == nil || *q.Of == s.Origin) && (q.States == nil || slices.Contains(q.States, s.State)) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b sessions.Session) int {
		return cmp.Or(b.LastUsed.Compare(a.LastUsed), cmp.Compare(a.ID, b.ID))
	})
	return out[:min(len(out), limit(q.Limit))], nil
}

func (m *memory) SaveTask(_ context.Context, r sessions.Record, s sessions.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks[r.ID], m.sessions[s.ID] = r, s
	return nil
}

func (m *memory) Task(_ context.Context, id string) (sessions.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.tasks[id]
	if !ok {
		return r, fmt.Errorf("task %q: %w", id, sessions.ErrNotFound)
	}
	return r, nil
}

func (m *memory) Tasks(_ context.Context, q sessions.TaskQuery) ([]sessions.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []sessions.Record
	for _, r := range m.tasks {
		if (q.Session == "" || q.Session == r.SessionID) && (q.Kind == "" || q.Kind == r.Origin.Kind) &&
			(q.States == nil || slices.Contains(q.States, r.State)) && (q.Before.IsZero() || r.Asked.Before(q.Before)) {
			r.Images = nil
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b sessions.Record) int { return b.Asked.Compare(a.Asked) })
	return out[:min(len(out), limit(q.Limit))], nil
}

func limit(n int) int { return cmp.Or(n, sessions.DefaultLimit) }

func (m *memory) Recover(context.Context, string, time.Time) (int, int, error) { return 0, 0, nil }
func (m *memory) Prune(context.Context, time.Time, int, int) (int, error)      { return 0, nil }
func (m *memory) LoadSettings(context.Context) (map[string]json.RawMessage, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.settings), m.name(), nil
}

func (m *memory) SaveSettings(_ context.Context, values map[string]json.RawMessage, expect string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if expect != m.name() {
		return "", settings.ErrConflict
	}
	m.settings, m.version = maps.Clone(values), m.version+1
	return m.name(), nil
}

func (m *memory) name() string { return "v" + strconv.Itoa(m.version) }

func (m *memory) SaveStep(_ context.Context, r sessions.Record, s sessions.Session, st sessions.Step, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks[r.ID], m.sessions[s.ID] = r, s
	if m.steps[r.ID] == nil {
		m.steps[r.ID] = map[int]sessions.Step{}
	}
	m.steps[r.ID][st.N] = st
	return nil
}

func (m *memory) Steps(_ context.Context, id string) ([]sessions.Step, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []sessions.Step
	for _, n := range slices.Sorted(maps.Keys(m.steps[id])) {
		st := m.steps[id][n]
		if st.View != nil {
			st.View = &sessions.Image{MediaType: st.View.MediaType}
		}
		out = append(out, st)
	}
	return out, nil
}

func (m *memory) View(_ context.Context, id string, n int) (sessions.Image, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	st, ok := m.steps[id][n]
	if !ok || st.View == nil {
		return sessions.Image{}, sessions.ErrNotFound
	}
	return *st.View, nil
}
