package action

import (
	"context"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
)

// dragSteps is how many moves lie between the two ends: pages look at the way, not only at its ends.
const dragSteps = 8

// maxPath is how many points the way of a drag may have.
const maxPath = 500

// dragPickup is how long a native drag may take to begin after the first moves.
const dragPickup = 150 * time.Millisecond

// dragTo drags one element onto another: with mouse events, and where the page begins a native drag, with drag events.
func (d *performer) dragTo(ctx context.Context, a Action) error {
	start, err := d.tab.Locate(a.StartRef, a.StartSelector)
	if err != nil {
		return err
	}
	end, err := d.tab.Locate(a.EndRef, a.EndSelector)
	if err != nil {
		return err
	}
	from, err := awaitReady(ctx, start, readyArg{Selector: a.StartSelector, Enabled: true, Hit: true}, a.Limit())
	if err != nil {
		return err
	}
	err = d.drag(ctx, newMouse(from, a), func() ([]frame.Point, error) {
		to, err := awaitReady(ctx, end, readyArg{Selector: a.EndSelector}, a.Limit())
		return []frame.Point{to}, err
	})
	if err != nil {
		return err
	}
	_, err = d.tab.SendAndWait(ctx, end.Frame)
	return err
}

// dragCoords drags from one place of the viewport to others, whatever is there.
func (d *performer) dragCoords(ctx context.Context, a Action) error {
	way, err := dragPath(a)
	if err != nil {
		return err
	}
	a.X, a.Y = way[0].X, way[0].Y
	last := way[len(way)-1]
	if _, _, err := d.moveToTarget(ctx, d.mouseAt(a)); err != nil {
		return err
	}
	if err := d.drag(ctx, d.mouseAt(a), func() ([]frame.Point, error) { return way[1:], nil }); err != nil {
		return err
	}
	f, err := d.frameAt(ctx, last)
	if err != nil {
		return err
	}
	_, err = d.tab.SendAndWait(ctx, f)
	return err
}

// dragPath returns where a drag by coordinates leads.
func dragPath(a Action) ([]frame.Point, error) {
	if len(a.Path) == 0 {
		return []frame.Point{{X: a.X, Y: a.Y}, {X: a.EndX, Y: a.EndY}}, nil
	}
	way := make([]frame.Point, len(a.Path))
	for i, text := range a.Path {
		x, y, ok := strings.Cut(text, ",")
		px, errX := strconv.ParseFloat(strings.TrimSpace(x), 64)
		py, errY := strconv.ParseFloat(strings.TrimSpace(y), 64)
		if !ok || errX != nil || errY != nil || !actiontable.IsCoordinate(px) || !actiontable.IsCoordinate(py) {
			return nil, fault.Invalidf("dragCoords path %q: each entry is a non-negative \"x, y\"", text)
		}
		way[i] = frame.Point{X: px, Y: py}
	}
	if len(way) < 2 || len(way) > maxPath {
		return nil, fault.Invalidf("dragCoords path needs 2 to %d points", maxPath)
	}
	return way, nil
}

// DragEnd returns where a drag by coordinates lets go.
func DragEnd(a Action) frame.Point {
	if way, err := dragPath(a); err == nil {
		return way[len(way)-1]
	}
	return frame.Point{X: a.EndX, Y: a.EndY}
}

// drag presses where the mouse is, moves along and lets go. The way is looked for once the button is down: what is dragged
// may have made room for itself.
func (d *performer) drag(ctx context.Context, m frame.Mouse, along func() ([]frame.Point, error)) error {
	if held := d.state.button; held != "" {
		return fault.Invalidf("the %s button is down already: let it go with pointerUp", held)
	}
	defer d.endDrag()
	if err := d.awaitDrag(ctx); err != nil {
		return err
	}
	if err := d.sendInput(ctx, m.Move(false), m.Press(1)); err != nil {
		return err
	}
	held := true
	defer func() {
		if held {
			d.mainFrame().Post(m.Release(1))
		}
	}()
	way, err := along()
	if err != nil {
		return err
	}
	steps := max(1, dragSteps/len(way))
	for _, to := range way {
		from := m.At
		for i := 1; i <= steps; i++ {
			part := float64(i) / float64(steps)
			m.At = frame.Point{X: from.X + (to.X-from.X)*part, Y: from.Y + (to.Y-from.Y)*part}
			if err := d.dragMove(ctx, m); err != nil {
				return err
			}
		}
		d.state.position = to
	}
	if err := d.sendInput(ctx, d.state.dropEvents(m.At)...); err != nil {
		return err
	}
	held = false
	return d.sendInput(ctx, m.Release(1))
}
