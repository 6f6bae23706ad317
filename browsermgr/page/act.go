package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Limits of Action.TimeoutMs.
const (
	interactionLimit = 8 * time.Second
	longLimit        = 20 * time.Second
	shortestLimit    = 500 * time.Millisecond
	longestLimit     = 60 * time.Second
	longestWait      = 120 * time.Second
)

// Act does one action and returns when its immediate outcome is there. If a dialog opens meanwhile, it returns at once
// with Result.BlockedByDialog. If one is open already nothing is done and the error is a *[DialogError]. Other errors wrap
// [ErrInvalid], [ErrUnknownRef], [ErrNotInteractable], [ErrTabCrashed], [ErrTabGone] or [ErrBrowserGone] where one of them
// applies, and the context's cause when it ended.
func (t *Tab) Act(ctx context.Context, a Action) (Result, error) {
	if err := a.Validate(); err != nil {
		return Result{}, err
	}
	if travel := map[Kind]func(context.Context) (Result, error){
		KindBack: t.Back, KindForward: t.Forward, KindReload: t.Reload,
	}[a.Kind]; travel != nil {
		return travel(ctx)
	}
	var res Result
	act := func(ctx context.Context) error { return t.dispatch(ctx, a, &res) }
	before, err := t.perform(ctx, a.limit()+time.Second, act)
	value := res.Value
	res = t.outcome(before)
	res.Value = value
	if dialog, ok := errors.AsType[*DialogError](err); ok && !dialog.before {
		res.BlockedByDialog, res.Dialog = true, &dialog.Dialog
		return res, nil
	}
	if err != nil {
		return res, fmt.Errorf("%s: %w", a.Kind, err)
	}
	return res, nil
}

// perform runs something in the tab's turn, under its limit.
func (t *Tab) perform(ctx context.Context, limit time.Duration, do func(context.Context) error) (mark, error) {
	release, err := t.acquire(ctx)
	if err != nil {
		return t.mark(), err
	}
	defer release()
	before := t.mark()
	ctx, cancel, err := t.watch(ctx, limit, true)
	if err != nil {
		if dialog, ok := errors.AsType[*DialogError](err); ok {
			dialog.before = true
		}
		return before, err
	}
	defer cancel()
	t.before = before
	return before, do(ctx)
}

// exclusive runs something that changes nothing in the tab's turn.
func (t *Tab) exclusive(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	_, err := t.perform(ctx, limit, do)
	return err
}

func (t *Tab) dispatch(ctx context.Context, a Action, res *Result) error {
	switch a.Kind {
	case KindClick:
		return t.click(ctx, a)
	case KindClickCoords:
		return t.clickCoords(ctx, a)
	case KindHover:
		return t.hover(ctx, a)
	case KindDrag:
		return t.dragTo(ctx, a)
	case KindType:
		return t.typeText(ctx, a)
	case KindFill:
		return t.fill(ctx, a)
	case KindPress:
		return t.press(ctx, a)
	case KindSelect:
		return t.choose(ctx, a)
	case KindScroll:
		return t.scroll(ctx, a)
	case KindScrollIntoView:
		return t.scrollIntoView(ctx, a)
	case KindResize:
		return t.resize(ctx, a)
	case KindWait:
		return t.wait(ctx, a)
	case KindEvaluate:
		var err error
		res.Value, err = t.evaluate(ctx, a)
		return err
	case KindBack, KindForward, KindReload: // navigations have their own way
	}
	return invalidf("unknown kind %q", a.Kind)
}

// limit is how long the action may take.
func (a Action) limit() time.Duration {
	base, longest := interactionLimit, longestLimit
	if slices.Contains([]Kind{KindWait, KindEvaluate, KindScroll, KindScrollIntoView}, a.Kind) {
		base, longest = longLimit, longestWait
	}
	if a.TimeoutMs > 0 {
		base = min(max(time.Duration(a.TimeoutMs)*time.Millisecond, shortestLimit), longest)
	}
	if a.Kind == KindWait {
		// Each condition has the limit to itself.
		return time.Duration(a.TimeMs)*time.Millisecond + base*time.Duration(max(a.conditions(), 1))
	}
	return base + time.Duration(a.DelayMs)*time.Millisecond
}

// pageLimit is the time a script has for it: a little less than what is left, so that it can still say what was wrong.
func pageLimit(ctx context.Context, limit time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		if left := time.Until(deadline) - 50*time.Millisecond; left < limit {
			return max(left, time.Millisecond)
		}
	}
	return limit
}

// settled ends an action: it waits for what it led to.
func (t *Tab) settled(ctx context.Context, s *session) (string, error) {
	return t.settle(ctx, s, t.before)
}
