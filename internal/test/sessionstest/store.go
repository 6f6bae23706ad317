package sessionstest

import (
	"context"
	"testing"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/sessions"
)

// Store is a [sessions.Store] in a temporary file whose writes can be made to fail.
type Store struct {
	sessions.Store
	// Fail, if set, is called with the method's name before a task or a step is saved; its error is returned.
	Fail func(method string) error
}

// OpenStore returns an empty store, which is closed when the test ends.
func OpenStore(tb testing.TB) *Store {
	tb.Helper()
	return &Store{Store: sqlitetest.Open(tb)}
}

// OpenManager returns a manager with an empty store and a backend that does nothing. It is closed when the test ends.
func OpenManager(tb testing.TB) *sessions.Manager {
	tb.Helper()
	m := &sessions.Manager{
		Store: OpenStore(tb), DefaultRuntime: "local", Backends: map[string]sessions.Backend{"local": new(Backend)},
		Limits: func() sessions.Limits { return sessions.Limits{} }, Scopes: new(cancel.Scopes),
	}
	check.Must(tb, m.Open(tb.Context()))
	tb.Cleanup(func() { check.Must(tb, m.Close(context.Background())) })
	return m
}

// SaveTask implements [sessions.TaskStore].
func (s *Store) SaveTask(ctx context.Context, r sessions.TaskRecord, of sessions.Session) error {
	if s.Fail != nil {
		if err := s.Fail("SaveTask"); err != nil {
			return err
		}
	}
	return s.Store.SaveTask(ctx, r, of)
}

// SaveStep implements [sessions.StepStore].
func (s *Store) SaveStep(ctx context.Context, r sessions.TaskRecord, of sessions.Session, st sessions.Step,
	views int,
) error {
	if s.Fail != nil {
		if err := s.Fail("SaveStep"); err != nil {
			return err
		}
	}
	return s.Store.SaveStep(ctx, r, of, st, views)
}
