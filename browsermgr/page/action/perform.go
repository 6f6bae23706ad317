package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Tab is what an action needs of the tab it is done in.
type Tab interface {
	// Frames are the main frame, which takes the input for all of them, and those in other processes, parents first.
	Frames() []*frame.Frame
	// Locate resolves a ref or, if that is empty, a selector.
	Locate(ref, selector string) (frame.Element, error)
	// SendAndWait sends the input that the action in this frame ends with, if any, and waits for what it led to. It reports
	// whether guarded input reached its target: "hit", "miss" or "".
	SendAndWait(ctx context.Context, f *frame.Frame, events ...proto.Request) (string, error)
	// ReportDrags has native drags that begin in the page told to the channel, which is not waited for, until it is called with
	// nil.
	ReportDrags(begun chan<- proto.InputDragData)
	// TerminateScripts is told that a script of the page still ran in the frame when ctx ended.
	TerminateScripts(ctx context.Context, f *frame.Frame)
}

// Perform does one action that [Validate] accepts, of the kinds that input or a script brings about: not wait, close or one
// that travels. It returns what evaluate gave, as JSON. hands are those of the tab.
func Perform(ctx context.Context, tab Tab, hands *InputState, a Action) (json.RawMessage, error) {
	d := &performer{tab: tab, state: hands}
	d.releaseStale()
	if a.Kind == actiontable.KindEvaluate {
		return d.evaluate(ctx, a)
	}
	do, ok := map[Kind]func(context.Context, Action) error{
		actiontable.KindClick: d.click, actiontable.KindClickCoords: d.clickCoords, actiontable.KindHover: d.hover, actiontable.KindDrag: d.dragTo,
		actiontable.KindDragCoords: d.dragCoords,
		actiontable.KindType:       d.typeText, actiontable.KindFill: d.fill, actiontable.KindPress: d.press, actiontable.KindSelect: d.selectOptions,
		actiontable.KindScroll: d.scroll, actiontable.KindScrollIntoView: d.scrollIntoView, actiontable.KindResize: d.resize,
		actiontable.KindPointerMove: d.pointerMove, actiontable.KindPointerDown: d.pointerDown, actiontable.KindPointerUp: d.pointerUp, actiontable.KindWheel: d.wheel,
		actiontable.KindKeyDown: d.keyDown, actiontable.KindKeyUp: d.keyUp, actiontable.KindInsertText: d.insertText,
	}[a.Kind]
	if !ok {
		return nil, fault.Invalidf("unknown kind %q", a.Kind)
	}
	return nil, do(ctx, a)
}

// performer does actions in one tab.
type performer struct {
	tab   Tab
	state *InputState
}

// mainFrame returns the frame that takes the input.
func (d *performer) mainFrame() *frame.Frame { return d.tab.Frames()[0] }

// sendInput has Chromium handle input events in order and waits until the page has taken all of them.
func (d *performer) sendInput(ctx context.Context, events ...proto.Request) error {
	calls := make([]*cdp.Call, len(events))
	for i, ev := range events {
		calls[i] = d.mainFrame().Begin(ev)
	}
	for _, c := range calls {
		if err := c.Wait(ctx, nil); err != nil && !cdp.IsDocumentGone(err) {
			return d.explainUnanswered(ctx, err)
		}
	}
	return nil
}

// sendAndWait sends the input that an action ends with and waits for what it led to, see [Tab].
func (d *performer) sendAndWait(ctx context.Context, f *frame.Frame, events ...proto.Request) (string, error) {
	seen, err := d.tab.SendAndWait(ctx, f, events...)
	return seen, stoppedError(ctx, err)
}

// explainUnanswered ends what the page does with input that it has not come back from when ctx ends.
func (d *performer) explainUnanswered(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	d.tab.TerminateScripts(ctx, d.mainFrame())
	return stoppedError(ctx, err)
}

// stoppedError says that a script was stopped, if that is why ctx ended.
func stoppedError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*fault.TimeLimitError](err); ok && ctx.Err() != nil {
		return fmt.Errorf("the page's script did not end and was stopped: %w", err)
	}
	return err
}

// evaluateLimit returns how long a script of evaluate may run within the limit of its action.
func evaluateLimit(a Action) time.Duration { return max(a.Limit()-500*time.Millisecond, time.Second) }

// Pause waits for a person's or a page's sake, never to synchronise.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
