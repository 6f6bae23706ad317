package page

import (
	"context"

	"github.com/go-rod/rod/lib/proto"
)

// viewport is the geometry of the main document, in CSS pixels.
type viewport struct {
	Width      float64 `json:"width"`
	Height     float64 `json:"height"`
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	FullWidth  float64 `json:"fullWidth"`
	FullHeight float64 `json:"fullHeight"`
}

// scroll turns the mouse wheel over the middle of the viewport, or over an element.
func (t *Tab) scroll(ctx context.Context, a Action) error {
	view, err := run[viewport](ctx, t.session, script{fn: "viewport"})
	if err != nil {
		return err
	}
	at := point{X: view.Width / 2, Y: view.Height / 2}
	e := element{session: t.session}
	if a.Ref != "" || a.Selector != "" {
		if e, err = t.locate(a.Ref, a.Selector); err != nil {
			return err
		}
		if at, err = t.ready(ctx, e, readyArg{Selector: a.Selector}, a.limit()); err != nil {
			return err
		}
	}
	amount := float64(a.Pixels)
	wheel := proto.InputDispatchMouseEvent{Type: proto.InputDispatchMouseEventTypeMouseWheel, X: at.X, Y: at.Y}
	switch a.Direction {
	case "up", "left":
		amount = -amount
	}
	if a.Pixels == 0 {
		amount = map[string]float64{
			"up": -view.Height * 0.8, "left": -view.Width * 0.8, "right": view.Width * 0.8, "down": view.Height * 0.8, "": view.Height * 0.8,
		}[a.Direction]
	}
	if a.Direction == "left" || a.Direction == "right" {
		wheel.DeltaX = amount
	} else {
		wheel.DeltaY = amount
	}
	if err := t.send(ctx, wheel); err != nil {
		return err
	}
	_, err = run[bool](ctx, e.session, script{fn: "rest", arg: map[string]string{"ref": e.local}})
	if err != nil && !documentGone(err) {
		return t.explain(e, err)
	}
	_, err = t.settled(ctx, e.session)
	return err
}

func (t *Tab) scrollIntoView(ctx context.Context, a Action) error {
	e, err := t.locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	if _, err := t.ready(ctx, e, readyArg{Selector: a.Selector}, a.limit()); err != nil {
		return err
	}
	_, err = t.settled(ctx, e.session)
	return err
}

// resize gives the tab a viewport of this size until it is resized again.
func (t *Tab) resize(ctx context.Context, a Action) error {
	err := t.session.do(ctx, proto.EmulationSetDeviceMetricsOverride{Width: a.Width, Height: a.Height})
	if err != nil {
		return err
	}
	_, err = t.quiet(ctx, t.session, true)
	return err
}
