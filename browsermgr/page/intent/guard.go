package intent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/cancel"

	"github.com/go-rod/rod/lib/proto"
)

// Guard makes the page refuse input whose effects differ from those judged.
type Guard struct {
	frame *frame.Frame
	token string
	limit time.Duration // of each inspection
}

// GuardAction makes the page refuse the input of an action if its effects no longer match mark, the
// [sessions.Assessment.Mark] that was approved. same is false if they already differ. The caller performs the action
// and then calls [Guard.End]. The Guard is nil if no guard is needed.
func GuardAction(ctx context.Context, tab *page.Tab, a page.Action, mark string) (g *Guard, same bool, err error) {
	how := judgeMode(a)
	if how == "" {
		return nil, true, nil
	}
	q := scriptQuery{Mode: "hold", How: how, Fingerprint: mark}
	if slices.Contains([]string{"drop", "select", "hover", "strike"}, how) {
		q.Mode = "judge" // no mouse or Enter press on the judged element follows
	}
	v, f, err := runIntentScript(ctx, tab, a, q)
	if err != nil {
		return nil, false, fmt.Errorf("see again what %s would do: %w", a.Kind, err)
	}
	if q.Mode == "judge" {
		return nil, v.Fingerprint == mark, nil
	}
	g = &Guard{frame: f, token: f.DocumentToken(), limit: inspectLimit(a, f)}
	if v.Changed || v.Fingerprint != mark {
		_, err = g.End(ctx, tab)
		return nil, false, err
	}
	return g, true, nil
}

// End removes the guard and reports whether the input was refused, so that nothing was done.
func (g *Guard) End(ctx context.Context, tab *page.Tab) (refused bool, err error) {
	if g == nil || g.frame.DocumentToken() != g.token {
		return false, nil // another document is shown, so the input arrived
	}
	err = tab.RunUntilDialog(ctx, g.limit, func(ctx context.Context) (err error) {
		refused, err = g.remove(ctx)
		return err
	})
	_, open := errors.AsType[*page.DialogError](err) // it arrived; the guard is removed when the dialog closes
	gone := []error{cdp.ErrDocumentGone, page.ErrTabGone, page.ErrTabCrashed, page.ErrBrowserGone}
	if open || slices.ContainsFunc(gone, func(why error) bool { return errors.Is(err, why) }) {
		return false, nil
	}
	return refused, err
}

// endSoon is like End, but also removes the guard if ctx has ended. In that case it does not wait for a page that does
// not answer: the script that blocks it is terminated, and the guard is removed once the page goes on.
func (g *Guard) endSoon(ctx context.Context, tab *page.Tab) (refused bool, err error) {
	after, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer context.AfterFunc(ctx, func() {
		_ = cancel.Sleep(after, stoppedInspectLimit)
		end(context.Cause(ctx))
	})()
	refused, err = g.End(after, tab)
	if err != nil && after.Err() != nil {
		// Without a running script, termination hits the next one: run one to be terminated. It may have hit ours, too.
		g.frame.Post(proto.RuntimeTerminateExecution{}, proto.RuntimeEvaluate{Expression: "0"})
		_, _ = g.remove(after) // after has ended, so this does not wait
	}
	return refused, err
}

func (g *Guard) remove(ctx context.Context) (refused bool, err error) {
	v, err := frame.CallFunction[scriptVerdict](ctx, g.frame, intentScript, nil, scriptQuery{Mode: "end"})
	return v.Swallowed, err
}

// PerformJudged performs a judged action, unless its effects no longer match mark: then same is false, and nothing was
// done. The page is guarded until the input has arrived.
func PerformJudged(ctx context.Context, tab *page.Tab, a page.Action, mark string,
	act func() error,
) (same bool, err error) {
	guard, same, err := GuardAction(ctx, tab, a, mark)
	if err != nil || !same {
		return false, err
	}
	err = act()
	refused, endErr := guard.endSoon(ctx, tab)
	if refused {
		return false, nil
	}
	return true, cmp.Or(err, endErr)
}
