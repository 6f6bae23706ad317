package browsermgr

import (
	"context"
	"maps"
	"slices"

	"clank/browsermgr/arguments"
	"clank/browsermgr/intent"
	"clank/browsermgr/page"
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
	j, err := judge(ctx, u.tab, kind, args)
	if err != nil {
		return nil, "", "", "", "", "", w.explain(ctx, u.browser, err)
	}
	return j.Classes, j.Text, j.Detail, j.Origin, j.To, j.Mark, nil
}

func judge(ctx context.Context, tab *page.Tab, kind string, args map[string]any) (intent.Judgement, error) {
	switch kind {
	case "dialog":
		return judgeDialog(tab, args), nil
	case "navigate", "tabNew":
		vals, err := arguments.Read(kind, []string{"url"}, args)
		if err != nil {
			return intent.Judgement{}, nil //nolint:nilerr // Act says what is wrong
		}
		j := intent.OfAddress(vals.Text("url"), tab.URL())
		j.Mark = "" // nothing on the page can change it
		return j, nil
	}
	action, ok := read(kind, args)
	if !ok || len(tab.Dialogs().Pending) > 0 { // a dialog keeps the action from being done
		return intent.Judgement{}, nil
	}
	return intent.Of(ctx, tab, action)
}

// judgeDialog judges the answer to the dialog that is open.
func judgeDialog(tab *page.Tab, args map[string]any) intent.Judgement {
	vals, err := arguments.Read("dialog", []string{"accept", "promptText"}, args)
	open := tab.Dialogs().Pending
	if err != nil || !vals.Truth("accept") || len(open) == 0 {
		return intent.Judgement{}
	}
	return intent.OfDialog(open[len(open)-1], tab.URL())
}

// read is an action on the page itself.
func read(kind string, args map[string]any) (page.Action, bool) {
	cmds := commands()
	fields, err := arguments.Fields(kind, slices.Collect(maps.Keys(cmds)))
	if _, isCommand := cmds[kind]; isCommand || err != nil {
		return page.Action{}, false
	}
	vals, err := arguments.Read(kind, fields, args)
	if err != nil {
		return page.Action{}, false
	}
	action, err := vals.Action(kind)
	return action, err == nil
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
		if judgeDialog(u.tab, args).Mark != mark {
			return nil, false, nil
		}
		notes, err = w.Act(ctx, kind, args)
		return notes, true, err
	}
	action, ok := read(kind, args)
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
