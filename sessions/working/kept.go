package working

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

var errClosed = errors.New("the session was closed")

// Keeper keeps what a backend knows of its sessions between their tasks, and who
// works on which. The zero value is ready; it is safe for concurrent use.
type Keeper[S any] struct {
	mu   sync.Mutex
	kept map[string]*Kept[S]
}

// Kept is what is kept of one session. Only the task that runs touches State.
type Kept[S any] struct {
	State S

	// Page serialises opening and closing, so that a page which is being opened
	// while the session is closed does not stay behind.
	Page sync.Mutex

	stop context.CancelCauseFunc // ends the running task; nil when none runs; guarded by the Keeper
}

// Begin marks a session as worked on by a task that ends by stop. What is not
// kept of it yet is made by begin.
func (k *Keeper[S]) Begin(session string, stop context.CancelCauseFunc, begin func() S) (*Kept[S], error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.kept[session]
	if h == nil {
		h = &Kept[S]{State: begin()}
		if k.kept == nil {
			k.kept = make(map[string]*Kept[S])
		}
		k.kept[session] = h
	}
	if h.stop != nil {
		return nil, fmt.Errorf("session %s is busy with another task: wait for it or stop it", session)
	}
	h.stop = stop
	return h, nil
}

// End marks a session as free.
func (k *Keeper[S]) End(h *Kept[S]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.stop = nil
}

// Forget drops what is kept of a session.
func (k *Keeper[S]) Forget(session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.kept, session)
}

// Close drops what is kept of a session, ends the task that still runs in it,
// and has its browser closed.
func (k *Keeper[S]) Close(ctx context.Context, session string, browser func(context.Context, string) error) error {
	k.mu.Lock()
	h := k.kept[session]
	delete(k.kept, session)
	if h != nil && h.stop != nil {
		h.stop(errClosed)
	}
	k.mu.Unlock()
	if h != nil {
		h.Page.Lock()
		defer h.Page.Unlock()
	}
	if err := browser(ctx, session); err != nil {
		return fmt.Errorf("close the browser of session %s: %w", session, err)
	}
	return nil
}
