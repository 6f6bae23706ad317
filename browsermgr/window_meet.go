package browsermgr

import (
	"context"
	"fmt"

	"clank/browsermgr/act"
	"clank/browsermgr/frame"
	"clank/browsermgr/input"
	"clank/browsermgr/page"
)

// met is what input reaches, as the page's script tells it.
type met struct {
	Role   string `json:"role"`
	Name   string `json:"name"`
	Secret bool   `json:"secret"`
}

// meet is the argument of the script: a ref, a point, or else the focus.
type meet struct {
	Ref   string       `json:"ref,omitempty"`
	Point *input.Point `json:"point,omitempty"`
}

// Under is the role and the name of what a click at a point would be for, in CSS pixels of the viewport and in whatever
// frame; both are "" where nothing is. The page has chosen the name.
func (w *Window) Under(ctx context.Context, x, y float64) (role, name string, err error) {
	m, err := w.meets(ctx, "", &input.Point{X: x, Y: y})
	return m.Role, m.Name, err
}

// Field is the role and the name of the element with that ref or, without one, of what takes the keys now, in whatever
// frame; secret says that what it holds must not be told: a password, a one-time code. The page has chosen the name.
func (w *Window) Field(ctx context.Context, ref string) (role, name string, secret bool, err error) {
	m, err := w.meets(ctx, ref, nil)
	return m.Role, m.Name, m.Secret, err
}

// meets asks the frame that is meant. A dialog takes all input: nothing is met while one is open.
func (w *Window) meets(ctx context.Context, ref string, at *input.Point) (m met, err error) {
	err = w.look(ctx, func(tab *page.Tab) error {
		if len(tab.Dialogs().Pending) > 0 {
			return nil
		}
		return tab.Within(ctx, scaleLimit, func(ctx context.Context) (err error) {
			f, arg, err := meeting(ctx, tab, ref, at)
			if err != nil {
				return err
			}
			m, err = frame.Run[met](ctx, f, frame.Script{Fn: "meet", Arg: arg})
			return err
		})
	})
	if err != nil {
		return met{}, fmt.Errorf("see what input would reach: %w", err)
	}
	return m, nil
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
