package intent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Guard holds an action to what was judged of it.
type Guard struct {
	frame *frame.Frame
	token string
}

// GuardAction makes the page refuse the input of an action that has come to mean something
// else than mark, the [sessions.Assessment.Mark] that people know of. same is false if it has
// already. The caller does the action and then calls [Guard.End]. The Guard is nil
// where nothing has to be held.
func GuardAction(ctx context.Context, tab *page.Tab, a page.Action, mark string) (g *Guard, same bool, err error) {
	how := judgeMode(a)
	if how == "" {
		return nil, true, nil
	}
	q := scriptQuery{Mode: "hold", How: how, Fingerprint: mark}
	if slices.Contains([]string{"drop", "select", "hover", "strike"}, how) {
		q.Mode = "judge" // no press of the mouse or of Enter follows on what was judged
	}
	v, f, err := runIntentScript(ctx, tab, a, q)
	if err != nil {
		return nil, false, fmt.Errorf("see again what %s would do: %w", a.Kind, err)
	}
	if q.Mode == "judge" {
		return nil, v.Fingerprint == mark, nil
	}
	if v.Changed || v.Fingerprint != mark {
		return nil, false, endGuard(ctx, tab, f)
	}
	return &Guard{frame: f, token: f.DocumentToken()}, true, nil
}

// End stops holding and reports whether the input was refused, which is to say that
// nothing was done.
func (g *Guard) End(ctx context.Context, tab *page.Tab) (refused bool, err error) {
	if g == nil || g.frame.DocumentToken() != g.token {
		return false, nil // another document is shown: the input arrived
	}
	err = tab.RunUntilDialog(ctx, lookLimit, func(ctx context.Context) error {
		v, err := frame.CallFunction[scriptVerdict](ctx, g.frame, intentScript, nil, scriptQuery{Mode: "end"})
		refused = v.Swallowed
		return err
	})
	_, open := errors.AsType[*page.DialogError](err) // it arrived; the guard goes by itself when the dialog does
	gone := []error{cdp.ErrDocumentGone, page.ErrTabGone, page.ErrTabCrashed, page.ErrBrowserGone}
	if open || slices.ContainsFunc(gone, func(why error) bool { return errors.Is(err, why) }) {
		return false, nil
	}
	return refused, err
}

// endSoon is like End, but stops holding also where ctx has ended. Then nobody waits for a page that does not answer: the script
// that keeps it from answering is ended.
func (g *Guard) endSoon(ctx context.Context, tab *page.Tab) (refused bool, err error) {
	after, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		_ = action.Pause(after, stoppedLookLimit)
		cancel(context.Cause(ctx))
	})()
	refused, err = g.End(after, tab)
	if err != nil && after.Err() != nil {
		g.frame.Post(proto.RuntimeTerminateExecution{})
	}
	return refused, err
}

func endGuard(ctx context.Context, tab *page.Tab, f *frame.Frame) error {
	_, err := (&Guard{frame: f, token: f.DocumentToken()}).End(ctx, tab)
	return err
}

// PerformJudged does an action that was judged, unless it has come to mean something else than mark: same is false then, and
// nothing was done. The page is held to it until the input has arrived.
func PerformJudged(ctx context.Context, tab *page.Tab, a page.Action, mark string, act func() error) (same bool, err error) {
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
