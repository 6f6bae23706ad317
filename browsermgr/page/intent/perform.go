package intent

import (
	"context"
	"errors"

	"clank/browsermgr/page"
)

// PerformJudged does an action that was judged, unless it has come to mean something else than mark: same is false then, and
// nothing was done. The page is held to it until the input has arrived.
func PerformJudged(ctx context.Context, tab *page.Tab, a page.Action, mark string, act func() error) (same bool, err error) {
	guard, same, err := GuardAction(ctx, tab, a, mark)
	if err != nil || !same {
		return false, err
	}
	err = act()
	// The guard goes also where the time for the action is over.
	refused, endErr := guard.End(context.WithoutCancel(ctx), tab) // bounded by the guard
	if endErr != nil && !errors.Is(endErr, page.ErrTabCrashed) && !errors.Is(endErr, page.ErrBrowserGone) {
		err = errors.Join(err, endErr)
	}
	if refused {
		return false, nil
	}
	return true, err
}
