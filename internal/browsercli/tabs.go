package browsercli

import (
	"encoding/json"
	"net/http"
	"net/url"

	"clank/browsermgr/control/client"
	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

func tabCommands() []command {
	label := option{name: "label", kind: text, value: "label", help: "a name for the tab", field: "label"}
	return []command{
		{
			name: "tabs", short: "list the tabs; starts nothing",
			build: func(in *input) (request, error) { return in.get("/tabs"), nil },
			show:  showing(show.Tabs), trim: onlyTabs,
		},
		{
			name: "tab", short: "list the tabs by number",
			build: func(in *input) (request, error) { return in.tabAction("list", nil), nil },
			show:  showing(show.Tabs), trim: onlyTabs,
		},
		{
			name: "tab new", short: "open an empty tab", options: []option{label},
			build: func(in *input) (request, error) { return in.tabAction("new", nil), nil },
			show: showing(func(p *show.Printer, a struct{ Tab client.Tab }) {
				p.Line("opened a new tab")
				p.Line("id: %s", show.Word(a.Tab.TargetID))
			}),
		},
		{
			name: "tab label", args: "<tab> <label>", short: "give a tab a name",
			examples: []string{"tab label t2 docs"},
			build: func(in *input) (request, error) {
				return in.tabAction("label", map[string]any{"targetId": in.arg(0), "label": in.arg(1)}), nil
			},
			show: func(p *show.Printer, in *input, _ []byte) error {
				p.Line("tab %s is named %s", show.Word(in.arg(0)), show.Word(in.arg(1)))
				return nil
			},
		},
		{
			name: "tab select", args: "<number>", short: "bring the tab with this number of the list to the front",
			build: func(in *input) (request, error) { return in.tabByNumber("select") },
			show: func(p *show.Printer, in *input, _ []byte) error {
				p.Line("selected tab %s", in.arg(0))
				return nil
			},
		},
		{
			name: "tab close", args: "[number]", short: "close the tab with this number of the list, or the first",
			build: func(in *input) (request, error) { return in.tabByNumber("close") },
			show:  sentence("closed the tab"),
		},
		{
			name: "open", args: "<url>", short: "open an address in a new tab", options: []option{label},
			examples: []string{"open https://example.com --label docs"},
			build: func(in *input) (request, error) {
				return in.post("/tabs/open", map[string]any{"url": in.arg(0)}), nil
			},
			show: showing(func(p *show.Printer, tab client.Tab) {
				p.Line("opened: %s", show.Word(tab.URL))
				p.Line("id: %s", show.Word(tab.TargetID))
			}),
		},
		{
			name: "focus", args: "[tab]", short: "bring a tab to the front", options: []option{onTab},
			build: buildFocus,
			show: showingWith(func(p *show.Printer, in *input, a struct{ TargetID string }) {
				if tab, _ := in.tab(); a.TargetID == "" {
					a.TargetID = tab
				}
				p.Line("focused tab %s", show.Word(a.TargetID))
			}),
		},
		{
			name: "close", args: "[tab]", short: "close a tab, or the last used one", options: []option{onTab},
			build: buildClose,
			show:  sentence("closed the tab"),
		},
	}
}

func buildFocus(in *input) (request, error) {
	tab, err := in.tab()
	if err == nil && tab == "" {
		err = cmdline.Usagef("[tab] is missing: an id, t1 or a label")
	}
	return in.post("/tabs/focus", map[string]any{"targetId": tab}), err
}

func buildClose(in *input) (request, error) {
	tab, err := in.tab()
	if tab == "" || err != nil {
		return in.act("close", nil), err
	}
	return request{method: http.MethodDelete, path: "/tabs/" + url.PathEscape(tab)}, nil
}

// tab is the tab named by the first argument or the flag.
func (in *input) tab() (string, error) {
	named := in.text("target-id")
	if in.arg(0) != "" && named != "" && in.arg(0) != named {
		return "", cmdline.Usagef("two tabs are named: %q and %q", in.arg(0), named)
	}
	if in.arg(0) != "" {
		return in.arg(0), nil
	}
	return named, nil
}

func (in *input) tabAction(action string, fields map[string]any) request {
	r := in.post("/tabs/action", fields)
	r.body["action"] = action
	return r
}

// tabByNumber asks for an action on a tab of the list, which people count from 1.
func (in *input) tabByNumber(action string) (request, error) {
	r := in.tabAction(action, nil)
	if in.arg(0) == "" {
		return r, nil
	}
	n, err := in.whole(0, "the tab's number in the list")
	r.body["index"] = n - 1
	return r, err
}

// sentence makes a show that prints words of ours.
func sentence(s string) func(*show.Printer, *input, []byte) error {
	return func(p *show.Printer, _ *input, _ []byte) error {
		p.Line("%s", s)
		return nil
	}
}

// onlyTabs is the list of tabs without what stands beside it.
func onlyTabs(answer []byte) any {
	list, err := decode[struct {
		Tabs json.RawMessage `json:"tabs"`
	}](answer)
	if err != nil || len(list.Tabs) == 0 {
		list.Tabs = json.RawMessage("[]")
	}
	return list
}
