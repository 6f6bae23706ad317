package intent

import (
	"context"

	"clank/browsermgr/act"
	"clank/browsermgr/frame"
	"clank/browsermgr/input"
	"clank/browsermgr/page"
)

// Met is what input reaches, as the page's script tells it.
type Met struct {
	Role   string `json:"role"`
	Name   string `json:"name"`
	Secret bool   `json:"secret"`
}

// meet is the argument of the script: a ref, a point, or else the focus.
type meet struct {
	Ref   string       `json:"ref,omitempty"`
	Point *input.Point `json:"point,omitempty"`
}

// Meet says what input would reach: the element with that ref, what is at a point in CSS pixels of the viewport, or what has
// the focus, in whatever frame. A dialog takes all input: nothing is met while one is open.
func Meet(ctx context.Context, tab *page.Tab, ref string, at *input.Point) (m Met, err error) {
	if len(tab.Dialogs().Pending) > 0 {
		return Met{}, nil
	}
	err = tab.Within(ctx, limit, func(ctx context.Context) (err error) {
		f, arg, err := meeting(ctx, tab, ref, at)
		if err != nil {
			return err
		}
		m, err = frame.Run[Met](ctx, f, frame.Script{Fn: "meet", Arg: arg})
		return err
	})
	return m, err
}

// meeting is the frame to ask, and what to ask it.
func meeting(ctx context.Context, tab *page.Tab, ref string, at *input.Point) (*frame.Frame, meet, error) {
	switch {
	case ref != "":
		e, err := tab.Locate(ref, "")
		return e.Frame, meet{Ref: e.Local}, err
	case at != nil:
		f, point, err := act.UnderPoint(ctx, tab.Frames(), *at)
		return f, meet{Point: &point}, err
	default:
		f, err := act.Focused(ctx, tab.Frames())
		return f, meet{}, err
	}
}
