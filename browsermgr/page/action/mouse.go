package action

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/cancel"

	"github.com/go-rod/rod/lib/proto"
)

// readyArg describes the element to wait for until it can receive input.
type readyArg struct {
	Ref      string `json:"ref,omitempty"`
	Selector string `json:"selector,omitempty"`
	Enabled  bool   `json:"enabled"`
	Hit      bool   `json:"hit"`
	Guard    bool   `json:"guard"`
	Strict   bool   `json:"strict"`
	Remote   bool   `json:"remote"`
	Stay     bool   `json:"stay"`           // do not scroll
	Axis     string `json:"axis,omitempty"` // x or y: find the scroll container for this axis
	Timeout  int64  `json:"timeout"`
}

// aim is where input for an element goes, in the tab's viewport.
type aim struct {
	frame.Point
	inFrame frame.Point // in the viewport of the element's frame
	Tap     bool        `json:"tap"` // the element reacts to fingers alone
}

// awaitReady scrolls an element into view, waits until it can receive input and returns where to aim.
func awaitReady(ctx context.Context, e frame.Element, arg readyArg, limit time.Duration) (aim, error) {
	limit = frame.ScriptLimit(ctx, limit)
	arg.Ref, arg.Timeout, arg.Remote = e.LocalRef, limit.Milliseconds(), e.Frame.Parent() != nil
	deadline := time.Now().Add(limit)
	at, err := frame.RunScript[aim](ctx, e.Frame, frame.Script{Fn: "ready", Arg: arg, Within: limit + e.Frame.Timeout()})
	if err != nil {
		return at, e.Explain(err)
	}
	at.inFrame = at.Point
	for f := e.Frame; f.Parent() != nil; f = f.Parent() {
		if at.Point, err = f.MapToParent(ctx, at.Point, deadline); err != nil {
			return at, e.Explain(err)
		}
	}
	return at, nil
}

func newMouse(at frame.Point, a Action) frame.Mouse {
	bits, _ := frame.ModifierBits(a.Modifiers)
	return frame.Mouse{At: at, Button: a.Button, Modifiers: bits}
}

func (d *performer) click(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	return d.clickElement(ctx, e, a)
}

func (d *performer) clickElement(ctx context.Context, e frame.Element, a Action) error {
	deadline := time.Now().Add(a.Limit())
	strict := false
	for {
		document := e.Frame.DocumentToken()
		arg := readyArg{Selector: a.Selector, Enabled: true, Hit: true, Guard: true, Strict: strict}
		at, err := awaitReady(ctx, e, arg, time.Until(deadline))
		if err != nil {
			return err
		}
		seen, err := d.clickAt(ctx, e.Frame, at, a)
		if err != nil {
			return err
		}
		switch {
		case seen == "miss":
			strict = true
		case seen == "" && e.Frame.DocumentToken() == document:
			strayed, err := d.awaitRoute(ctx, e.Frame, at.inFrame, newMouse(at.Point, a), deadline)
			if err != nil || !strayed {
				return e.Explain(err)
			}
		default:
			return nil
		}
		if time.Now().After(deadline) {
			return (&frame.ScriptError{Code: "moving"}).Explain(e.GivenRef)
		}
	}
}

func (d *performer) clickAt(ctx context.Context, f *frame.Frame, at aim, a Action) (seen string, err error) {
	m := newMouse(at.Point, a)
	if at.Tap && m.Button == "" && clickTotal(a) == 1 {
		return d.sendAndWait(ctx, f, m.Tap()...)
	}
	if a.DelayMs > 0 {
		if err := d.sendInput(ctx, m.Move(false)); err != nil {
			return "", err
		}
		if err := cancel.Sleep(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			return "", err
		}
	}
	return d.clickTimes(ctx, f, m, clickTotal(a))
}

// clickTimes clicks one or more times. Pages that detect double clicks by timestamps need time to pass between clicks.
func (d *performer) clickTimes(ctx context.Context, f *frame.Frame, m frame.Mouse, total int) (string, error) {
	events := []proto.Request{m.Move(false)}
	for i := 1; i < total; i++ {
		if err := d.sendInput(ctx, append(events, m.Press(i), m.Release(i))...); err != nil {
			return "", err
		}
		if err := cancel.Sleep(ctx, 2*time.Millisecond); err != nil {
			return "", err
		}
		events = nil
	}
	return d.sendAndWait(ctx, f, append(events, m.Press(total), m.Release(total))...)
}

// clickTotal returns the number of consecutive clicks.
func clickTotal(a Action) int {
	if a.DoubleClick {
		return 2
	}
	return max(a.ClickCount, 1)
}

func (d *performer) clickCoords(ctx context.Context, a Action) error {
	m := d.mouseAt(a)
	if err := d.checkInView(ctx, m.At); err != nil {
		return err
	}
	d.state.position = m.At
	for deadline := time.Now().Add(a.Limit()); ; {
		f, inFrame, err := d.moveToTarget(ctx, m)
		if err != nil {
			return err
		}
		if a.DelayMs > 0 {
			if err := d.clickHeld(ctx, m, a); err != nil {
				return err
			}
			return d.settle(ctx, f)
		}
		if _, err := d.clickTimes(ctx, f, m, clickTotal(a)); err != nil {
			return err
		}
		strayed, err := d.awaitRoute(ctx, f, inFrame, m, deadline)
		if no, ok := errors.AsType[*frame.ScriptError](err); ok {
			return no.Explain(fmt.Sprintf("the point %g, %g", a.X, a.Y))
		}
		if err != nil || !strayed {
			return err
		}
	}
}

// clickHeld clicks one or more times, holding the button for a while.
func (d *performer) clickHeld(ctx context.Context, m frame.Mouse, a Action) error {
	for i := range clickTotal(a) {
		if err := d.sendInput(ctx, m.Move(false), m.Press(i+1)); err != nil {
			return err
		}
		if err := cancel.Sleep(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			d.mainFrame().Post(m.Release(i + 1))
			return err
		}
		if err := d.sendInput(ctx, m.Release(i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (d *performer) hover(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(a.Limit())
	at, err := awaitReady(ctx, e, readyArg{Selector: a.Selector, Hit: true}, a.Limit())
	if err != nil {
		return err
	}
	if err := d.moveInto(ctx, e.Frame, at.inFrame, newMouse(at.Point, a), deadline); err != nil {
		return e.Explain(err)
	}
	return d.settle(ctx, e.Frame)
}

// defaultScroll is the default scroll distance as a fraction of the visible height or width.
const defaultScroll = 0.8

// scroll turns the mouse wheel over the middle of the viewport, or of an element's scroll container.
func (d *performer) scroll(ctx context.Context, a Action) error {
	axis := "y"
	if a.Direction == "left" || a.Direction == "right" {
		axis = "x"
	}
	e, at, view, err := d.findScroller(ctx, a, axis)
	if err != nil {
		return err
	}
	amount := view.Height * defaultScroll
	if axis == "x" {
		amount = view.Width * defaultScroll
	}
	if a.Pixels != 0 {
		amount = float64(a.Pixels)
	}
	if a.Direction == "up" || a.Direction == "left" {
		amount = -amount
	}
	wheel := frame.Mouse{At: at}.Wheel(0, amount)
	if axis == "x" {
		wheel = frame.Mouse{At: at}.Wheel(amount, 0)
	}
	if err := d.sendInput(ctx, wheel); err != nil {
		return err
	}
	arg := map[string]string{"ref": e.LocalRef, "selector": a.Selector}
	_, err = frame.RunScript[bool](ctx, e.Frame, frame.Script{Fn: "rest", Arg: arg})
	if err != nil && !cdp.IsDocumentGone(err) {
		return e.Explain(err)
	}
	return d.settle(ctx, e.Frame)
}

// findScroller returns the scroll container of the element, the point at which to turn the wheel, and the visible
// length.
func (d *performer) findScroller(
	ctx context.Context, a Action, axis string,
) (e frame.Element, at frame.Point, view frame.Viewport, err error) {
	if a.Ref == "" && a.Selector == "" {
		view, err = d.mainFrame().Viewport(ctx)
		return frame.Element{Frame: d.mainFrame()}, frame.Point{X: view.Width / 2, Y: view.Height / 2}, view, err
	}
	if e, err = d.tab.Locate(a.Ref, a.Selector); err != nil {
		return e, at, view, err
	}
	over, err := awaitReady(ctx, e, readyArg{Selector: a.Selector, Hit: true, Axis: axis}, a.Limit())
	if err != nil {
		return e, at, view, err
	}
	at = over.Point
	arg := map[string]string{"ref": e.LocalRef, "selector": a.Selector, "axis": axis}
	view, err = frame.RunScript[frame.Viewport](ctx, e.Frame, frame.Script{Fn: "scrollArea", Arg: arg})
	if err != nil {
		return e, at, view, e.Explain(err)
	}
	return e, at, view, nil
}

func (d *performer) scrollIntoView(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	if _, err := awaitReady(ctx, e, readyArg{Selector: a.Selector}, a.Limit()); err != nil {
		return err
	}
	return d.settle(ctx, e.Frame)
}

// resize sets the tab's viewport until it is resized again.
func (d *performer) resize(ctx context.Context, a Action) error {
	err := d.mainFrame().Do(ctx, proto.EmulationSetDeviceMetricsOverride{Width: a.Width, Height: a.Height})
	if err != nil {
		return err
	}
	_, err = d.mainFrame().AwaitQuiet(ctx, true)
	return err
}

// dragSteps is the number of moves between the ends of a drag, since pages also handle the moves.
const dragSteps = 8

// maxPath bounds the number of points of a drag.
const maxPath = 500

// dragPickup is how long to wait for a native drag to begin after the first moves.
const dragPickup = 150 * time.Millisecond

// dragRest is how long a native drag rests on its target: Chromium's interval between dragover events.
const dragRest = 50 * time.Millisecond

// aside returns the mouse slightly before its target on both axes, because the exact middle of an item is on neither
// side of it.
func aside(m frame.Mouse, from frame.Point) frame.Mouse {
	m.At.X += math.Copysign(2, from.X-m.At.X)
	m.At.Y += math.Copysign(2, from.Y-m.At.Y)
	return m
}

// dragTo drags one element onto another: with mouse events or, if the page begins a native drag, with drag events.
func (d *performer) dragTo(ctx context.Context, a Action) error {
	start, err := d.tab.Locate(a.StartRef, a.StartSelector)
	if err != nil {
		return err
	}
	end, err := d.tab.Locate(a.EndRef, a.EndSelector)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(a.Limit())
	from, err := awaitReady(ctx, start, readyArg{Selector: a.StartSelector, Enabled: true, Hit: true}, a.Limit())
	if err != nil {
		return err
	}
	m := newMouse(from.Point, a)
	if err := d.moveInto(ctx, start.Frame, from.inFrame, m, deadline); err != nil {
		return start.Explain(err)
	}
	err = d.drag(ctx, m, func() ([]frame.Point, error) {
		if _, err := awaitReady(ctx, end, readyArg{Selector: a.EndSelector, Stay: true}, 0); err != nil {
			// Chromium looks where the button was pressed for what is dragged, so this must begin before scrolling.
			if err := d.pickUp(ctx, m); err != nil {
				return nil, err
			}
		}
		to, err := awaitReady(ctx, end, readyArg{Selector: a.EndSelector}, a.Limit())
		return []frame.Point{to.Point}, err
	})
	if err != nil {
		return err
	}
	return d.settle(ctx, end.Frame)
}

// pickupWay is beyond what Chromium needs to drag a link, 40 pixels.
const pickupWay = 45

// pickUp moves the mouse with the pressed button far enough for a native drag to begin.
func (d *performer) pickUp(ctx context.Context, m frame.Mouse) error {
	if m.At.Y < pickupWay {
		m.At.Y += pickupWay
	} else {
		m.At.Y -= pickupWay
	}
	return d.dragMove(ctx, m)
}

// dragCoords drags from one point of the viewport to others.
func (d *performer) dragCoords(ctx context.Context, a Action) error {
	way, err := dragPath(a)
	if err != nil {
		return err
	}
	if err := d.checkInView(ctx, way...); err != nil {
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
	return d.settle(ctx, f)
}

// dragPath returns the points of a drag by coordinates.
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

// DragEnd returns the last point of a drag by coordinates.
func DragEnd(a Action) frame.Point {
	if way, err := dragPath(a); err == nil {
		return way[len(way)-1]
	}
	return frame.Point{X: a.EndX, Y: a.EndY}
}

// drag presses the button at the mouse's position, moves along the path and releases it. The path is computed after
// pressing, since the page's layout may change then.
func (d *performer) drag(ctx context.Context, m frame.Mouse, along func() ([]frame.Point, error)) error {
	if held := d.state.button; held != "" {
		return fault.Invalidf("the %s button is down already: let it go with pointerUp", held)
	}
	defer d.endDrag()
	if err := d.awaitDrag(ctx, m.At); err != nil {
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
	var from frame.Point
	for _, to := range way {
		from = m.At
		for i := 1; i <= steps; i++ {
			part := float64(i) / float64(steps)
			m.At = frame.Point{X: from.X + (to.X-from.X)*part, Y: from.Y + (to.Y-from.Y)*part}
			if err := d.dragMove(ctx, m); err != nil {
				return err
			}
		}
		d.state.position = to
	}
	// Rest on the target before releasing: pages determine the drop position there.
	if err := d.settle(ctx, d.mainFrame()); err != nil {
		return err
	}
	if d.state.dragged != nil {
		// Some pages ignore moves for a while after each change, and depend on the side of an item's middle.
		if err := cancel.Sleep(ctx, dragRest); err != nil {
			return err
		}
		if err := d.dragMove(ctx, aside(m, from)); err != nil {
			return err
		}
	}
	if err := d.dragMove(ctx, m); err != nil {
		return err
	}
	if err := d.sendInput(ctx, d.state.dropEvents(m.At)...); err != nil {
		return err
	}
	held = false
	return d.sendInput(ctx, m.Release(1))
}
