package browsermgr

import (
	"context"
	"fmt"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/intent"
	"clank/sessions"
)

// Assess says what an action (see [Window.Act]) would set off that people may want to decide. An action that cannot be
// understood sets nothing off: Act says what is wrong with it. The mark of an action on the page is "" only if it sets
// nothing off.
func (w *Window) Assess(ctx context.Context, kind string, args map[string]any) (sessions.Assessment, error) {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return sessions.Assessment{}, err
	}
	defer u.release()
	found, err := intent.JudgeRequest(ctx, u.tab, kind, args)
	if err != nil {
		return sessions.Assessment{}, w.explain(ctx, u.browser, err)
	}
	return found, nil
}

// ActIfUnchanged is like Act, but does nothing and returns same as false if the action now means something else than
// what mark stands for. The page is held in that state until the input has arrived.
func (w *Window) ActIfUnchanged(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error) {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return nil, false, err
	}
	defer u.release()
	if kind == "dialog" {
		if intent.JudgeDialogAnswer(u.tab, args).Mark != mark {
			return nil, false, nil
		}
		notes, err = w.Act(ctx, kind, args)
		return notes, true, err
	}
	if kind == string(actiontable.KindUpload) {
		same, err = intent.PerformUpload(ctx, u.tab, args, mark, func() (err error) {
			notes, err = w.Act(ctx, kind, args)
			return err
		})
		return notes, same, err
	}
	action, ok := intent.ParsePageAction(kind, args)
	if !ok || len(u.tab.Dialogs().Pending) > 0 {
		notes, err = w.Act(ctx, kind, args)
		return notes, true, err
	}
	same, err = intent.PerformJudged(ctx, u.tab, action, mark, func() (err error) {
		notes, err = w.Act(ctx, kind, args)
		return err
	})
	if !same {
		return nil, false, w.explain(ctx, u.browser, err)
	}
	return notes, true, err
}

// ElementAt returns the role and the name of what a click at a point would be for, in CSS pixels of the viewport and in
// whatever frame; both are "" where nothing is. The page has chosen the name.
func (w *Window) ElementAt(ctx context.Context, x, y float64) (role, name string, err error) {
	m, err := w.inputTarget(ctx, "", &frame.Point{X: x, Y: y})
	return m.Role, m.Name, err
}

// InputField returns the role and the name of the element with that ref or, without one, of what takes the keys now, in
// whatever frame; secret says that what it holds must not be told: a password, a one-time code. The page has chosen the
// name.
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
