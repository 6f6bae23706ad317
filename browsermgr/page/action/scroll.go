package action

import (
	"context"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// scroll turns the mouse wheel over the middle of the viewport, or over an element.
func (d *performer) scroll(ctx context.Context, a Action) error {
	view, err := d.mainFrame().Viewport(ctx)
	if err != nil {
		return err
	}
	at := frame.Point{X: view.Width / 2, Y: view.Height / 2}
	e := frame.Element{Frame: d.mainFrame()}
	if a.Ref != "" || a.Selector != "" {
		if e, err = d.tab.Locate(a.Ref, a.Selector); err != nil {
			return err
		}
		if at, err = awaitReady(ctx, e, readyArg{Selector: a.Selector}, a.Limit()); err != nil {
			return err
		}
	}
	amount := float64(a.Pixels)
	switch a.Direction {
	case "up", "left":
		amount = -amount
	}
	if a.Pixels == 0 {
		amount = map[string]float64{
			"up": -view.Height * 0.8, "left": -view.Width * 0.8, "right": view.Width * 0.8, "down": view.Height * 0.8, "": view.Height * 0.8,
		}[a.Direction]
	}
	dx, dy := 0.0, amount
	if a.Direction == "left" || a.Direction == "right" {
		dx, dy = amount, 0
	}
	if err := d.sendInput(ctx, frame.Mouse{At: at}.Wheel(dx, dy)); err != nil {
		return err
	}
	_, err = frame.RunScript[bool](ctx, e.Frame, frame.Script{Fn: "rest", Arg: map[string]string{"ref": e.LocalRef}})
	if err != nil && !cdp.IsDocumentGone(err) {
		return e.Explain(err)
	}
	_, err = d.tab.SendAndWait(ctx, e.Frame)
	return err
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
