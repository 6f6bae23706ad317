package main

import (
	"encoding/json"
	"net/http"
	"net/url"

	"clank/browsermgr/control/client"
)

func tabCommands() []browserCommand {
	label := browserOption{name: "label", kind: kindText, value: "label", help: "a name for the tab", field: "label"}
	return []browserCommand{
		{
			name: "tabs", short: "list the tabs; starts no browser",
			buildRequest: buildGet("/tabs"),
			printAnswer:  printTyped(printTabs), trimForJSON: trimTabList,
		},
		{
			name: "tab", short: "list the tabs, with their numbers",
			buildRequest: func(in *commandInput) (controlRequest, error) { return in.tabActionRequest("list", nil), nil },
			printAnswer:  printTyped(printTabs), trimForJSON: trimTabList,
		},
		{
			name: "tab new", short: "open an empty tab", options: []browserOption{label},
			buildRequest: func(in *commandInput) (controlRequest, error) { return in.tabActionRequest("new", nil), nil },
			printAnswer:  printSentence("opened a new tab\nid: {tab.targetId}"),
		},
		{
			name: "tab label", args: "<tab> <label>", short: "give a tab a name",
			examples: []string{"tab label t2 docs"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				return in.tabActionRequest("label", map[string]any{"targetId": in.arg(0), "label": in.arg(1)}), nil
			},
			printAnswer: printSentence("tab {0} is named {1}"),
		},
		{
			name: "tab select", args: "<number>", short: "bring the tab with this number of the list to the front",
			buildRequest: func(in *commandInput) (controlRequest, error) { return in.tabByNumberRequest("select") },
			printAnswer:  printSentence("selected tab {0}"),
		},
		{
			name: "tab close", args: "[number]", short: "close the tab with this number of the list, or the first",
			buildRequest: func(in *commandInput) (controlRequest, error) { return in.tabByNumberRequest("close") },
			printAnswer:  printSentence("closed the tab"),
		},
		{
			name: "open", args: "<url>", short: "open an address in a new tab", options: []browserOption{label},
			examples:     []string{"open example.com --label docs"},
			buildRequest: buildLoad("/tabs/open"),
			printAnswer: printTyped(func(p *outputPrinter, tab client.OpenedTab) {
				p.Line("opened: %s", cleanLine(tab.URL))
				p.Line("id: %s", cleanLine(tab.TargetID))
				printConsequences(p, client.Result{Notes: tab.Notes, Refused: tab.Refused})
			}),
		},
		{
			name: "focus", args: "[tab]", short: "bring a tab to the front", options: []browserOption{tabOption},
			buildRequest: buildFocus,
			printAnswer: printTypedWithInput(func(p *outputPrinter, in *commandInput, a struct{ TargetID string }) {
				if tab, _ := in.tabArg(); a.TargetID == "" {
					a.TargetID = tab
				}
				p.Line("focused tab %s", cleanLine(a.TargetID))
			}),
		},
		{
			name: "close", args: "[tab]", short: "close a tab, or the last used one", options: []browserOption{tabOption},
			buildRequest: buildClose,
			printAnswer:  printSentence("closed the tab"),
		},
	}
}

func buildFocus(in *commandInput) (controlRequest, error) {
	tab, err := in.tabArg()
	if err == nil && tab == "" {
		err = usagef("[tab] is missing: an id, t1 or a label")
	}
	return in.postRequest("/tabs/focus", map[string]any{"targetId": tab}), err
}

func buildClose(in *commandInput) (controlRequest, error) {
	tab, err := in.tabArg()
	if tab == "" || err != nil {
		return in.actRequest("close", nil), err
	}
	return controlRequest{method: http.MethodDelete, path: "/tabs/" + url.PathEscape(tab)}, nil
}

// tabArg returns the tab named by the first argument or the flag.
func (in *commandInput) tabArg() (string, error) {
	named := in.text("target-id")
	if in.arg(0) != "" && named != "" && in.arg(0) != named {
		return "", usagef("two tabs are named: %q and %q", in.arg(0), named)
	}
	if in.arg(0) != "" {
		return in.arg(0), nil
	}
	return named, nil
}

func (in *commandInput) tabActionRequest(action string, fields map[string]any) controlRequest {
	r := in.postRequest("/tabs/action", fields)
	r.body["action"] = action
	return r
}

// tabByNumberRequest returns the request for an action on a tab given by its number in the list, counted from 1.
func (in *commandInput) tabByNumberRequest(action string) (controlRequest, error) {
	r := in.tabActionRequest(action, nil)
	if in.arg(0) == "" {
		return r, nil
	}
	n, err := in.positiveInt(0, "the tab's number in the list")
	r.body["index"] = n - 1
	return r, err
}

// trimTabList returns the list of tabs without the other fields of the response.
func trimTabList(_ *commandInput, answer []byte) any {
	list, err := decodeAnswer[struct {
		Tabs json.RawMessage `json:"tabs"`
	}](answer)
	if err != nil || len(list.Tabs) == 0 {
		list.Tabs = json.RawMessage("[]")
	}
	return list
}
