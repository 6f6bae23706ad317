package browseagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"clank/browsermgr/page/action/actiontable"
	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// tool is one row of the table of tools for the model.
type tool struct {
	name, about string
	fields      []actiontable.Param
	// at least one field of each group is required
	needs [][]string
	// checks fields that depend on each other; may be nil
	check func(a toolArgs) error
	// action for [sessions.Page.Act]; "" if run or signsIn is set
	kind string
	run  func(ctx context.Context, r *run, p sessions.Page, a toolArgs) callOutcome // p is nil if noPage is set
	// it uses a stored login, which needs approval, see fillApproved
	signsIn bool
	reads   bool                                     // it does not change the page
	noPage  bool                                     // it needs no page
	label   func(a toolArgs, ns elementNames) string // one line for people
}

// actionTools returns the tools that each perform one page action.
func actionTools() []tool {
	labels := map[actiontable.Kind]func(toolArgs, elementNames) string{
		actiontable.KindClick: labelClick, actiontable.KindType: labelType, actiontable.KindWait: labelWait,
		actiontable.KindDialog: labelDialog,
	}
	var tools []tool
	for _, spec := range actiontable.Tools() {
		label := labels[spec.Kind]
		if label == nil {
			label = func(a toolArgs, ns elementNames) string {
				return spec.Describe(actiontable.Values(a), ns.show)
			}
		}
		tools = append(tools, tool{
			name: "browser_" + spec.Tool, kind: string(spec.Kind), about: spec.About, fields: spec.Params, needs: spec.Needs,
			label: label,
		})
	}
	return tools
}

// toolTable is the table of tools.
var toolTable = append(actionTools(), []tool{
	{
		name: "browser_open", about: "Open a URL in the current tab.", run: openURL,
		fields: []actiontable.Param{{Name: "url", Required: true}},
		label:  func(a toolArgs, _ elementNames) string { return "open " + agent.ShortURL(a.str("url")) },
	},
	{
		name: "browser_snapshot", about: "Show the whole page state again, with the refs of its elements.", run: snapshotPage,
		reads: true,
		fields: []actiontable.Param{
			{Name: "interactive", Type: actiontable.Bool, About: "only what can be operated"},
			{Name: "after", About: "ref after which to go on, where a state was cut or folded"},
		},
		label: func(toolArgs, elementNames) string { return "look at the page" },
	},
	{
		name: "browser_tabs", about: "List the open tabs, go to one, open a new one or close one.", run: manageTabs,
		check: checkTabs,
		fields: []actiontable.Param{
			{Name: "action", Enum: []string{"list", "select", "new", "close"}, Required: true},
			{Name: "tab", About: "id from the list, for select and close"},
			{Name: "url", About: "for new"},
		},
		label: labelTabs,
	},
	{
		name: "browser_extract", about: "Read the text of the page or of one element.", run: extractText, reads: true,
		fields: []actiontable.Param{{Name: "ref", About: "leave out for the whole page"}},
		label: func(a toolArgs, ns elementNames) string {
			if ref := a.str("ref"); ref != "" {
				return "read " + ns.describe(ref)
			}
			return "read the page"
		},
	},
	{
		name: "browser_links", about: "List the links of the page with their addresses.", run: listLinks, reads: true,
		label: func(toolArgs, elementNames) string { return "list the links" },
	},
	{
		name: "browser_screenshot", about: "Take a picture of the visible part of the page.", run: takeScreenshot,
		reads: true,
		fields: []actiontable.Param{
			{Name: "show", Type: actiontable.Bool, About: "also show it to the person, with the answer"},
			{Name: fieldQuestion, About: "what you want to know of the picture, which another model describes to you"},
		},
		label: func(toolArgs, elementNames) string { return "take a screenshot" },
	},
	{
		name: agent.ToolShowPictures, about: agent.ShowPicturesAbout, run: choosePictures, reads: true,
		fields: []actiontable.Param{
			{Name: "pictures", Type: actiontable.Texts, About: agent.ShowPicturesNames},
			{Name: "captions", Type: actiontable.VerbatimTexts, About: agent.ShowPicturesCaptions},
		},
		label: func(a toolArgs, _ elementNames) string {
			return agent.LabelPictures(len(actiontable.Values(a).Texts("pictures")))
		},
	},
	{
		name: toolFillLogin, about: "Fill a kept login into the page's login form: user name and password, or the one of " +
			"them that the page asks for. A person is asked first.", signsIn: true,
		fields: []actiontable.Param{
			{Name: "entry", About: "name of the login", Required: true},
			{Name: "submit", Type: actiontable.Bool, About: "also send the form"},
		},
		label: labelFillLogin,
	},
	{
		name: toolFillCode, about: "Fill the one-time code of a kept login into the page. A person is asked first.",
		signsIn: true,
		fields:  []actiontable.Param{{Name: "entry", About: "name of the login", Required: true}},
		label:   labelFillCode,
	},
	{
		name: toolHandOver, run: handOver, noPage: true, label: labelHandOver,
		about: "Leave the rest of the task to another runtime, which goes on with the same page. One whose name ends in " +
			"computer_use sees the screen and works it with mouse and keyboard: for canvases, maps, games and what the page " +
			"state does not show.",
		fields: []actiontable.Param{
			{Name: "runtime", Required: true},
			{Name: "brief", About: "what the next one should know: what was done, what was found, what is left", Required: true},
		},
	},
	{
		name: agent.ToolTakeOver, about: agent.TakeOverAbout, noPage: true,
		fields: []actiontable.Param{{Name: "reason", About: agent.TakeOverReason, Required: true}},
		label: func(a toolArgs, _ elementNames) string {
			return "ask a person to take over: " + agent.Shorten(a.str("reason"), 200)
		},
	},
	{
		name: agent.ToolAskPerson, about: agent.AskPersonAbout, noPage: true,
		fields: []actiontable.Param{
			{Name: "question", Required: true}, {Name: "choices", Type: actiontable.Texts, About: agent.AskPersonChoices},
		},
		label: func(a toolArgs, _ elementNames) string { return "ask: " + agent.Shorten(a.str("question"), 200) },
	},
	{
		name: "browser_close", about: "Close the browser for good. Only when the person has asked for it.", run: closeBrowser,
		noPage: true,
		label:  func(toolArgs, elementNames) string { return "close the browser" },
	},
}...)

// fieldQuestion is offered to models that need pictures described, see [llm.Caps.Described].
const fieldQuestion = "question"

// findTool returns the tool and the input of c, or an outcome that tells the model what is wrong with the call.
func findTool(c llm.ToolCall) (*tool, toolArgs, *callOutcome) {
	var t *tool
	for i := range toolTable {
		if toolTable[i].name == c.Name {
			t = &toolTable[i]
		}
	}
	if t == nil {
		return nil, nil, invalidCall("There is no tool %s.", agent.Quote(c.Name))
	}
	if c.Malformed != "" {
		return nil, nil, invalidCall("%s: the input is not a JSON object: %s", t.name, agent.Quote(c.Malformed))
	}
	a, err := t.decodeInput(c.Input)
	if err == nil && t.check != nil {
		err = t.check(a)
	}
	if err != nil {
		return nil, nil, invalidCall("%v", err)
	}
	return t, a, nil
}

func checkTabs(a toolArgs) error {
	if a.str("action") == "select" && a.str("tab") == "" {
		return errors.New("browser_tabs requires tab")
	}
	return nil
}

// extraWait returns the time that the call itself asks to wait, which is added to the step timeout.
func extraWait(a toolArgs) time.Duration { return time.Duration(a.num("timeMs")) * time.Millisecond }

// perform executes the tool. Unless the tool only reads, it then reads the page again.
func (t *tool) perform(ctx context.Context, r *run, p sessions.Page, a toolArgs) callOutcome {
	if t.run != nil {
		return t.run(ctx, r, p, a)
	}
	return performAction(ctx, p, t.kind, maps.Clone(a))
}

func performAction(ctx context.Context, p sessions.Page, kind string, a map[string]any) callOutcome {
	notes, err := p.Act(ctx, kind, a)
	return callOutcome{notes: notes, err: err}
}

func openURL(ctx context.Context, _ *run, p sessions.Page, a toolArgs) callOutcome {
	return performAction(ctx, p, "navigate", map[string]any{"url": agent.CompleteURL(a.str("url"))})
}

func manageTabs(ctx context.Context, r *run, p sessions.Page, a toolArgs) callOutcome {
	switch a.str("action") {
	case "select":
		return performAction(ctx, p, "tabSelect", map[string]any{"tab": a.str("tab")})
	case "close":
		return performAction(ctx, p, "tabClose", map[string]any{"tab": a.str("tab")})
	case "new":
		at := a.str("url")
		if at != "" {
			at = agent.CompleteURL(at)
		}
		return performAction(ctx, p, "tabNew", map[string]any{"url": at})
	}
	_, _, list, err := p.State(ctx)
	if err != nil {
		return failedOutcome(err)
	}
	o := callOutcome{section: sectionTabs}
	for _, t := range list {
		o.body += untrusted.CleanLine(t, maxNoteText) + "\n"
	}
	r.locate(ctx, p, &o)
	return o
}

func snapshotPage(ctx context.Context, r *run, p sessions.Page, a toolArgs) callOutcome {
	opts := sessions.SnapshotOptions{
		Interactive: a.flag("interactive"), After: a.str("after"),
		MaxChars: r.set.SnapshotChars,
	}
	state, err := p.Snapshot(ctx, opts)
	if err != nil {
		return failedOutcome(err)
	}
	var o callOutcome
	r.locate(ctx, p, &o)
	o.title = r.state.view.title
	r.state.view.reset()
	o.section, o.body = r.state.view.update(untrusted.Truncate(state, r.set.SnapshotChars), r.set.HistorySnapshots)
	if opts.Interactive || opts.After != "" {
		r.state.view.reset() // a partial state is no basis for changes
	}
	return o
}

func extractText(ctx context.Context, r *run, p sessions.Page, a toolArgs) callOutcome {
	s, err := p.Text(ctx, a.str("ref"))
	if err != nil {
		return failedOutcome(err)
	}
	o := callOutcome{section: sectionText, body: untrusted.Truncate(s, r.set.SnapshotChars)}
	r.locate(ctx, p, &o)
	return o
}

func listLinks(ctx context.Context, r *run, p sessions.Page, _ toolArgs) callOutcome {
	list, err := p.Act(ctx, "links", nil)
	if err != nil {
		return failedOutcome(err)
	}
	o := callOutcome{section: sectionLinks}
	for _, l := range list {
		o.body += untrusted.CleanLine(l, maxNoteText) + "\n"
	}
	o.body = untrusted.Truncate(strings.TrimSuffix(o.body, "\n"), r.set.SnapshotChars)
	r.locate(ctx, p, &o)
	return o
}

func takeScreenshot(ctx context.Context, r *run, p sessions.Page, a toolArgs) callOutcome {
	shot, err := p.Screenshot(ctx, "")
	if err != nil {
		return failedOutcome(err)
	}
	var o callOutcome
	r.locate(ctx, p, &o)
	if shot.Width > 0 {
		o.remarks = append(o.remarks, fmt.Sprintf("Points are counted from the top left of %g × %g pixels.", shot.Width,
			shot.Height))
	}
	r.addScreenshot(&o, shot.Image, a.flag("show"))
	return o
}

func choosePictures(ctx context.Context, r *run, p sessions.Page, a toolArgs) callOutcome {
	in := actiontable.Values(a)
	take := func(ctx context.Context, ref string) (llm.Image, error) {
		shot, err := p.Screenshot(ctx, ref)
		return shot.Image, err
	}
	told, err := r.state.album.Choose(ctx, in.Texts("pictures"), in.Texts("captions"), take)
	if err != nil {
		return failedOutcome(err)
	}
	return callOutcome{remarks: []string{told}}
}

func closeBrowser(ctx context.Context, r *run, _ sessions.Page, _ toolArgs) callOutcome {
	r.opening.Lock()
	defer r.opening.Unlock()
	if err := r.agent.Browser.Close(ctx, r.session.ID); err != nil {
		return failedOutcome(fmt.Errorf("close the browser: %w", err))
	}
	r.state.view.reset()
	r.closed = true
	return callOutcome{remarks: []string{"The browser is closed."}}
}

// toolArgs is a decoded input: strings, ints, bools and []string by field name.
type toolArgs map[string]any

func (a toolArgs) str(name string) string { return actiontable.Values(a).Text(name) }
func (a toolArgs) num(name string) int    { return actiontable.Values(a).Int(name) }
func (a toolArgs) flag(name string) bool  { return actiontable.Values(a).Bool(name) }

// decodeInput decodes and checks an input. The error names the tool and the field, and is meant for the model. Null
// counts as absent.
func (t *tool) decodeInput(raw json.RawMessage) (toolArgs, error) {
	var given map[string]any
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, errors.New(t.name + ": the input is not a JSON object")
		}
	}
	spec := actiontable.Spec{Kind: actiontable.Kind(t.name), Params: t.fields, Needs: t.needs}
	values, err := spec.Read(actiontable.Window, given)
	return toolArgs(values), err
}
