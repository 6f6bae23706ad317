package page

import (
	"context"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// dragSteps is how many moves lie between the two ends: pages look at the way, not only at its ends.
const dragSteps = 8

// dragPickup is how long a native drag may take to begin after the first moves.
const dragPickup = 150 * time.Millisecond

// dragTo drags one element onto another: with mouse events, and where the page begins a native drag, with drag events.
func (t *Tab) dragTo(ctx context.Context, a Action) error {
	start, err := t.locate(a.StartRef, a.StartSelector)
	if err != nil {
		return err
	}
	end, err := t.locate(a.EndRef, a.EndSelector)
	if err != nil {
		return err
	}
	from, err := t.ready(ctx, start, readyArg{Selector: a.StartSelector, Enabled: true, Hit: true}, a.limit())
	if err != nil {
		return err
	}
	begun := make(chan proto.InputDragData, 1)
	t.setDrag(begun)
	defer t.setDrag(nil)
	if err := t.session.do(ctx, proto.InputSetInterceptDrags{Enabled: true}); err != nil {
		return err
	}
	defer t.session.post(proto.InputSetInterceptDrags{Enabled: false})
	m := newMouse(from, a)
	if err := t.send(ctx, m.move(false), m.press(1)); err != nil {
		return err
	}
	held := true
	defer func() {
		if held {
			t.session.post(m.release(1))
		}
	}()
	to, err := t.ready(ctx, end, readyArg{Selector: a.EndSelector}, a.limit())
	if err != nil {
		return err
	}
	data, native, err := t.dragWay(ctx, m, to, begun)
	if err != nil {
		return err
	}
	m.at = to
	if native {
		err = t.drop(ctx, to, data)
	}
	if err != nil {
		return err
	}
	held = false
	if err := t.send(ctx, m.release(1)); err != nil {
		return err
	}
	_, err = t.settled(ctx, end.session)
	return err
}

// dragWay moves the held pointer along and reports whether the page began a native drag.
func (t *Tab) dragWay(ctx context.Context, m mouse, to point, begun <-chan proto.InputDragData) (proto.InputDragData, bool, error) {
	from := m.at
	for i := 1; i <= dragSteps; i++ {
		part := float64(i) / dragSteps
		m.at = point{X: from.X + (to.X-from.X)*part, Y: from.Y + (to.Y-from.Y)*part}
		move := t.session.begin(m.move(true))
		// A move that begins a native drag is not answered before the drag is over: look for either.
		bounded, cancel := context.WithTimeout(ctx, dragPickup)
		err := move.wait(bounded, nil)
		cancel()
		if ctx.Err() != nil {
			return proto.InputDragData{}, false, context.Cause(ctx)
		}
		select {
		case data := <-begun:
			return data, true, nil
		default:
		}
		if err != nil && bounded.Err() == nil {
			return proto.InputDragData{}, false, err
		}
	}
	return proto.InputDragData{}, false, nil
}

func (t *Tab) drop(ctx context.Context, at point, data proto.InputDragData) error {
	var events []proto.Request
	for _, kind := range []proto.InputDispatchDragEventType{
		proto.InputDispatchDragEventTypeDragEnter, proto.InputDispatchDragEventTypeDragOver, proto.InputDispatchDragEventTypeDrop,
	} {
		events = append(events, proto.InputDispatchDragEvent{Type: kind, X: at.X, Y: at.Y, Data: &data})
	}
	return t.send(ctx, events...)
}

func (t *Tab) setDrag(ch chan proto.InputDragData) {
	t.mu.Lock()
	t.drag = ch
	t.mu.Unlock()
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
