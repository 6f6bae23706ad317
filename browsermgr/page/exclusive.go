package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/fault"
)

// tabWatcher ends the context of something that runs in a tab when the tab cannot go on with it.
type tabWatcher struct {
	cancel       context.CancelCauseFunc
	endsOnDialog bool // also when a dialog opens
}

// acquireTurn waits for the tab's turn.
func (t *Tab) acquireTurn(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case <-t.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case t.actionToken <- struct{}{}:
		return func() { <-t.actionToken }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the running action in tab %s: %w", t.id, context.Cause(ctx))
	case <-t.done:
		return nil, t.Err()
	}
}

// watchContext derives a context that ends when the limit is over, when the tab crashes or closes, and, if wanted, when a dialog
// opens. It fails if that is so already.
func (t *Tab) watchContext(ctx context.Context, limit time.Duration, dialogs bool) (context.Context, context.CancelFunc, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, nil, t.err
	}
	if d, open := t.dialogs.Oldest(); dialogs && open {
		return nil, nil, &DialogError{Dialog: d}
	}
	ctx, cancelTime := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
	ctx, cancel := context.WithCancelCause(ctx)
	w := &tabWatcher{cancel: cancel, endsOnDialog: dialogs}
	t.watchers[w] = struct{}{}
	return ctx, func() {
		t.mu.Lock()
		delete(t.watchers, w)
		t.mu.Unlock()
		cancel(context.Canceled)
		cancelTime()
	}, nil
}

// cancelWatchers ends what runs in the tab. Without all it spares what does not mind dialogs. The caller holds t.mu.
func (t *Tab) cancelWatchers(cause error, all bool) {
	for w := range t.watchers {
		if all || w.endsOnDialog {
			w.cancel(cause)
		}
	}
}

// signalChange wakes those who wait for the tab's state. The caller holds t.mu.
func (t *Tab) signalChange() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// waitUntil waits for a condition on the tab's state. cond is called with t.mu held.
func (t *Tab) waitUntil(ctx context.Context, cond func() bool) error {
	for {
		t.mu.Lock()
		ok, changed := cond(), t.changed
		t.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// waitUntilWithin waits for a condition no longer than d; that the time is over is no error.
func (t *Tab) waitUntilWithin(ctx context.Context, d time.Duration, cond func() bool) error {
	bounded, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	err := t.waitUntil(bounded, cond)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}
