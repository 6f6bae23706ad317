package intent

import (
	"context"
	"slices"

	"clank/browsermgr/page"
	"clank/sessions"
)

// JudgeRequest judges what is asked for as a client writes it: an action on the page, or one of the kinds in commands, of
// which going somewhere and answering a dialog mean something. What cannot be understood sets nothing off.
func JudgeRequest(ctx context.Context, tab *page.Tab, kind string, args map[string]any, commands []string) (sessions.Assessment, error) {
	switch kind {
	case "dialog":
		return JudgeDialogAnswer(tab, args), nil
	case "navigate", "tabNew":
		vals, err := ParseArguments(kind, []string{"url"}, args)
		if err != nil {
			return sessions.Assessment{}, nil //nolint:nilerr // Act says what is wrong
		}
		j := JudgeAddress(vals.Text("url"), tab.URL())
		j.Mark = "" // nothing on the page can change it
		return j, nil
	}
	action, ok := ParsePageAction(kind, args, commands)
	if !ok || len(tab.Dialogs().Pending) > 0 { // a dialog keeps the action from being done
		return sessions.Assessment{}, nil
	}
	return JudgeAction(ctx, tab, action)
}

// JudgeDialogAnswer judges the answer to the dialog that is open.
func JudgeDialogAnswer(tab *page.Tab, args map[string]any) sessions.Assessment {
	vals, err := ParseArguments("dialog", []string{"accept", "promptText"}, args)
	open := tab.Dialogs().Pending
	if err != nil || !vals.Bool("accept") || len(open) == 0 {
		return sessions.Assessment{}
	}
	return JudgeDialog(open[len(open)-1], tab.URL())
}

// ParsePageAction is an action on the page itself, as a client writes it; false for what is none, one of the kinds in commands for example.
func ParsePageAction(kind string, args map[string]any, commands []string) (page.Action, bool) {
	fields, err := KindFields(kind, commands)
	if err != nil || slices.Contains(commands, kind) {
		return page.Action{}, false
	}
	vals, err := ParseArguments(kind, fields, args)
	if err != nil {
		return page.Action{}, false
	}
	action, err := vals.Action(kind)
	return action, err == nil
}
