package act

import (
	"context"
	"time"

	"clank/browsermgr/input"

	"github.com/go-rod/rod/lib/proto"
)

// dragSteps is how many moves lie between the two ends: pages look at the way, not only at its ends.
const dragSteps = 8

// dragPickup is how long a native drag may take to begin after the first moves.
const dragPickup = 150 * time.Millisecond

// dragTo drags one element onto another: with mouse events, and where the page begins a native drag, with drag events.
func (d *doer) dragTo(ctx context.Context, a Action) error {
	start, err := d.tab.Locate(a.StartRef, a.StartSelector)
	if err != nil {
		return err
	}
	end, err := d.tab.Locate(a.EndRef, a.EndSelector)
	if err != nil {
		return err
	}
	from, err := ready(ctx, start, readyArg{Selector: a.StartSelector, Enabled: true, Hit: true}, a.Limit())
	if err != nil {
		return err
	}
	err = d.drag(ctx, mouse(from, a), func() (input.Point, error) {
		return ready(ctx, end, readyArg{Selector: a.EndSelector}, a.Limit())
	})
	if err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, end.Frame)
	return err
}

// dragCoords drags from one place of the viewport to another, whatever is there.
func (d *doer) dragCoords(ctx context.Context, a Action) error {
	err := d.drag(ctx, mouse(input.Point{X: a.X, Y: a.Y}, a), func() (input.Point, error) {
		return input.Point{X: a.EndX, Y: a.EndY}, nil
	})
	if err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, d.tab.Main())
	return err
}

// drag presses where the mouse is, moves to the end and lets go. The end is looked for once the button is down: what is
// dragged may have made room for itself.
func (d *doer) drag(ctx context.Context, m input.Mouse, end func() (input.Point, error)) error {
	begun := make(chan proto.InputDragData, 1)
	d.tab.Drags(begun)
	defer d.tab.Drags(nil)
	if err := d.tab.Main().Do(ctx, proto.InputSetInterceptDrags{Enabled: true}); err != nil {
		return err
	}
	defer d.tab.Main().Post(proto.InputSetInterceptDrags{Enabled: false})
	if err := d.send(ctx, m.Move(false), m.Press(1)); err != nil {
		return err
	}
	held := true
	defer func() {
		if held {
			d.tab.Main().Post(m.Release(1))
		}
	}()
	to, err := end()
	if err != nil {
		return err
	}
	data, native, err := d.dragWay(ctx, m, to, begun)
	if err != nil {
		return err
	}
	m.At = to
	if native {
		err = d.drop(ctx, to, data)
	}
	if err != nil {
		return err
	}
	held = false
	return d.send(ctx, m.Release(1))
}

// dragWay moves the held pointer along and reports whether the page began a native drag.
func (d *doer) dragWay(ctx context.Context, m input.Mouse, to input.Point, begun <-chan proto.InputDragData) (proto.InputDragData, bool, error) {
	from := m.At
	for i := 1; i <= dragSteps; i++ {
		part := float64(i) / dragSteps
		m.At = input.Point{X: from.X + (to.X-from.X)*part, Y: from.Y + (to.Y-from.Y)*part}
		move := d.tab.Main().Begin(m.Move(true))
		// A move that begins a native drag is not answered before the drag is over: look for either.
		bounded, cancel := context.WithTimeout(ctx, dragPickup)
		err := move.Wait(bounded, nil)
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

func (d *doer) drop(ctx context.Context, at input.Point, data proto.InputDragData) error {
	var events []proto.Request
	for _, kind := range []proto.InputDispatchDragEventType{
		proto.InputDispatchDragEventTypeDragEnter, proto.InputDispatchDragEventTypeDragOver, proto.InputDispatchDragEventTypeDrop,
	} {
		events = append(events, proto.InputDispatchDragEvent{Type: kind, X: at.X, Y: at.Y, Data: &data})
	}
	return d.send(ctx, events...)
}
