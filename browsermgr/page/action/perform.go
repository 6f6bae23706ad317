package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
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

// Perform does one action that [Action.Validate] accepts, of the kinds that input or a script brings about: not wait, close or one
// that travels. It returns what evaluate gave, as JSON. hands are those of the tab.
func Perform(ctx context.Context, tab Tab, hands *InputState, a Action) (json.RawMessage, error) {
	d := &performer{tab: tab, state: hands}
	d.releaseStale()
	if a.Kind == KindEvaluate {
		return d.evaluate(ctx, a)
	}
	do, ok := map[Kind]func(context.Context, Action) error{
		KindClick: d.click, KindClickCoords: d.clickCoords, KindHover: d.hover, KindDrag: d.dragTo,
		KindDragCoords: d.dragCoords,
		KindType:       d.typeText, KindFill: d.fill, KindPress: d.press, KindSelect: d.selectOptions,
		KindScroll: d.scroll, KindScrollIntoView: d.scrollIntoView, KindResize: d.resize,
		KindPointerMove: d.pointerMove, KindPointerDown: d.pointerDown, KindPointerUp: d.pointerUp, KindWheel: d.wheel,
		KindKeyDown: d.keyDown, KindKeyUp: d.keyUp, KindInsertText: d.insertText,
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

// mainFrame is the frame that takes the input.
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

// Limits of Action.TimeoutMs.
const (
	interactionLimit = 8 * time.Second
	waitLimit        = 20 * time.Second
	shortestLimit    = 500 * time.Millisecond
	longestLimit     = 60 * time.Second
	longestWait      = 120 * time.Second
	timePerKey       = 10 * time.Millisecond // that a page may take for each character
)

// evaluateLimit is how long a script of evaluate may run within the limit of its action.
func (a Action) evaluateLimit() time.Duration {
	return min(max(a.Limit()-shortestLimit, time.Second), longestWait)
}

// Limit is how long the action may take.
func (a Action) Limit() time.Duration {
	base, longest := interactionLimit, longestLimit
	if slices.Contains([]Kind{KindWait, KindEvaluate, KindScroll, KindScrollIntoView}, a.Kind) {
		base, longest = waitLimit, longestWait
	}
	if a.TimeoutMs > 0 {
		base = min(max(time.Duration(a.TimeoutMs)*time.Millisecond, shortestLimit), longest)
	}
	if a.Kind == KindWait {
		// Each condition has the limit to itself.
		return time.Duration(a.TimeMs)*time.Millisecond + base*time.Duration(max(a.Conditions(), 1))
	}
	switch {
	case a.Kind == KindType && a.Slowly:
		base += time.Duration(len(a.Text)) * slowDelay
	case a.Kind == KindInsertText:
		base += time.Duration(len(a.Text)) * timePerKey
	}
	return base + time.Duration(a.DelayMs*max(a.Count, 1))*time.Millisecond
}

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
