package browsermgr

import (
	"context"
	"maps"
	"slices"

	"clank/browsermgr/intent"
)

// Judge says what an action (see [Window.Act]) would set off that people may want to decide: classes such as "buy" and
// "submit", the weightiest first. about says it in our words, detail in the page's, which are not to be trusted; origin is
// that of the document, to the host it leads to. mark is given to ActIf: it stands for all that was judged. An action
// that cannot be understood sets nothing off: Act says what is wrong with it. The mark of an action on the page is "" only
// if it sets nothing off.
func (w *Window) Judge(ctx context.Context, kind string, args map[string]any) (classes []string, about, detail, origin, to, mark string, err error) {
	u, _, err := w.ready(ctx)
	if err != nil {
		return nil, "", "", "", "", "", err
	}
	defer u.done()
	j, err := intent.OfRequest(ctx, u.tab, kind, args, names())
	if err != nil {
		return nil, "", "", "", "", "", w.explain(ctx, u.browser, err)
	}
	return j.Classes, j.Text, j.Detail, j.Origin, j.To, j.Mark, nil
}

// ActIf is Act, unless the action has come to mean something else than what mark stands for: same is false then, and
// nothing was done. The page is held to it until the input has arrived.
func (w *Window) ActIf(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error) {
	u, _, err := w.ready(ctx)
	if err != nil {
		return nil, false, err
	}
	defer u.done()
	if kind == "dialog" {
		if intent.OfAnswer(u.tab, args).Mark != mark {
			return nil, false, nil
		}
		notes, err = w.Act(ctx, kind, args)
		return notes, true, err
	}
	action, ok := intent.Read(kind, args, names())
	if !ok || len(u.tab.Dialogs().Pending) > 0 {
		notes, err = w.Act(ctx, kind, args)
		return notes, true, err
	}
	same, err = intent.Do(ctx, u.tab, action, mark, func() (err error) {
		notes, err = w.Act(ctx, kind, args)
		return err
	})
	if !same {
		return nil, false, w.explain(ctx, u.browser, err)
	}
	return notes, true, err
}

// names are the kinds of actions that are no actions on a page.
func names() []string { return slices.Collect(maps.Keys(commands())) }
