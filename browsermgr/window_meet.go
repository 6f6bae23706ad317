package browsermgr

import (
	"context"
	"fmt"

	"clank/browsermgr/input"
	"clank/browsermgr/intent"
	"clank/browsermgr/page"
)

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

// meets asks the page; see [intent.Meet].
func (w *Window) meets(ctx context.Context, ref string, at *input.Point) (m intent.Met, err error) {
	err = w.look(ctx, func(tab *page.Tab) (err error) {
		m, err = intent.Meet(ctx, tab, ref, at)
		return err
	})
	if err != nil {
		return intent.Met{}, fmt.Errorf("see what input would reach: %w", err)
	}
	return m, nil
}
