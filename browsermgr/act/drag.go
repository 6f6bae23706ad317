package act

import (
	"context"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/input"
)

// dragSteps is how many moves lie between the two ends: pages look at the way, not only at its ends.
const dragSteps = 8

// maxPath is how many points the way of a drag may have.
const maxPath = 500

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
	err = d.drag(ctx, mouse(from, a), func() ([]input.Point, error) {
		to, err := ready(ctx, end, readyArg{Selector: a.EndSelector}, a.Limit())
		return []input.Point{to}, err
	})
	if err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, end.Frame)
	return err
}

// dragCoords drags from one place of the viewport to others, whatever is there.
func (d *doer) dragCoords(ctx context.Context, a Action) error {
	way, err := a.way()
	if err != nil {
		return err
	}
	a.X, a.Y = way[0].X, way[0].Y
	last := way[len(way)-1]
	if _, _, err := d.aim(ctx, d.mouse(a)); err != nil {
		return err
	}
	if err := d.drag(ctx, d.mouse(a), func() ([]input.Point, error) { return way[1:], nil }); err != nil {
		return err
	}
	f, err := d.under(ctx, last)
	if err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, f)
	return err
}

// way is where a drag by coordinates leads.
func (a Action) way() ([]input.Point, error) {
	if len(a.Path) == 0 {
		return []input.Point{{X: a.X, Y: a.Y}, {X: a.EndX, Y: a.EndY}}, nil
	}
	way := make([]input.Point, len(a.Path))
	for i, text := range a.Path {
		x, y, ok := strings.Cut(text, ",")
		px, errX := strconv.ParseFloat(strings.TrimSpace(x), 64)
		py, errY := strconv.ParseFloat(strings.TrimSpace(y), 64)
		if !ok || errX != nil || errY != nil || !coordinate(px) || !coordinate(py) {
			return nil, fault.Invalidf("dragCoords path %q: each entry is a non-negative \"x, y\"", text)
		}
		way[i] = input.Point{X: px, Y: py}
	}
	if len(way) < 2 || len(way) > maxPath {
		return nil, fault.Invalidf("dragCoords path needs 2 to %d points", maxPath)
	}
	return way, nil
}

// End is where a drag by coordinates lets go.
func (a Action) End() input.Point {
	if way, err := a.way(); err == nil {
		return way[len(way)-1]
	}
	return input.Point{X: a.EndX, Y: a.EndY}
}

// drag presses where the mouse is, moves along and lets go. The way is looked for once the button is down: what is dragged
// may have made room for itself.
func (d *doer) drag(ctx context.Context, m input.Mouse, along func() ([]input.Point, error)) error {
	if held := d.hands.button; held != "" {
		return fault.Invalidf("the %s button is down already: let it go with pointerUp", held)
	}
	defer d.endDrag()
	if err := d.awaitDrag(ctx); err != nil {
		return err
	}
	if err := d.send(ctx, m.Move(false), m.Press(1)); err != nil {
		return err
	}
	held := true
	defer func() {
		if held {
			d.main().Post(m.Release(1))
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
			m.At = input.Point{X: from.X + (to.X-from.X)*part, Y: from.Y + (to.Y-from.Y)*part}
			if err := d.pull(ctx, m); err != nil {
				return err
			}
		}
		d.hands.at = to
	}
	if err := d.send(ctx, d.hands.drop(m.At)...); err != nil {
		return err
	}
	held = false
	return d.send(ctx, m.Release(1))
}
