package action

import (
	"context"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// defaultScroll is the part of what is in view by which a scroll moves it if it does not say.
const defaultScroll = 0.8

// scroll turns the mouse wheel over the middle of the viewport, or of what an element scrolls in.
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
	_, err = d.tab.SendAndWait(ctx, e.Frame)
	return err
}

// findScroller finds the element that a scroll names, where to turn the wheel, and how much of what it scrolls is in view.
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
	if at, err = awaitReady(ctx, e, readyArg{Selector: a.Selector, Hit: true, Axis: axis}, a.Limit()); err != nil {
		return e, at, view, err
	}
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
	_, err = d.tab.SendAndWait(ctx, e.Frame)
	return err
}

// resize gives the tab a viewport of this size until it is resized again.
func (d *performer) resize(ctx context.Context, a Action) error {
	err := d.mainFrame().Do(ctx, proto.EmulationSetDeviceMetricsOverride{Width: a.Width, Height: a.Height})
	if err != nil {
		return err
	}
	_, err = d.mainFrame().AwaitQuiet(ctx, true)
	return err
}
