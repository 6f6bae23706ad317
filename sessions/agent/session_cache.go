package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"clank/sessions"
)

var errClosed = errors.New("the session was closed")

// SessionCache keeps what a backend knows of its sessions between their tasks, and who
// works on which. The zero value is ready; it is safe for concurrent use.
type SessionCache[S any] struct {
	mu   sync.Mutex
	kept map[string]*CachedSession[S]
}

// CachedSession holds what is kept of one session. Only the task that runs touches State.
type CachedSession[S any] struct {
	State S

	// PageMu serialises opening and closing, so that a page which is being opened
	// while the session is closed does not stay behind.
	PageMu sync.Mutex

	stop context.CancelCauseFunc // ends the running task; nil when none runs; guarded by the Keeper
}

// Acquire marks a session as worked on by a task that ends by stop. What is not kept of it yet is made by begin.
func (k *SessionCache[S]) Acquire(session string, stop context.CancelCauseFunc, begin func() S) (*CachedSession[S], error) {
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

// ErrConsumerStopped ends a task whose steps nobody ranges over any more.
var ErrConsumerStopped = errors.New("the consumer stopped ranging")

// Run works a task of a session by work, as [sessions.Backend] wants it. What is not kept of the session yet is
// made by load, whose error, why the stored memory is not readable, goes to work.
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

// Release marks a session as free.
func (k *SessionCache[S]) Release(h *CachedSession[S]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.stop = nil
}

// Drop drops what is kept of a session.
func (k *SessionCache[S]) Drop(session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, session)
}

// Park has the browser of a session parked, in which no task runs, and then drops what is kept of it. A browser that
// cannot park pages closes them.
func (k *SessionCache[S]) Park(ctx context.Context, session string, must bool, browser sessions.Browser) (parked bool, err error) {
	parker, ok := browser.(sessions.Parker)
	if !ok {
		return true, k.Close(ctx, session, browser.Close)
	}
	k.mu.Lock()
	h := k.kept[session]
	k.mu.Unlock()
	if h != nil {
		h.PageMu.Lock()
		defer h.PageMu.Unlock()
	}
	if parked, err = parker.Park(ctx, session, must); err != nil {
		err = fmt.Errorf("park the page of session %s: %w", session, err)
	}
	if parked {
		k.Drop(session)
	}
	return parked, err
}

// Close drops what is kept of a session, ends the task that still runs in it, and has its browser closed.
func (k *SessionCache[S]) Close(ctx context.Context, session string, browser func(context.Context, string) error) error {
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
