package act

import (
	"context"

	"clank/browsermgr/cdp"
	"clank/browsermgr/input"

	"github.com/go-rod/rod/lib/proto"
)

// Hands are what mouse and keyboard hold from one action to the next: keys and a button that are down, something that is
// dragged. They belong to a tab and go with it. When its main document is replaced they let go of everything, so that the
// next page begins with free hands. Actions at a point and keys feel what is held; those on elements are done as if the
// hands were free. The zero value holds nothing. One action at a time uses it.
type Hands struct {
	document string // whose page saw what is held
	keys     input.Keyboard
	button   string // that is down; "" for none
	at       input.Point
	begun    chan proto.InputDragData // tells of a native drag while a button is down
	dragged  *proto.InputDragData
}

// Bits are the modifier keys that are held, see [input.Modifiers].
func (h *Hands) Bits() int { return h.keys.Bits() }

func (h *Hands) empty() bool { return h.button == "" && h.keys.Free() }

// keep notes in which document something was taken hold of.
func (d *doer) keep() { d.hands.document = d.main().Token() }

// let drops what is held where the document that saw it is gone.
func (d *doer) let() {
	h := d.hands
	if h.empty() || h.document == d.main().Token() {
		return
	}
	if h.button != "" {
		d.endDrag()
		d.main().Post(input.Mouse{At: h.at, Button: h.button}.Release(1))
	}
	*h = Hands{}
}

// awaitDrag has native drags told from now on.
func (d *doer) awaitDrag(ctx context.Context) error {
	d.hands.begun = make(chan proto.InputDragData, 1)
	d.tab.Drags(d.hands.begun)
	return d.main().Do(ctx, proto.InputSetInterceptDrags{Enabled: true})
}

// endDrag leaves native drags to Chromium again.
func (d *doer) endDrag() {
	d.tab.Drags(nil)
	d.main().Post(proto.InputSetInterceptDrags{Enabled: false})
	d.hands.begun, d.hands.dragged = nil, nil
}

// pull moves the mouse with a button down. A move that begins a native drag is not answered before that is over: it waits
// for either.
func (d *doer) pull(ctx context.Context, m input.Mouse) error {
	h := d.hands
	if h.dragged != nil {
		return d.send(ctx, dragEvent(proto.InputDispatchDragEventTypeDragOver, m.At, h.dragged))
	}
	move := d.main().Begin(m.Move(true))
	bounded, cancel := context.WithTimeout(ctx, dragPickup)
	err := move.Wait(bounded, nil)
	if bounded.Err() != nil || cdp.DocumentGone(err) {
		err = nil
	}
	cancel()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case data := <-h.begun:
		h.dragged = &data
		return d.send(ctx, dragEvent(proto.InputDispatchDragEventTypeDragEnter, m.At, h.dragged),
			dragEvent(proto.InputDispatchDragEventTypeDragOver, m.At, h.dragged))
	default:
		return err
	}
}

// drop is what has to be sent before the button is let go.
func (h *Hands) drop(at input.Point) []proto.Request {
	if h.dragged == nil {
		return nil
	}
	return []proto.Request{
		dragEvent(proto.InputDispatchDragEventTypeDragOver, at, h.dragged), dragEvent(proto.InputDispatchDragEventTypeDrop, at, h.dragged),
	}
}

func dragEvent(kind proto.InputDispatchDragEventType, at input.Point, data *proto.InputDragData) proto.Request {
	return proto.InputDispatchDragEvent{Type: kind, X: at.X, Y: at.Y, Data: data}
}
