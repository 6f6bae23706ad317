package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"clank/sessions"
)

var errClosed = errors.New("the session was closed")

// SessionCache keeps a backend's state of each session between tasks, and which task is running. The zero value is
// ready; it is safe for concurrent use.
type SessionCache[S any] struct {
	mu   sync.Mutex
	kept map[string]*CachedSession[S]
}

// CachedSession is the cached state of one session. Only the running task may access State.
type CachedSession[S any] struct {
	State S

	// PageMu serialises opening and closing, so that a page being opened while the session is closed is not left
	// open.
	PageMu sync.Mutex

	stop context.CancelCauseFunc // ends the running task; nil when none runs; guarded by the SessionCache
}

// Acquire claims a session for a task, which Close ends through stop. begin makes the state of a session that is not
// cached.
func (k *SessionCache[S]) Acquire(session string, stop context.CancelCauseFunc,
	begin func() S,
) (*CachedSession[S], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.kept[session]
	if h == nil {
		h = &CachedSession[S]{State: begin()}
		if k.kept == nil {
			k.kept = make(map[string]*CachedSession[S])
		}
		k.kept[session] = h
	}
	if h.stop != nil {
		return nil, fmt.Errorf("session %s is busy with another task: wait for it or stop it", session)
	}
	h.stop = stop
	return h, nil
}

// ErrConsumerStopped ends a task whose consumer has stopped ranging.
var ErrConsumerStopped = errors.New("the consumer stopped ranging")

// Run runs work as [sessions.Backend.Run] requires. load makes the state of a session that is not cached; its error,
// which says why the stored memory is unreadable, is passed to work.
func (k *SessionCache[S]) Run(
	ctx context.Context, session string, yield func(sessions.Step, error) bool, load func() (S, error),
	work func(ctx context.Context, h *CachedSession[S], unread error) error,
) {
	if ctx.Err() != nil {
		yield(sessions.Step{}, context.Cause(ctx))
		return
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(context.Canceled)
	var unread error
	h, err := k.Acquire(session, stop, func() (begun S) {
		begun, unread = load()
		return begun
	})
	if err == nil {
		defer k.Release(h)
		err = work(ctx, h, unread)
	}
	if err != nil && !errors.Is(err, ErrConsumerStopped) {
		yield(sessions.Step{}, err)
	}
}

// Release frees a session.
func (k *SessionCache[S]) Release(h *CachedSession[S]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.stop = nil
}

// Drop removes the cached state of a session.
func (k *SessionCache[S]) Drop(session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, session)
}

// Park parks the page of a session in which no task runs, and then drops its cached state.
func (k *SessionCache[S]) Park(ctx context.Context, session string, must bool,
	browser sessions.Browser,
) (parked bool, err error) {
	k.mu.Lock()
	h := k.kept[session]
	k.mu.Unlock()
	if h != nil {
		h.PageMu.Lock()
		defer h.PageMu.Unlock()
	}
	if parked, err = browser.Park(ctx, session, must); err != nil {
		err = fmt.Errorf("park the page of session %s: %w", session, err)
	}
	if parked {
		k.Drop(session)
	}
	return parked, err
}

// Close drops the cached state of a session, ends its running task and closes its browser page.
func (k *SessionCache[S]) Close(ctx context.Context, session string,
	browser func(context.Context, string) error,
) error {
	k.mu.Lock()
	h := k.kept[session]
	delete(k.kept, session)
	if h != nil && h.stop != nil {
		h.stop(errClosed)
	}
	k.mu.Unlock()
	if h != nil {
		h.PageMu.Lock()
		defer h.PageMu.Unlock()
	}
	if err := browser(ctx, session); err != nil {
		return fmt.Errorf("close the browser of session %s: %w", session, err)
	}
	return nil
}
