package intent

import (
	"context"
	"slices"

	"clank/browsermgr/arguments"
	"clank/browsermgr/page"
)

// OfRequest judges what is asked for as a client writes it: an action on the page, or one of the kinds in commands, of
// which going somewhere and answering a dialog mean something. What cannot be understood sets nothing off.
func OfRequest(ctx context.Context, tab *page.Tab, kind string, args map[string]any, commands []string) (Judgement, error) {
	switch kind {
	case "dialog":
		return OfAnswer(tab, args), nil
	case "navigate", "tabNew":
		vals, err := arguments.Read(kind, []string{"url"}, args)
		if err != nil {
			return Judgement{}, nil //nolint:nilerr // Act says what is wrong
		}
		j := OfAddress(vals.Text("url"), tab.URL())
		j.Mark = "" // nothing on the page can change it
		return j, nil
	}
	action, ok := Read(kind, args, commands)
	if !ok || len(tab.Dialogs().Pending) > 0 { // a dialog keeps the action from being done
		return Judgement{}, nil
	}
	return Of(ctx, tab, action)
}

// OfAnswer judges the answer to the dialog that is open.
func OfAnswer(tab *page.Tab, args map[string]any) Judgement {
	vals, err := arguments.Read("dialog", []string{"accept", "promptText"}, args)
	open := tab.Dialogs().Pending
	if err != nil || !vals.Truth("accept") || len(open) == 0 {
		return Judgement{}
	}
	return OfDialog(open[len(open)-1], tab.URL())
}

// Read is an action on the page itself, as a client writes it; false for what is none, one of the kinds in commands for example.
func Read(kind string, args map[string]any, commands []string) (page.Action, bool) {
	fields, err := arguments.Fields(kind, commands)
	if err != nil || slices.Contains(commands, kind) {
		return page.Action{}, false
	}
	vals, err := arguments.Read(kind, fields, args)
	if err != nil {
		return page.Action{}, false
	}
	action, err := vals.Action(kind)
	return action, err == nil
}
