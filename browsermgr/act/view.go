package act

import (
	"context"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/input"

	"github.com/go-rod/rod/lib/proto"
)

// scroll turns the mouse wheel over the middle of the viewport, or over an element.
func (d *doer) scroll(ctx context.Context, a Action) error {
	view, err := d.main().Viewport(ctx)
	if err != nil {
		return err
	}
	at := input.Point{X: view.Width / 2, Y: view.Height / 2}
	e := frame.Element{Frame: d.main()}
	if a.Ref != "" || a.Selector != "" {
		if e, err = d.tab.Locate(a.Ref, a.Selector); err != nil {
			return err
		}
		if at, err = ready(ctx, e, readyArg{Selector: a.Selector}, a.Limit()); err != nil {
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
	if err := d.send(ctx, input.Mouse{At: at}.Wheel(dx, dy)); err != nil {
		return err
	}
	_, err = frame.Run[bool](ctx, e.Frame, frame.Script{Fn: "rest", Arg: map[string]string{"ref": e.Local}})
	if err != nil && !cdp.DocumentGone(err) {
		return e.Explain(err)
	}
	_, err = d.tab.Settle(ctx, e.Frame)
	return err
}

func (d *doer) scrollIntoView(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	if _, err := ready(ctx, e, readyArg{Selector: a.Selector}, a.Limit()); err != nil {
		return err
	}
	_, err = d.tab.Settle(ctx, e.Frame)
	return err
}

// resize gives the tab a viewport of this size until it is resized again.
func (d *doer) resize(ctx context.Context, a Action) error {
	err := d.main().Do(ctx, proto.EmulationSetDeviceMetricsOverride{Width: a.Width, Height: a.Height})
	if err != nil {
		return err
	}
	_, err = d.main().Quiet(ctx, true)
	return err
}
