package page

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// How often, and after how long, scripts are terminated that keep the page from answering.
const (
	freezePatience = 2 * time.Second
	freezeAttempts = 5
)

// Freeze freezes a page that was not used for unused: its scripts, timers and animations stop until it is used again.
// Form input, scroll positions and history are kept. A script that does not return is terminated. Freeze does nothing
// to a tab that is in use, shows a dialog or is already frozen.
func (t *Tab) Freeze(ctx context.Context, unused time.Duration) error {
	if !t.beginFreeze(unused) {
		return nil
	}
	for range freezeAttempts { // a timer may restart the script before the page is frozen
		busy, err := t.busyFrames(ctx)
		if err != nil {
			return fmt.Errorf("freeze tab %s: %w", t.id, err)
		}
		if len(busy) == 0 || !t.Frozen() {
			break
		}
		for _, f := range busy {
			f.Post(proto.RuntimeTerminateExecution{})
		}
	}
	return nil
}

// beginFreeze freezes the page unless it is in use or frozen.
func (t *Tab) beginFreeze(unused time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, asked := t.dialogs.Oldest()
	if t.err != nil || t.frozen || asked || !t.focusEmulated || len(t.watchers) > 0 || time.Since(t.lastUsed) < unused {
		return false
	}
	t.frozen = true
	// Chromium does not freeze visible pages, and focus emulation makes a page visible.
	t.main.Post(
		proto.EmulationSetFocusEmulationEnabled{Enabled: false},
		proto.PageSetWebLifecycleState{State: proto.PageSetWebLifecycleStateStateFrozen},
	)
	return true
}

// Frozen reports whether the page is frozen.
func (t *Tab) Frozen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frozen
}

// busyFrames returns the frames whose process does not answer within freezePatience.
func (t *Tab) busyFrames(ctx context.Context) (busy []*frame.Frame, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, freezePatience, &fault.TimeLimitError{Limit: freezePatience})
	defer cancel()
	roots := t.tree.ProcessRoots()
	calls := make([]*cdp.Call, len(roots))
	for i, f := range roots {
		calls[i] = f.Begin(proto.RuntimeEvaluate{Expression: "0"})
	}
	for i, call := range calls {
		err := call.Wait(ctx, nil)
		if _, late := errors.AsType[*fault.TimeLimitError](err); late {
			busy = append(busy, roots[i])
		} else if err != nil && !cdp.IsDocumentGone(err) {
			return nil, err
		}
	}
	return busy, nil
}

// Wake records a use of the tab and resumes its page if it is frozen.
func (t *Tab) Wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake()
}

// wake is [Tab.Wake] for callers that hold t.mu. Commands sent later reach a resumed page.
func (t *Tab) wake() {
	t.lastUsed = time.Now()
	if t.frozen {
		t.frozen = false
		t.main.Post(
			proto.PageSetWebLifecycleState{State: proto.PageSetWebLifecycleStateStateActive},
			proto.EmulationSetFocusEmulationEnabled{Enabled: true},
		)
	}
}
