package sessions

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"clank/cancel"
)

// Manager runs tasks: it lets them wait in a fair line, hands each to the
// Backend of its session, writes down every step before and after it happens,
// and tells whoever watches. Set the exported fields, then call Open; after
// that all methods are safe for concurrent use.
//
// A task can be stopped through Scopes from the moment it is in line; its
// [cancel.Work] has the task's id. The Manager decides nobody's right to stop.
type Manager struct {
	Store          Store
	Backends       map[string]Backend // by the name of their runtime
	DefaultRuntime func() string
	Limits         func() Limits // asked whenever it matters, so a change takes effect at once
	Scopes         *cancel.Scopes
	Logger         *slog.Logger     // nil = none
	Now            func() time.Time // nil = time.Now

	mu sync.Mutex
}

// Open tidies up after a predecessor that did not end well (its unfinished tasks
// become interrupted, their sessions parked) and starts accepting tasks.
func (m *Manager) Open(ctx context.Context) error { return nil }

// Close stops every task with the cause [cancel.ShuttingDown], parks the open
// sessions and waits until all of it has ended, or ctx has; then the error tells
// what has not.
func (m *Manager) Close(ctx context.Context) error { return nil }

// Run puts t in line, waits for its turn, runs it and returns what became of it.
// It blocks until the task is final. The error is set, and the Record is not,
// only where the task was never accepted; it wraps one of the sentinels of this
// package, unless the store failed.
//
// When ctx ends, so does the task. Unless the cause of ctx is a [cancel.Cause],
// the reason is then [cancel.Gone].
//
// watch, which may be nil, is called with every change, in order and on the
// calling goroutine: when the task is in line, whenever its place changes, when
// it starts, with every step as it begins and is done, and when it is final. It
// must not block.
func (m *Manager) Run(ctx context.Context, t Task, watch func(Event)) (Record, error) {
	return Record{}, nil
}

// Subscribe returns a channel with all that happens to all tasks from now on,
// and a function that ends it. The channel is bounded: a subscriber that falls
// too far behind finds it closed, and should subscribe and read the state anew.
func (m *Manager) Subscribe() (<-chan Event, func()) { return nil, nil }

// CloseSession closes a session for good: its tasks, running and in line, are
// stopped, and its page is closed. by may do so if he owns it or is a moderator.
func (m *Manager) CloseSession(ctx context.Context, id string, by cancel.Actor) error { return nil }

// SetShared says whether somebody watches the session's page. A shared session
// is not parked; the end of sharing counts as use.
func (m *Manager) SetShared(ctx context.Context, id string, shared bool) error { return nil }

// LastSession returns the session that o's user used last in o's channel and
// that can be continued, or [ErrNotFound].
func (m *Manager) LastSession(ctx context.Context, o Origin) (Session, error) {
	return Session{}, nil
}

// Session returns a session.
func (m *Manager) Session(ctx context.Context, id string) (Session, error) { return Session{}, nil }

// Sessions returns sessions, last used first.
func (m *Manager) Sessions(ctx context.Context, q SessionQuery) ([]Session, error) { return nil, nil }

// Task returns a task, with its place in line if it waits.
func (m *Manager) Task(ctx context.Context, id string) (Record, error) { return Record{}, nil }

// Tasks returns tasks, last asked first, without the pictures of their answers.
func (m *Manager) Tasks(ctx context.Context, q TaskQuery) ([]Record, error) { return nil, nil }

// Steps returns the steps of a task by number. A step whose View is kept has it
// with its media type and no data; [Manager.View] returns it whole.
func (m *Manager) Steps(ctx context.Context, taskID string) ([]Step, error) { return nil, nil }

// View returns the picture that is kept of a step, or [ErrNotFound].
func (m *Manager) View(ctx context.Context, taskID string, n int) (Image, error) {
	return Image{}, nil
}
