package intent

import (
	"context"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/sessions"
)

// JudgeRequest judges what is asked of a window, as a client writes it: an action on the page, going somewhere, or the
// answer to a dialog. What cannot be understood sets nothing off.
func JudgeRequest(ctx context.Context, tab *page.Tab, kind string, args map[string]any) (sessions.Assessment, error) {
	switch actiontable.Kind(kind) {
	case actiontable.KindDialog:
		return JudgeDialogAnswer(tab, args), nil
	case actiontable.KindNavigate, actiontable.KindTabNew:
		_, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
		if err != nil {
			return sessions.Assessment{}, nil //nolint:nilerr // Act says what is wrong
		}
		j := JudgeAddress(values.Text("url"), tab.URL())
		j.Mark = "" // nothing on the page can change it
		return j, nil
	default:
	}
	a, ok := ParsePageAction(kind, args)
	if !ok || len(tab.Dialogs().Pending) > 0 { // a dialog keeps the action from being done
		return sessions.Assessment{}, nil
	}
	return JudgeAction(ctx, tab, a)
}

// JudgeDialogAnswer judges the answer to the dialog that is open.
func JudgeDialogAnswer(tab *page.Tab, args map[string]any) sessions.Assessment {
	_, values, err := actiontable.Read(actiontable.Window, actiontable.KindDialog, args)
	open := tab.Dialogs().Pending
	if err != nil || !values.Bool("accept") || len(open) == 0 {
		return sessions.Assessment{}
	}
	return JudgeDialog(open[len(open)-1], tab.URL())
}

// ParsePageAction reads an action on the page itself, as a client of a window writes it; false for what is none.
func ParsePageAction(kind string, args map[string]any) (page.Action, bool) {
	spec, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
	if err != nil || !spec.OnPage() {
		return page.Action{}, false
	}
	a := spec.Action(values)
	return a, action.Validate(a) == nil
}
