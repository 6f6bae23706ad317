package browsermgr

import (
	"context"
	"fmt"

	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/intent"
)

// ElementAt returns the role and the name of what a click at a point would be for, in CSS pixels of the viewport and in whatever
// frame; both are "" where nothing is. The page has chosen the name.
func (w *Window) ElementAt(ctx context.Context, x, y float64) (role, name string, err error) {
	m, err := w.inputTarget(ctx, "", &frame.Point{X: x, Y: y})
	return m.Role, m.Name, err
}

// InputField returns the role and the name of the element with that ref or, without one, of what takes the keys now, in whatever
// frame; secret says that what it holds must not be told: a password, a one-time code. The page has chosen the name.
func (w *Window) InputField(ctx context.Context, ref string) (role, name string, secret bool, err error) {
	m, err := w.inputTarget(ctx, ref, nil)
	return m.Role, m.Name, m.Secret, err
}

// inputTarget asks the page; see [intent.DescribeTarget].
func (w *Window) inputTarget(ctx context.Context, ref string, at *frame.Point) (m intent.InputTarget, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) (err error) {
		m, err = intent.DescribeTarget(ctx, tab, ref, at)
		return err
	})
	if err != nil {
		return intent.InputTarget{}, fmt.Errorf("see what input would reach: %w", err)
	}
	return m, nil
}
