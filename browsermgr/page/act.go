package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/act"
	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Act does one action and returns when its immediate outcome is there. If a dialog opens meanwhile, it returns at once
// with Result.BlockedByDialog. If one is open already nothing is done and the error is a *[DialogError]. Other errors wrap
// [ErrInvalid], [ErrUnknownRef], [ErrNotInteractable], [ErrTabCrashed], [ErrTabGone] or [ErrBrowserGone] where one of them
// applies, and the context's cause when it ended.
func (t *Tab) Act(ctx context.Context, a Action) (Result, error) {
	if err := a.Validate(); err != nil {
		return Result{}, err
	}
	if a.Kind == KindClose {
		url := t.URL()
		if err := t.Close(ctx); err != nil {
			return Result{URL: url}, err
		}
		return Result{URL: url}, nil
	}
	if travel := map[Kind]func(context.Context) (Result, error){
		KindBack: t.Back, KindForward: t.Forward, KindReload: t.Reload,
	}[a.Kind]; travel != nil {
		return travel(ctx)
	}
	var value json.RawMessage
	limit := a.Limit() + time.Second
	before, err := t.perform(ctx, limit, func(ctx context.Context, before mark) error {
		on := stage{tab: t, before: before}
		if a.Kind == KindWait {
			return act.Wait(ctx, on, a)
		}
		var err error
		value, err = act.Do(ctx, on, &t.hands, a)
		return err
	})
	res := t.outcome(before)
	res.Value = value
	if dialog, ok := errors.AsType[*DialogError](err); ok && !dialog.before {
		res.BlockedByDialog, res.Dialog = true, &dialog.Dialog
		return res, nil
	}
	if over, ok := errors.AsType[*fault.LimitError](err); ok && over.Limit == limit {
		// What is done in the page ends before that, and says what was wrong.
		err = fmt.Errorf("%w: its script is busy; wait, stop it or reload (%w)", cdp.ErrNoAnswer, err)
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", a.Kind, err)
	}
	return res, nil
}

// Held are the modifier keys that an action has left down, as bits of CDP. It is for those who have the tab's turn, see
// [Tab.Exclusive].
func (t *Tab) Held() int { return t.hands.Bits() }

// perform runs something in the tab's turn, under its limit.
func (t *Tab) perform(ctx context.Context, limit time.Duration, do func(context.Context, mark) error) (mark, error) {
	release, err := t.acquire(ctx)
	if err != nil {
		return t.mark(), err
	}
	defer release()
	before := t.mark()
	ctx, cancel, err := t.watch(ctx, limit, true)
	if err != nil {
		if dialog, ok := errors.AsType[*DialogError](err); ok {
			dialog.before = true
		}
		return before, err
	}
	defer cancel()
	if err := t.tree.Await(ctx); err != nil {
		return before, err
	}
	return before, do(ctx, before)
}

// exclusive runs something that changes nothing in the tab's turn.
func (t *Tab) exclusive(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	_, err := t.perform(ctx, limit, func(ctx context.Context, _ mark) error { return do(ctx) })
	return err
}

// stage is the tab as one action sees it.
type stage struct {
	tab    *Tab
	before mark // the state before the action
}

// Main is the frame that takes input.
func (s stage) Main() *frame.Frame { return s.tab.main }

// Frames are all frames of the tab.
func (s stage) Frames() []*frame.Frame { return s.tab.tree.All() }

// Stuck ends a script that still ran when ctx ended, unless it stands still because of a dialog. Input that does not come back
// may be stuck in any frame.
func (s stage) Stuck(_ context.Context, f *frame.Frame) {
	if s.tab.pendingDialog() != nil {
		return
	}
	frames := []*frame.Frame{f}
	if f == s.tab.main {
		frames = s.tab.tree.Processes()
	}
	for _, f := range frames {
		// Without a running script the request to stop would wait for the next one: give it one of ours to stop.
		f.Post(proto.RuntimeTerminateExecution{}, proto.RuntimeEvaluate{Expression: "0"})
	}
}

// AwaitURL waits until the tab's address matches.
func (s stage) AwaitURL(ctx context.Context, match func(url string) bool) error {
	return s.tab.until(ctx, func() bool { return match(s.tab.url) })
}

// AwaitLoad waits until the main document has come to a load state.
func (s stage) AwaitLoad(ctx context.Context, state string) error {
	return s.tab.until(ctx, func() bool { return s.tab.load.Reached(state) })
}

// Locate resolves a ref or a selector.
func (s stage) Locate(ref, selector string) (frame.Element, error) {
	return s.tab.locate(ref, selector)
}

// Settle sends the input that the action ends with, if any, and waits for what it led to.
func (s stage) Settle(ctx context.Context, f *frame.Frame, events ...proto.Request) (string, error) {
	return s.tab.settle(ctx, f, s.before, events)
}

// Drags has native drags told to the channel.
func (s stage) Drags(begun chan<- proto.InputDragData) {
	s.tab.mu.Lock()
	defer s.tab.mu.Unlock()
	s.tab.drag = begun
}

func (t *Tab) dragStarted(data *proto.InputDragData) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drag == nil || data == nil {
		return
	}
	select {
	case t.drag <- *data:
	default:
	}
}
