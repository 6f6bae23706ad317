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

// Act does one action and returns when its immediate outcome is there. If a dialog opens meanwhile, it returns at once
// with Result.BlockedByDialog. If one is open already nothing is done and the error is a *[DialogError]. Other errors wrap
// [ErrInvalid], [ErrUnknownRef], [ErrNotInteractable], [ErrTabCrashed], [ErrTabGone] or [ErrBrowserGone] where one of them
// applies, and the context's cause when it ended.
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
		// What is done in the page ends before that, and says what was wrong.
		err = fmt.Errorf("%w: its script is busy; wait, stop it or reload (%w)", cdp.ErrNoAnswer, err)
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", a.Kind, err)
	}
	return res, nil
}

// HeldModifiers returns the modifier keys that an action has left down, as bits of CDP. It is for those who have the tab's turn, see
// [Tab.RunExclusive].
func (t *Tab) HeldModifiers() int { return t.inputState.ModifierBits() }

// runWithBaseline runs something in the tab's turn, under its limit.
func (t *Tab) runWithBaseline(ctx context.Context, limit time.Duration, do func(context.Context, actionBaseline) error) (actionBaseline, error) {
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

// readInTurn reads something in the tab's turn, for what an error begins with.
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

// actionTab is the tab as one action sees it.
type actionTab struct {
	tab      *Tab
	baseline actionBaseline // the state before the action
}

// MainFrame returns the frame that takes input.
func (s actionTab) MainFrame() *frame.Frame { return s.tab.main }

// Frames returns all frames of the tab.
func (s actionTab) Frames() []*frame.Frame { return s.tab.tree.Frames() }

// TerminateScripts ends a script that still ran when ctx ended, unless it stands still because of a dialog. Input that does not come back
// may be stuck in any frame.
func (s actionTab) TerminateScripts(_ context.Context, f *frame.Frame) {
	if s.tab.pendingDialog() != nil {
		return
	}
	frames := []*frame.Frame{f}
	if f == s.tab.main {
		frames = s.tab.tree.ProcessRoots()
	}
	for _, f := range frames {
		// Without a running script the request to stop would wait for the next one: give it one of ours to stop.
		f.Post(proto.RuntimeTerminateExecution{}, proto.RuntimeEvaluate{Expression: "0"})
	}
}

// AwaitURL waits until the tab's address matches.
func (s actionTab) AwaitURL(ctx context.Context, match func(url string) bool) error {
	return s.tab.waitUntil(ctx, func() bool { return match(s.tab.url) })
}

// AwaitLoad waits until the main document has come to a load state.
func (s actionTab) AwaitLoad(ctx context.Context, state string) error {
	return s.tab.waitUntil(ctx, func() bool { return s.tab.loadState.Reached(state) })
}

// Locate resolves a ref or a selector.
func (s actionTab) Locate(ref, selector string) (frame.Element, error) {
	return s.tab.locate(ref, selector)
}

// SendAndWait sends the input that the action ends with, if any, and waits for what it led to.
func (s actionTab) SendAndWait(ctx context.Context, f *frame.Frame, events ...proto.Request) (string, error) {
	return s.tab.sendAndWait(ctx, f, s.baseline, events)
}

// ReportDrags has native drags told to the channel.
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

// tabWatcher ends the context of something that runs in a tab when the tab cannot go on with it.
type tabWatcher struct {
	cancel       context.CancelCauseFunc
	endsOnDialog bool // also when a dialog opens
	watches      bool // it is for people who watch, and goes on when one of them works the page
}

// acquireTurn waits for the tab's turn.
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

// watchContext derives a context that ends when the limit is over, when the tab crashes or closes, and, if wanted, when a dialog
// opens. It fails if that is so already.
func (t *Tab) watchContext(ctx context.Context, limit time.Duration, dialogs bool) (context.Context, context.CancelFunc, error) {
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

// Action is one thing to do in a tab. Kind decides which fields count.
type Action = action.Action

// Result tells what an action or a navigation led to, as far as it was visible when it returned.
type Result struct {
	// URL is the tab's address afterwards.
	URL string `json:"url"`
	// Navigated says that the tab's main document was replaced, or its address changed within the document.
	Navigated bool `json:"navigated,omitempty"`
	// Loading says that a load which the action began had not come to its end.
	Loading bool `json:"loading,omitempty"`
	// Downloading says that a download may follow: the page asked for one, which Chromium does not tell of before the server
	// has answered, or what was clicked promises one by its name.
	Downloading bool `json:"-"`
	// Status is the HTTP status of the new main document; 0 if there is none.
	Status int `json:"status,omitempty"`
	// BlockedByDialog says that a dialog opened and the action was left where it was. It is not a failure.
	BlockedByDialog bool `json:"blockedByDialog,omitempty"`
	// Dialog is the open dialog, if BlockedByDialog.
	Dialog *Dialog `json:"dialog,omitempty"`
	// Opened lists the tabs that the page opened meanwhile.
	Opened []*Tab `json:"-"`
	// Value is what evaluate returned, as JSON; nil for undefined.
	Value json.RawMessage `json:"value,omitempty"`
}
