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

// Tab is what an action needs of its tab.
type Tab interface {
	// Frames returns the main frame, which receives all input, and the frames in other processes, parents first.
	Frames() []*frame.Frame
	// Locate resolves a ref or, if that is empty, a selector.
	Locate(ref, selector string) (frame.Element, error)
	// SendAndWait sends the final input of an action in this frame, if any, and waits for its effects. It returns
	// whether tracked input reached its target: "hit", "miss" or "".
	SendAndWait(ctx context.Context, f *frame.Frame, events ...proto.Request) (string, error)
	// ReportDrags sends native drags that begin in the page to begun, without blocking, until it is called with nil.
	ReportDrags(begun chan<- proto.InputDragData)
	// TerminateScripts is called if a script of the page was still running in the frame when ctx ended.
	TerminateScripts(ctx context.Context, f *frame.Frame)
}

// Perform performs an action that [Validate] accepts, of a kind that uses input or scripts: not wait, close or a
// navigation. It returns the result of evaluate, as JSON. hands is the input state of the tab, and kept the clipboard
// for its keys.
func Perform(ctx context.Context, tab Tab, hands *InputState, kept *Clipboard, a Action) (json.RawMessage, error) {
	d := &performer{tab: tab, state: hands, clipboard: kept}
	d.releaseStale()
	if a.Kind == actiontable.KindEvaluate {
		return d.evaluate(ctx, a)
	}
	do, ok := map[actiontable.Kind]func(context.Context, Action) error{
		actiontable.KindClick: d.click, actiontable.KindClickCoords: d.clickCoords, actiontable.KindHover: d.hover,
		actiontable.KindDrag:       d.dragTo,
		actiontable.KindDragCoords: d.dragCoords,
		actiontable.KindType:       d.typeText, actiontable.KindFill: d.fill, actiontable.KindPress: d.press,
		actiontable.KindSelect: d.selectOptions,
		actiontable.KindScroll: d.scroll, actiontable.KindScrollIntoView: d.scrollIntoView, actiontable.KindResize: d.resize,
		actiontable.KindPointerMove: d.pointerMove, actiontable.KindPointerDown: d.pointerDown,
		actiontable.KindPointerUp: d.pointerUp, actiontable.KindWheel: d.wheel,
		actiontable.KindKeyDown: d.keyDown, actiontable.KindKeyUp: d.keyUp, actiontable.KindInsertText: d.insertText,
	}[a.Kind]
	if !ok {
		return nil, fault.Invalidf("unknown kind %q", a.Kind)
	}
	return nil, do(ctx, a)
}

// performer performs actions in one tab.
type performer struct {
	tab       Tab
	state     *InputState
	clipboard *Clipboard
}

// mainFrame returns the frame that receives the input.
func (d *performer) mainFrame() *frame.Frame { return d.tab.Frames()[0] }

// sendInput sends input events in order and waits until the page has handled them. If it has not when ctx ends, its
// scripts are stopped.
func (d *performer) sendInput(ctx context.Context, events ...proto.Request) error {
	if err := d.tryInput(ctx, events...); err != nil {
		return d.explainUnanswered(ctx, err)
	}
	return nil
}

// tryInput is sendInput for input that need not arrive.
func (d *performer) tryInput(ctx context.Context, events ...proto.Request) error {
	d.state.letGo += frame.CountReleases(events)
	calls := make([]*cdp.Call, len(events))
	for i, ev := range events {
		calls[i] = d.mainFrame().Begin(ev)
	}
	for _, c := range calls {
		if err := c.Wait(ctx, nil); err != nil && !cdp.IsDocumentGone(err) {
			return err
		}
	}
	return nil
}

// sendAndWait sends the final input of an action and waits for its effects; see [Tab].
func (d *performer) sendAndWait(ctx context.Context, f *frame.Frame, events ...proto.Request) (string, error) {
	earlier := frame.Earlier(d.state.letGo)
	d.state.letGo += frame.CountReleases(events)
	seen, err := d.tab.SendAndWait(ctx, f, append(events, earlier)...)
	if err == nil {
		d.state.letGo = 0
	}
	return seen, stoppedError(ctx, err)
}

// settle waits for the effects of an action in the frame.
func (d *performer) settle(ctx context.Context, f *frame.Frame) error {
	_, err := d.tab.SendAndWait(ctx, f)
	if err == nil {
		d.state.letGo = 0
	}
	return err
}

// explainUnanswered terminates scripts if the page has not handled input when ctx ends.
func (d *performer) explainUnanswered(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	d.tab.TerminateScripts(ctx, d.mainFrame())
	return stoppedError(ctx, err)
}

// stoppedError adds to err that a script was terminated, if that is why ctx ended.
func stoppedError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*fault.TimeLimitError](err); ok && ctx.Err() != nil {
		return fmt.Errorf("the page's script did not end and was stopped: %w", err)
	}
	return err
}

// evaluateLimit returns the time limit of a script of evaluate within that of its action.
func evaluateLimit(a Action) time.Duration { return max(a.Limit()-500*time.Millisecond, time.Second) }

// Action is one action in a tab.
type Action = actiontable.Action

// moveToTarget moves the mouse to its point and returns the frame at that point and the point in it. It makes sure that
// the next input arrives there: Chromium routes input to an out-of-process frame by its last drawing, and if that is
// outdated, as after a layout or scale change, the parent page or another position would get the click. So it checks
// that the frame has seen the mouse there, and otherwise waits until the frame is drawn. If the frame never sees it, it
// is clicked all the same, since its page may hide the event.
func (d *performer) moveToTarget(ctx context.Context, m frame.Mouse) (*frame.Frame, frame.Point, error) {
	f, at, err := FrameAtPoint(ctx, d.tab.Frames(), m.At)
	if err != nil || f.Parent() == nil || d.state.button != "" { // a pressed button stays with its frame
		return f, at, err
	}
	for inner, p := f, at; inner.Parent() != nil; inner = inner.Parent() {
		if p, err = inner.MapToParent(ctx, p, time.Now()); err != nil {
			return f, at, context.Cause(ctx) // the frame has moved since; the action itself finds out
		}
	}
	_, err = d.moveUntilNoticed(ctx, f, at, m)
	if err != nil && ctx.Err() == nil {
		err = nil
	}
	return f, at, err
}

// moveInto moves the mouse to a point of a frame, at in its own viewport, until the frame notices it; see moveToTarget.
// At deadline it fails with a [frame.ScriptError].
func (d *performer) moveInto(
	ctx context.Context, f *frame.Frame, at frame.Point, m frame.Mouse, deadline time.Time,
) error {
	if f.Parent() == nil {
		return d.sendInput(ctx, m.Move(false))
	}
	for {
		noticed, err := d.moveUntilNoticed(ctx, f, at, m)
		switch {
		case noticed || err != nil:
			return err
		case time.Now().After(deadline):
			return &frame.ScriptError{Code: "strayed"}
		}
	}
}

// awaitRoute reports whether the press of a click strayed from its frame. If so it waits until the frame gets the
// mouse's moves, so that the click can be repeated.
func (d *performer) awaitRoute(ctx context.Context, f *frame.Frame, at frame.Point, m frame.Mouse,
	deadline time.Time,
) (strayed bool, err error) {
	if strayed, err = f.PressStrayed(ctx); err != nil || !strayed {
		return false, context.Cause(ctx)
	}
	return true, d.moveInto(ctx, f, at, m, deadline)
}

// movesLimit is how long the mouse is moved to a frame that does not notice it.
const movesLimit = 500 * time.Millisecond

// moveUntilNoticed moves the mouse until the frame notices it, or for a while.
func (d *performer) moveUntilNoticed(
	ctx context.Context, f *frame.Frame, at frame.Point, m frame.Mouse,
) (noticed bool, err error) {
	limited, cancel := context.WithTimeout(ctx, movesLimit)
	defer cancel()
	for away := false; limited.Err() == nil; away = true {
		if _, err := frame.CallFunction[bool](ctx, f, watchMoveScript, nil, at); err != nil {
			return false, err
		}
		moves := []proto.Request{m.Move(false)}
		if away { // moving to the same position has no effect
			aside := m
			aside.At.X++
			moves = []proto.Request{aside.Move(false), m.Move(false)}
		}
		for _, move := range moves {
			if err := d.tryInput(limited, move); err != nil && limited.Err() == nil {
				return false, err
			}
		}
		noticed, err := frame.CallFunction[bool](ctx, f, moveSeenScript, nil, nil)
		if noticed || err != nil {
			return noticed, err
		}
		if _, err := f.Parent().AwaitQuiet(limited, true); err != nil && limited.Err() == nil {
			return false, err
		}
	}
	return false, context.Cause(ctx)
}

// watchMoveScript starts watching for the mouse at a point of a frame, or of same-process frames below it.
const watchMoveScript = `(_, at) => {
  globalThis.clankWatch?.abort();
  globalThis.clankHovered = () => !!document.elementFromPoint(at.x, at.y)?.matches(':hover');
  globalThis.clankWasHovered = clankHovered();
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

// moveSeenScript reports whether the mouse has arrived or does so within 150 ms, since moves are dispatched with the
// next frame drawn. Pages may hide the event, but not the style.
const moveSeenScript = `async () => await Promise.race([clankMouse, new Promise((late) => setTimeout(late, 150, false))]) ||
  !clankWasHovered && clankHovered()`

// Validate returns the first error in the action, wrapping [fault.ErrInvalid].
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

// checkSyntax checks the syntax of a field's value.
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

// isLoadState reports whether s is the name of a load state.
func isLoadState(s string) bool { return slices.Contains(actiontable.LoadStates, s) }

// InputState holds the pressed keys and button and the native drag of a tab between actions. When the tab's main
// document is replaced everything is released. Actions at a point and key actions apply what is held; actions on
// elements ignore it. In the zero value nothing is held. It is not safe for concurrent use.
type InputState struct {
	heldDocument    string // document in which keys or the button were pressed
	keys            frame.Keyboard
	button          string // pressed button; "" for none
	position        frame.Point
	dragStarted     chan proto.InputDragData // receives a native drag while a button is pressed
	dragged         *proto.InputDragData
	source, entered *cdp.Session // of the frames where the drag began, and where it is
	letGo           int          // keys and buttons released since the last wait
}

// ModifierBits returns the held modifier keys; see [frame.ModifierBits].
func (h *InputState) ModifierBits() int { return h.keys.ModifierBits() }

func (h *InputState) isIdle() bool { return h.button == "" && h.keys.IsIdle() }

// recordDocument records the document in which keys or a button were pressed.
func (d *performer) recordDocument() { d.state.heldDocument = d.mainFrame().DocumentToken() }

// releaseStale releases everything if the document in which it was pressed is gone.
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

// awaitDrag starts reporting native drags, which would begin at a point.
func (d *performer) awaitDrag(ctx context.Context, at frame.Point) error {
	f, err := d.frameAt(ctx, at)
	if err != nil {
		return err
	}
	d.state.source = f.Session
	d.state.dragStarted = make(chan proto.InputDragData, 1)
	d.tab.ReportDrags(d.state.dragStarted)
	return d.mainFrame().Do(ctx, proto.InputSetInterceptDrags{Enabled: true})
}

// endDrag stops reporting native drags, which Chromium then handles itself.
func (d *performer) endDrag() {
	h := d.state
	d.tab.ReportDrags(nil)
	if h.dragged != nil && h.entered != h.source {
		// Nothing tells the frame where the drag began that it ended in another process.
		h.source.Post(dragEvent(proto.InputDispatchDragEventTypeDragCancel, frame.Point{}, h.dragged))
	}
	d.mainFrame().Post(proto.InputSetInterceptDrags{Enabled: false})
	h.dragStarted, h.dragged, h.source, h.entered = nil, nil, nil, nil
}

// dragMove moves the mouse with a button pressed. A move that begins a native drag is not answered until that ends, so
// it waits for the answer or the drag.
func (d *performer) dragMove(ctx context.Context, m frame.Mouse) error {
	h := d.state
	if h.dragged != nil {
		return d.dragOver(ctx, m.At)
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
		return d.dragOver(ctx, m.At)
	default:
		return err
	}
}

// dragOver moves what is dragged. A frame in another process takes part in the drag only once it was entered, within
// its border.
func (d *performer) dragOver(ctx context.Context, at frame.Point) error {
	h := d.state
	f, inside, err := FrameAtPoint(ctx, d.tab.Frames(), at)
	if err != nil {
		return err
	}
	enters := h.entered != f.Session
	if enters && f.Parent() != nil {
		v, err := f.Viewport(ctx)
		if err != nil && !cdp.IsDocumentGone(err) {
			return err
		}
		enters = inside.X >= 0 && inside.Y >= 0 && inside.X < v.Width && inside.Y < v.Height
	}
	var events []proto.Request
	if enters {
		h.entered = f.Session
		events = append(events, dragEvent(proto.InputDispatchDragEventTypeDragEnter, at, h.dragged))
	}
	return d.sendInput(ctx, append(events, dragEvent(proto.InputDispatchDragEventTypeDragOver, at, h.dragged))...)
}

// dropEvents returns the events to send before the button is released.
func (h *InputState) dropEvents(at frame.Point) []proto.Request {
	if h.dragged == nil {
		return nil
	}
	return []proto.Request{
		dragEvent(proto.InputDispatchDragEventTypeDragOver, at, h.dragged),
		dragEvent(proto.InputDispatchDragEventTypeDrop, at, h.dragged),
	}
}

func dragEvent(kind proto.InputDispatchDragEventType, at frame.Point, data *proto.InputDragData) proto.Request {
	return proto.InputDispatchDragEvent{Type: kind, X: at.X, Y: at.Y, Data: data}
}
