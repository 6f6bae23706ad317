package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Act performs an action and returns when its immediate outcome is known. If a dialog opens meanwhile, Act returns at
// once with Result.BlockedByDialog. If one is already open, nothing is done and the error is a *[DialogError]. Other
// errors wrap [ErrInvalid], [ErrUnknownRef], [ErrNotInteractable], [ErrTabCrashed], [ErrTabGone] or [ErrBrowserGone]
// where applicable, or the cause of ctx.
func (t *Tab) Act(ctx context.Context, a Action) (Result, error) {
	if err := action.Validate(a); err != nil {
		return Result{}, err
	}
	if a.Kind == actiontable.KindClose {
		url := t.URL()
		return Result{URL: url}, t.Close(ctx)
	}
	if travel := map[actiontable.Kind]func(context.Context) (Result, error){
		actiontable.KindBack: t.Back, actiontable.KindForward: t.Forward, actiontable.KindReload: t.Reload,
	}[a.Kind]; travel != nil {
		return travel(ctx)
	}
	var value json.RawMessage
	limit := a.Limit() + time.Second
	before, err := t.runWithBaseline(ctx, limit, func(ctx context.Context, before actionBaseline) error {
		on := actionTab{tab: t, baseline: before}
		if a.Kind == actiontable.KindWait {
			return action.Wait(ctx, on, a)
		}
		if err := t.checkClipboard(ctx, a); err != nil {
			return err
		}
		var err error
		value, err = action.Perform(ctx, on, &t.inputState, t.browser.clipboardOf(t.contextID), a)
		return err
	})
	res := t.resultSince(before)
	res.Value = value
	if dialog, ok := errors.AsType[*DialogError](err); ok && !dialog.openBefore {
		res.BlockedByDialog, res.Dialog = true, &dialog.Dialog
		return res, nil
	}
	if over, ok := errors.AsType[*fault.TimeLimitError](err); ok && over.Limit == limit {
		// Waits in the page end before that and report what was wrong.
		err = fmt.Errorf("%w: its script is busy; wait, stop it or reload (%w)", cdp.ErrNoAnswer, err)
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", a.Kind, err)
	}
	return res, nil
}

// HeldModifiers returns the modifier keys that actions have left pressed, as CDP modifier bits. Call it only within
// [Tab.RunExclusive].
func (t *Tab) HeldModifiers() int { return t.inputState.ModifierBits() }

// runWithBaseline runs do as the tab's current action, within limit.
func (t *Tab) runWithBaseline(ctx context.Context, limit time.Duration,
	do func(context.Context, actionBaseline) error,
) (actionBaseline, error) {
	release, err := t.acquireTurn(ctx)
	if err != nil {
		return t.takeBaseline(), err
	}
	defer release()
	before := t.takeBaseline()
	ctx, cancel, err := t.watchContext(ctx, limit, true)
	if err != nil {
		if dialog, ok := errors.AsType[*DialogError](err); ok {
			dialog.openBefore = true
		}
		return before, err
	}
	defer cancel()
	if err := t.tree.AwaitDiscovery(ctx); err != nil {
		return before, err
	}
	return before, do(ctx, before)
}

// readInTurn runs read as the tab's current action. what begins the error text.
func readInTurn[R any](
	ctx context.Context, t *Tab, what string, limit time.Duration, read func(context.Context) (R, error),
) (got R, err error) {
	err = t.RunExclusive(ctx, limit, func(ctx context.Context) (err error) {
		got, err = read(ctx)
		return err
	})
	if err != nil {
		var none R
		return none, fmt.Errorf("%s tab %s: %w", what, t.id, err)
	}
	return got, nil
}

// actionTab is the tab as seen by one action.
type actionTab struct {
	tab      *Tab
	baseline actionBaseline // the state before the action
}

// MainFrame returns the frame that receives input.
func (s actionTab) MainFrame() *frame.Frame { return s.tab.main }

// Frames returns all frames of the tab.
func (s actionTab) Frames() []*frame.Frame { return s.tab.tree.Frames() }

// TerminateScripts terminates a script that is still running when ctx has ended, unless a dialog blocks it. If input
// got no answer, the script may be in any frame.
func (s actionTab) TerminateScripts(_ context.Context, f *frame.Frame) {
	if s.tab.pendingDialog() != nil {
		return
	}
	frames := []*frame.Frame{f}
	if f == s.tab.main {
		frames = s.tab.tree.ProcessRoots()
	}
	for _, f := range frames {
		// Without a running script, termination would hit the next one: run one to be terminated.
		f.Post(proto.RuntimeTerminateExecution{}, proto.RuntimeEvaluate{Expression: "0"})
	}
}

// AwaitURL waits until the tab's address matches.
func (s actionTab) AwaitURL(ctx context.Context, match func(url string) bool) error {
	return s.tab.waitUntil(ctx, func() bool { return match(s.tab.url) })
}

// AwaitLoad waits until the main document has reached a load state.
func (s actionTab) AwaitLoad(ctx context.Context, state string) error {
	return s.tab.waitUntil(ctx, func() bool { return s.tab.loadState.Reached(state) })
}

// Locate resolves a ref or a selector.
func (s actionTab) Locate(ref, selector string) (frame.Element, error) {
	return s.tab.locate(ref, selector)
}

// SendAndWait sends the action's final input, if any, and waits for its effects.
func (s actionTab) SendAndWait(ctx context.Context, f *frame.Frame, events ...proto.Request) (string, error) {
	return s.tab.sendAndWait(ctx, f, s.baseline, events)
}

// ReportDrags sends native drags to begun.
func (s actionTab) ReportDrags(begun chan<- proto.InputDragData) {
	s.tab.mu.Lock()
	defer s.tab.mu.Unlock()
	s.tab.dragStart = begun
}

func (t *Tab) dragStarted(data *proto.InputDragData) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dragStart == nil || data == nil {
		return
	}
	select {
	case t.dragStart <- *data:
	default:
	}
}

// tabWatcher cancels a context when the tab can no longer serve it.
type tabWatcher struct {
	cancel       context.CancelCauseFunc
	endsOnDialog bool // also when a dialog opens
	watches      bool // only watches the page, so it continues during a takeover
}

// acquireTurn waits until no other action runs in the tab.
func (t *Tab) acquireTurn(ctx context.Context) (release func(), err error) {
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !t.mayUse(ctx, false):
		return nil, ErrHeld
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

// watchContext derives a context that ends after limit, when the tab crashes or closes and, with dialogs, when a dialog
// opens. It fails if that is already so.
func (t *Tab) watchContext(ctx context.Context, limit time.Duration,
	dialogs bool,
) (context.Context, context.CancelFunc, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, nil, t.err
	}
	if !t.mayUse(ctx, true) {
		return nil, nil, ErrHeld
	}
	if d, open := t.dialogs.Oldest(); dialogs && open {
		return nil, nil, &DialogError{Dialog: d}
	}
	ctx, cancelTime := context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
	ctx, cancel := context.WithCancelCause(ctx)
	w := &tabWatcher{cancel: cancel, endsOnDialog: dialogs, watches: ctx.Value(watcherKey{}) != nil}
	t.watchers[w] = struct{}{}
	t.wake()
	return ctx, func() {
		t.mu.Lock()
		delete(t.watchers, w)
		t.lastUsed = time.Now()
		t.mu.Unlock()
		cancel(context.Canceled)
		cancelTime()
	}, nil
}

// cancelWatchers cancels what runs in the tab; without all, only what ends on a dialog. The caller holds t.mu.
func (t *Tab) cancelWatchers(cause error, all bool) {
	for w := range t.watchers {
		if all || w.endsOnDialog {
			w.cancel(cause)
		}
	}
}

// signalChange wakes goroutines that wait for the tab's state. The caller holds t.mu.
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

// waitUntilWithin waits for a condition for at most d; a timeout is no error.
func (t *Tab) waitUntilWithin(ctx context.Context, d time.Duration, cond func() bool) error {
	bounded, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	err := t.waitUntil(bounded, cond)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// Action is one action in a tab. Kind decides which fields apply.
type Action = action.Action

// Result describes the outcome of an action or navigation, as far as it was known when it returned.
type Result struct {
	// URL is the tab's address afterwards.
	URL string `json:"url"`
	// Navigated reports that the tab's main document was replaced, or its address changed within the document.
	Navigated bool `json:"navigated,omitempty"`
	// Loading reports that a load begun by the action had not finished.
	Loading bool `json:"loading,omitempty"`
	// Downloading reports that a download may follow: the page requested one, which Chromium reports only after the
	// server has answered, or the clicked element looks like a download by its name.
	Downloading bool `json:"-"`
	// Status is the HTTP status of the new main document; 0 if there is none.
	Status int `json:"status,omitempty"`
	// BlockedByDialog reports that a dialog opened and the action was left unfinished. It is not a failure.
	BlockedByDialog bool `json:"blockedByDialog,omitempty"`
	// Dialog is the open dialog, if BlockedByDialog.
	Dialog *Dialog `json:"dialog,omitempty"`
	// Opened lists the tabs that the page opened since the last result.
	Opened []*Tab `json:"-"`
	// Rejected is the field that kept the browser from sending the form that the action was to send.
	Rejected *frame.RejectedField `json:"-"`
	// Value is the result of evaluate, as JSON; nil for undefined.
	Value json.RawMessage `json:"value,omitempty"`
}
