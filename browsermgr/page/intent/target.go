package intent

import (
	"context"
	"errors"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/frame"
)

// InputTarget is the element that input reaches, as reported by the page's script.
type InputTarget struct {
	Role   string `json:"role"`
	Name   string `json:"name"`
	Secret bool   `json:"secret"`
}

// targetQuery is the argument of the script: a ref, a point or, without both, the focus.
type targetQuery struct {
	Ref   string       `json:"ref,omitempty"`
	Point *frame.Point `json:"point,omitempty"`
}

// DescribeTarget returns the target of input: the element with that ref, the one at a point in CSS pixels of the
// viewport, or the focused one, in any frame. While a dialog is open, which gets all input, it returns the zero value.
func DescribeTarget(ctx context.Context, tab *page.Tab, ref string, at *frame.Point) (m InputTarget, err error) {
	err = tab.RunUntilDialog(ctx, describeLimit, func(ctx context.Context) (err error) {
		f, arg, err := findTarget(ctx, tab, ref, at)
		if err != nil {
			return err
		}
		m, err = frame.RunScript[InputTarget](ctx, f, frame.Script{Fn: "meet", Arg: arg})
		if ref != "" {
			return frame.Element{GivenRef: ref}.Explain(err)
		}
		return err
	})
	if _, open := errors.AsType[*page.DialogError](err); open {
		return InputTarget{}, nil
	}
	return m, err
}

// findTarget returns the frame to query and the query.
func findTarget(ctx context.Context, tab *page.Tab, ref string, at *frame.Point) (*frame.Frame, targetQuery, error) {
	switch {
	case ref != "":
		e, err := tab.Locate(ref, "")
		return e.Frame, targetQuery{Ref: e.LocalRef}, err
	case at != nil:
		f, point, err := action.FrameAtPoint(ctx, tab.Frames(), *at)
		return f, targetQuery{Point: &point}, err
	default:
		f, err := action.FocusedFrame(ctx, tab.Frames())
		return f, targetQuery{}, err
	}
}
