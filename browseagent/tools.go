package browseagent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"clank/llm"
	"clank/sessions/working"
	"clank/untrusted"
)

// tool is one row of the table of what a model can do.
type tool struct {
	name, about string
	fields      []field
	check       func(a args) error                                        // of fields that depend on each other; may be nil
	kind        string                                                    // the action of [Page.Act]; "" if run or asks is set
	run         func(ctx context.Context, r *run, p Page, a args) outcome // p is nil for a tool that needs no page
	asks        func(a args) bool                                         // whether it logs somebody in, see signIn
	reads       bool                                                      // it changes nothing on the page
	noPage      bool                                                      // it works without a page
	label       func(a args, ns names) string                             // one line for people
}

var refField = field{name: "ref", kind: text, about: `ref from the page state, such as "e12"`, required: true}

// tools is the table.
var tools = []tool{
	{
		name: "browser_open", about: "Open a URL in the current tab.", run: open,
		fields: []field{{name: "url", kind: text, required: true}},
		label:  func(a args, _ names) string { return "open " + working.Place(a.str("url")) },
	},
	{
		name: "browser_snapshot", about: "Show the whole page state again, with the refs of its elements.", run: snapshot, reads: true,
		fields: []field{{name: "interactive", kind: yesNo, about: "only what can be operated"}},
		label:  func(args, names) string { return "look at the page" },
	},
	{
		name: "browser_click", about: "Click an element.", kind: "click",
		fields: []field{refField, {name: "doubleClick", kind: yesNo}, {name: "button", kind: text, choices: []string{"left", "right", "middle"}}},
		label:  labelClick,
	},
	{
		name: "browser_type", about: "Replace what a field contains with text.", kind: "type",
		fields: []field{refField, {name: "text", kind: text, required: true, empty: true}, {name: "submit", kind: yesNo, about: "press Enter afterwards"}},
		label:  labelType,
	},
	{
		name: "browser_select", about: "Select options of a list, by their value or label.", kind: "select",
		fields: []field{refField, {name: "values", kind: strList, required: true}},
		label:  labelSelect,
	},
	{
		name: "browser_press", about: `Press a key or chord, such as "Enter", "ArrowDown" or "Control+a".`, kind: "press",
		fields: []field{{name: "key", kind: text, required: true}},
		label:  func(a args, _ names) string { return "press " + working.Brief(a.str("key"), 60) },
	},
	{
		name: "browser_scroll", about: "Scroll the page, or to an element.", kind: "scroll",
		fields: []field{
			{name: "direction", kind: text, choices: []string{"up", "down", "left", "right"}, required: true},
			{name: "pixels", kind: whole, max: 20000, about: "800 if left out"},
			{name: "ref", kind: text, about: "scroll inside this element"},
		},
		label: func(a args, _ names) string { return "scroll " + a.str("direction") },
	},
	{
		name: "browser_hover", about: "Move the mouse over an element.", kind: "hover",
		fields: []field{refField},
		label:  func(a args, ns names) string { return "point at " + ns.of(a.str("ref")) },
	},
	{
		name: "browser_back", about: "Go back to the page before.", kind: "back",
		label: func(args, names) string { return "go back" },
	},
	{
		name: "browser_tabs", about: "List the open tabs, go to one, open a new one or close one.", run: tabs, check: checkTabs,
		fields: []field{
			{name: "action", kind: text, choices: []string{"list", "select", "new", "close"}, required: true},
			{name: "tab", kind: text, about: "id from the list, for select and close"},
			{name: "url", kind: text, about: "for new"},
		},
		label: labelTabs,
	},
	{
		name: "browser_wait", about: "Wait until all that is given has come true.", kind: "wait", check: checkWait,
		fields: []field{
			{name: "timeMs", kind: whole, max: 30000},
			{name: "text", kind: text, about: "text that appears"},
			{name: "textGone", kind: text, about: "text that disappears"},
			{name: "url", kind: text, about: "address, * stands for anything"},
			{name: "loadState", kind: text, choices: []string{"load", "domcontentloaded", "networkidle"}},
		},
		label: labelWait,
	},
	{
		name: "browser_extract", about: "Read the text of the page or of one element.", run: extract, reads: true,
		fields: []field{{name: "ref", kind: text, about: "leave out for the whole page"}},
		label: func(a args, ns names) string {
			if ref := a.str("ref"); ref != "" {
				return "read " + ns.of(ref)
			}
			return "read the page"
		},
	},
	{
		name: "browser_links", about: "List the links of the page with their addresses.", run: links, reads: true,
		label: func(args, names) string { return "list the links" },
	},
	{
		name: "browser_dialog", about: "Answer the dialog that the page has opened.", kind: "dialog",
		fields: []field{{name: "accept", kind: yesNo, required: true}, {name: "promptText", kind: text, about: "what to enter into a prompt"}},
		label:  labelDialog,
	},
	{
		name: "browser_screenshot", about: "Take a picture of the visible part of the page.", run: screenshot, reads: true,
		fields: []field{{name: "show", kind: yesNo, about: "also show it to the person, with the answer"}},
		label:  func(args, names) string { return "take a screenshot" },
	},
	{
		name: toolFillLogin, about: "Fill a kept login into the page's login form: user name and password, or the one of them that the page asks for.", run: fillLogin,
		asks: func(a args) bool { return a.flag("submit") },
		fields: []field{
			{name: "entry", kind: text, about: "name of the login", required: true},
			{name: "submit", kind: yesNo, about: "also send the form; a person is asked first"},
		},
		label: labelFillLogin,
	},
	{
		name: toolFillCode, about: "Fill the one-time code of a kept login into the page. A person is asked first.", asks: func(args) bool { return true },
		fields: []field{{name: "entry", kind: text, about: "name of the login", required: true}},
		label:  labelFillCode,
	},
	{
		name: toolHandOver, run: passOn, noPage: true, label: labelPassOn,
		about: "Leave the rest of the task to another runtime, which goes on with the same page. One whose name ends in computer_use sees " +
			"the screen and works it with mouse and keyboard: for canvases, maps, games and what the page state does not show.",
		fields: []field{
			{name: "runtime", kind: text, required: true},
			{name: "brief", kind: text, about: "what the next one should know: what was done, what was found, what is left", required: true},
		},
	},
	{
		name: "browser_close", about: "Close the browser for good. Only when the person has asked for it.", run: closeBrowser, noPage: true,
		label: func(args, names) string { return "close the browser" },
	},
}

// find returns the tool that c calls and its input, or an outcome that tells the
// model what is wrong with the call.
func find(c llm.ToolCall) (*tool, args, *outcome) {
	var t *tool
	for i := range tools {
		if tools[i].name == c.Name {
			t = &tools[i]
		}
	}
	if t == nil {
		return nil, nil, misuse("There is no tool %s.", working.Quote(c.Name))
	}
	if c.Malformed != "" {
		return nil, nil, misuse("%s: the input is not a JSON object: %s", t.name, working.Quote(c.Malformed))
	}
	a, err := decode(t.fields, c.Input)
	if err == nil && t.check != nil {
		err = t.check(a)
	}
	if err != nil {
		return nil, nil, misuse("%s: %v", t.name, err)
	}
	return t, a, nil
}

func checkTabs(a args) error {
	if a.str("action") == "select" && a.str("tab") == "" {
		return errors.New(`field "tab" is missing`)
	}
	return nil
}

func checkWait(a args) error {
	if a.num("timeMs") == 0 && a.str("text") == "" && a.str("textGone") == "" && a.str("url") == "" && a.str("loadState") == "" {
		return errors.New(`one of the fields "timeMs", "text", "textGone", "url", "loadState" is needed`)
	}
	return nil
}

// patience is how much longer than the step timeout this call may take, because
// it asked to wait.
func patience(a args) time.Duration { return time.Duration(a.num("timeMs")) * time.Millisecond }

// do performs the tool. The page is seen again unless the tool only reads.
func (t *tool) do(ctx context.Context, r *run, p Page, a args) outcome {
	if t.run != nil {
		return t.run(ctx, r, p, a)
	}
	return act(ctx, p, t.kind, maps.Clone(a))
}

func act(ctx context.Context, p Page, kind string, a map[string]any) outcome {
	notes, err := p.Act(ctx, kind, a)
	return outcome{notes: notes, err: err}
}

func open(ctx context.Context, _ *run, p Page, a args) outcome {
	return act(ctx, p, "navigate", map[string]any{"url": working.Address(a.str("url"))})
}

func tabs(ctx context.Context, r *run, p Page, a args) outcome {
	switch a.str("action") {
	case "select":
		return act(ctx, p, "tabSelect", map[string]any{"tab": a.str("tab")})
	case "close":
		return act(ctx, p, "tabClose", map[string]any{"tab": a.str("tab")})
	case "new":
		at := a.str("url")
		if at != "" {
			at = working.Address(at)
		}
		return act(ctx, p, "tabNew", map[string]any{"url": at})
	}
	_, _, list, err := p.State(ctx)
	if err != nil {
		return failure(err)
	}
	o := outcome{section: sectionTabs}
	for _, t := range list {
		o.body += untrusted.Line(t, maxSaid) + "\n"
	}
	r.locate(ctx, p, &o)
	return o
}

func snapshot(ctx context.Context, r *run, p Page, a args) outcome {
	interactive := a.flag("interactive")
	state, err := p.Snapshot(ctx, interactive, r.set.SnapshotChars)
	if err != nil {
		return failure(err)
	}
	var o outcome
	r.locate(ctx, p, &o)
	o.title = r.held.view.title
	r.held.view.unseen()
	o.section, o.body = r.held.view.show(untrusted.Cut(state, r.set.SnapshotChars), r.set.HistorySnapshots)
	if interactive {
		r.held.view.unseen() // it is no base for what changes in the full state
	}
	return o
}

func extract(ctx context.Context, r *run, p Page, a args) outcome {
	s, err := p.Text(ctx, a.str("ref"))
	if err != nil {
		return failure(err)
	}
	o := outcome{section: sectionText, body: untrusted.Cut(s, r.set.SnapshotChars)}
	r.locate(ctx, p, &o)
	return o
}

func links(ctx context.Context, r *run, p Page, _ args) outcome {
	list, err := p.Act(ctx, "links", nil)
	if err != nil {
		return failure(err)
	}
	o := outcome{section: sectionLinks}
	for _, l := range list {
		o.body += untrusted.Line(l, maxSaid) + "\n"
	}
	o.body = untrusted.Cut(strings.TrimSuffix(o.body, "\n"), r.set.SnapshotChars)
	r.locate(ctx, p, &o)
	return o
}

func screenshot(ctx context.Context, r *run, p Page, a args) outcome {
	data, mediaType, err := p.Screenshot(ctx)
	if err != nil {
		return failure(err)
	}
	var o outcome
	r.locate(ctx, p, &o)
	r.picture(&o, llm.Image{MediaType: mediaType, Data: data}, a.flag("show"))
	return o
}

func closeBrowser(ctx context.Context, r *run, _ Page, _ args) outcome {
	r.opening.Lock()
	defer r.opening.Unlock()
	if err := r.agent.Browser.Close(ctx, r.session.ID); err != nil {
		return failure(fmt.Errorf("close the browser: %w", err))
	}
	r.held.view.unseen()
	r.closed = true
	return outcome{remarks: []string{"The browser is closed."}}
}
