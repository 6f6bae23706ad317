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
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"

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
// that travels. It returns what evaluate gave, as JSON. hands are those of the tab,
// and kept is what its keys copy to and paste from.
func Perform(ctx context.Context, tab Tab, hands *InputState, kept *Clipboard, a Action) (json.RawMessage, error) {
	d := &performer{tab: tab, state: hands, clipboard: kept}
	d.releaseStale()
	if a.Kind == actiontable.KindEvaluate {
		return d.evaluate(ctx, a)
	}
	do, ok := map[actiontable.Kind]func(context.Context, Action) error{
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
	tab       Tab
	state     *InputState
	clipboard *Clipboard
}

// mainFrame returns the frame that takes the input.
func (d *performer) mainFrame() *frame.Frame { return d.tab.Frames()[0] }

// sendInput has Chromium handle input events in order and waits until the page has taken all of them.
func (d *performer) sendInput(ctx context.Context, events ...proto.Request) error {
	d.state.letGo += frame.CountReleases(events)
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
	earlier := frame.Earlier(d.state.letGo)
	d.state.letGo += frame.CountReleases(events)
	seen, err := d.tab.SendAndWait(ctx, f, append(events, earlier)...)
	if err == nil {
		d.state.letGo = 0
	}
	return seen, stoppedError(ctx, err)
}

// settle waits for what an action in the frame led to.
func (d *performer) settle(ctx context.Context, f *frame.Frame) error {
	_, err := d.tab.SendAndWait(ctx, f)
	if err == nil {
		d.state.letGo = 0
	}
	return err
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

// Action is one thing to do in a tab.
type Action = actiontable.Action

// moveToTarget moves the mouse to its point and sees to it that what follows arrives in the frame that shows the point, and where; it
// returns both. Chromium routes input to a frame of another process by what was last drawn of it: where that is too old, as
// just after the frame was laid out or the scale of the screen was changed, the page around it would get the click, or
// another place in the frame. So the frame is asked whether it has noticed the mouse there, and given time to be drawn if it
// has not. One that never notices is clicked all the same: its page may keep the event to itself.
func (d *performer) moveToTarget(ctx context.Context, m frame.Mouse) (*frame.Frame, frame.Point, error) {
	f, at, err := FrameAtPoint(ctx, d.tab.Frames(), m.At)
	if err != nil || f.Parent() == nil || d.state.button != "" { // a button that is down keeps its frame
		return f, at, err
	}
	return f, at, d.moveIntoFrame(ctx, f, at, m)
}

func (d *performer) moveIntoFrame(ctx context.Context, f *frame.Frame, at frame.Point, m frame.Mouse) error {
	for try := range maxLostClicks {
		if _, err := frame.CallFunction[bool](ctx, f, watchMoveScript, nil, at); err != nil {
			return context.Cause(ctx) // the action finds out what is the matter with the frame
		}
		if try > 0 { // a mouse that stays where it is moves nothing
			away := m
			away.At.X++
			if err := d.sendInput(ctx, away.Move(false)); err != nil {
				return err
			}
		}
		if err := d.sendInput(ctx, m.Move(false)); err != nil {
			return err
		}
		if noticed, err := frame.CallFunction[bool](ctx, f, moveSeenScript, nil, nil); noticed || err != nil {
			return context.Cause(ctx)
		}
		if _, err := f.Parent().AwaitQuiet(ctx, true); err != nil {
			return err
		}
	}
	return nil
}

// watchMoveScript begins to watch for the mouse at a point of a frame, or in the documents of its process below it.
const watchMoveScript = `(_, at) => {
  globalThis.clankWatch?.abort();
  const end = globalThis.clankWatch = new AbortController();
  globalThis.clankMouse = new Promise((seen) => {
    const watch = (root, there) => {
      root.addEventListener('pointermove', (e) => {
        if (!there(e)) return;
        end.abort();
        seen(true);
      }, { capture: true, signal: end.signal });
      for (const el of root.querySelectorAll('iframe, frame')) if (el.contentDocument) watch(el.contentDocument, () => true);
    };
    const near = (a, b) => Math.abs(a - b) < 4;
    watch(document, (e) => near(e.clientX, at.x + (visualViewport?.offsetLeft ?? 0)) && near(e.clientY, at.y + (visualViewport?.offsetTop ?? 0)));
  });
  return true;
}`

// moveSeenScript reports whether the mouse has come, or comes in a moment: moves are told with the next drawing.
const moveSeenScript = `() => Promise.race([globalThis.clankMouse, new Promise((late) => setTimeout(late, 150, false))])`

// Validate reports the first thing that is wrong with the action, as an error that wraps [fault.ErrInvalid].
func Validate(a Action) error {
	if err := a.Check(); err != nil {
		return err
	}
	spec, _ := actiontable.Lookup(actiontable.API|actiontable.Window, a.Kind)
	for _, p := range spec.Params {
		if err := checkSyntax(a, p); err != nil {
			return err
		}
	}
	for _, f := range a.NamedFields() {
		if _, err := outline.ParseRef(f.Ref); err != nil && a.Kind == actiontable.KindFill {
			return err
		}
	}
	return nil
}

// checkSyntax checks what the value of a field is made of.
func checkSyntax(a Action, p actiontable.Param) (err error) {
	text, _ := a.Value(p.Name).(string)
	switch {
	case p.Type == actiontable.Ref && text != "":
		_, err = outline.ParseRef(text)
	case p.Type == actiontable.Key:
		_, err = frame.ParseChord(text)
	case p.Type == actiontable.Modifiers:
		_, err = frame.ModifierBits(a.Modifiers)
	case p.Type == actiontable.Points:
		_, err = dragPath(a)
	}
	return err
}

// isLoadState reports whether s is a load state that can be waited for.
func isLoadState(s string) bool { return slices.Contains(actiontable.LoadStates, s) }

// InputState are what mouse and keyboard hold from one action to the next: keys and a button that are down, something that is
// dragged. They belong to a tab and go with it. When its main document is replaced they let go of everything, so that the
// next page begins with free hands. Actions at a point and keys feel what is held; those on elements are done as if the
// hands were free. The zero value holds nothing. One action at a time uses it.
type InputState struct {
	heldDocument string // whose page saw what is held
	keys         frame.Keyboard
	button       string // that is down; "" for none
	position     frame.Point
	dragStarted  chan proto.InputDragData // tells of a native drag while a button is down
	dragged      *proto.InputDragData
	letGo        int // keys and buttons since the page was last waited for
}

// ModifierBits returns the modifier keys that are held, see [frame.ModifierBits].
func (h *InputState) ModifierBits() int { return h.keys.ModifierBits() }

func (h *InputState) isIdle() bool { return h.button == "" && h.keys.IsIdle() }

// recordDocument notes in which document something was taken hold of.
func (d *performer) recordDocument() { d.state.heldDocument = d.mainFrame().DocumentToken() }

// releaseStale drops what is held where the document that saw it is gone.
func (d *performer) releaseStale() {
	h := d.state
	if h.isIdle() || h.heldDocument == d.mainFrame().DocumentToken() {
		return
	}
	if h.button != "" {
		d.endDrag()
		d.mainFrame().Post(frame.Mouse{At: h.position, Button: h.button}.Release(1))
	}
	*h = InputState{}
}

// awaitDrag has native drags told from now on.
func (d *performer) awaitDrag(ctx context.Context) error {
	d.state.dragStarted = make(chan proto.InputDragData, 1)
	d.tab.ReportDrags(d.state.dragStarted)
	return d.mainFrame().Do(ctx, proto.InputSetInterceptDrags{Enabled: true})
}

// endDrag leaves native drags to Chromium again.
func (d *performer) endDrag() {
	d.tab.ReportDrags(nil)
	d.mainFrame().Post(proto.InputSetInterceptDrags{Enabled: false})
	d.state.dragStarted, d.state.dragged = nil, nil
}

// dragMove moves the mouse with a button down. A move that begins a native drag is not answered before that is over: it waits
// for either.
func (d *performer) dragMove(ctx context.Context, m frame.Mouse) error {
	h := d.state
	if h.dragged != nil {
		return d.sendInput(ctx, dragEvent(proto.InputDispatchDragEventTypeDragOver, m.At, h.dragged))
	}
	move := d.mainFrame().Begin(m.Move(true))
	bounded, cancel := context.WithTimeout(ctx, dragPickup)
	err := move.Wait(bounded, nil)
	if bounded.Err() != nil || cdp.IsDocumentGone(err) {
		err = nil
	}
	cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case data := <-h.dragStarted:
		h.dragged = &data
		return d.sendInput(ctx, dragEvent(proto.InputDispatchDragEventTypeDragEnter, m.At, h.dragged),
			dragEvent(proto.InputDispatchDragEventTypeDragOver, m.At, h.dragged))
	default:
		return err
	}
}

// dropEvents returns the events to send before the button is released.
func (h *InputState) dropEvents(at frame.Point) []proto.Request {
	if h.dragged == nil {
		return nil
	}
	return []proto.Request{
		dragEvent(proto.InputDispatchDragEventTypeDragOver, at, h.dragged), dragEvent(proto.InputDispatchDragEventTypeDrop, at, h.dragged),
	}
}

func dragEvent(kind proto.InputDispatchDragEventType, at frame.Point, data *proto.InputDragData) proto.Request {
	return proto.InputDispatchDragEvent{Type: kind, X: at.X, Y: at.Y, Data: data}
}
