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

// How often scripts are ended that keep the page from answering for so long.
const (
	freezePatience = 2 * time.Second
	freezeAttempts = 5
)

// Freeze has a page that nobody has used for so long stand still until it is used again: its scripts, timers and
// animations stop. It keeps all that it holds, such as what was typed, where it was scrolled to, and its history. A
// script that does not come to an end is ended. It does nothing to a tab that is in use, shows a dialog or is frozen.
func (t *Tab) Freeze(ctx context.Context, unused time.Duration) error {
	if !t.beginFreeze(unused) {
		return nil
	}
	for range freezeAttempts { // a timer may begin the script anew before the page comes to know that it is frozen
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

// beginFreeze has a page freeze that is not in use, and not frozen already.
func (t *Tab) beginFreeze(unused time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, asked := t.dialogs.Oldest()
	if t.err != nil || t.frozen || asked || !t.focusEmulated || len(t.watchers) > 0 || time.Since(t.lastUsed) < unused {
		return false
	}
	t.frozen = true
	// Chromium freezes no page that is seen, as those with the focus are.
	t.main.Post(
		proto.EmulationSetFocusEmulationEnabled{Enabled: false},
		proto.PageSetWebLifecycleState{State: proto.PageSetWebLifecycleStateStateFrozen},
	)
	return true
}

// Frozen reports whether the page stands still.
func (t *Tab) Frozen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frozen
}

// busyFrames returns the frames whose process does not answer in time.
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

// Wake notes that the tab is used, and has the page go on if it is frozen.
func (t *Tab) Wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake()
}

// wake is [Tab.Wake]. The caller holds t.mu. What is sent after it reaches a page that goes on.
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
