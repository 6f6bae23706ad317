package action

import (
	"context"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

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
