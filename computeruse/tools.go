package computeruse

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/page/action/actiontable"
	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// The names of the tools besides mouse and keyboard. Equivalent tools of the vendors are mapped to them.
const (
	ToolNavigate  = "navigate"      // {url}
	ToolReadText  = "read_text"     // {}
	ToolReadPage  = "read_page"     // {interactive, after}
	ToolListTabs  = "list_tabs"     // {}
	ToolOpenTab   = "open_tab"      // {url}
	ToolSelectTab = "select_tab"    // {tab}
	ToolCloseTab  = "close_tab"     // {tab}
	ToolDialog    = "answer_dialog" // {accept, text}
	ToolHandOver  = "hand_over"     // {runtime, brief}; only where the setting allows it
)

// pagePrefix begins the names of the tools that do by refs what a mouse does badly.
const pagePrefix = "page_"

// pageTool returns the action of such a tool, or nil.
func pageTool(name string) *actiontable.Spec {
	tools := actiontable.Tools()
	i := slices.IndexFunc(tools, func(s actiontable.Spec) bool { return s.ByRef && pagePrefix+s.Tool == name })
	if i < 0 {
		return nil
	}
	return &tools[i]
}

// toolInput is the union of the tools' inputs.
type toolInput struct {
	spec   *actiontable.Spec // of a page tool, whose input is values alone
	values actiontable.Values

	URL         string `json:"url"`
	Interactive bool   `json:"interactive"`
	After       string `json:"after"`
	Tab         string `json:"tab"`
	Accept      bool   `json:"accept"`
	Text        string `json:"text"`
	Runtime     string `json:"runtime"`
	Brief       string `json:"brief"`
	Reason      string `json:"reason"`
	Question    string `json:"question"`

	Choices []string `json:"choices"`

	Pictures agent.PictureNames `json:"pictures"`
	Captions []string           `json:"captions"`
}

func newTool(name, about, properties string, required ...string) llm.Tool {
	need, err := json.Marshal(append([]string{}, required...))
	if err != nil {
		need = []byte("[]") // strings always marshal
	}
	return llm.Tool{Name: name, Description: about, Schema: json.RawMessage(
		`{"type":"object","properties":{` + properties + `},"required":` + string(need) + `,"additionalProperties":false}`)}
}

// offeredTools returns the tools offered to the model.
func offeredTools(set Settings, takeOver, askWords bool) []llm.Tool {
	all := []llm.Tool{
		newTool(ToolNavigate, "Open an address in this tab.", `"url":{"type":"string"}`, "url"),
		newTool(ToolReadText, "Read the text of the whole page.", ``),
		newTool(ToolReadPage, "Describe the page in lines: roles, names and refs of its elements.",
			`"interactive":{"type":"boolean","description":"only what can be operated"},`+
				`"after":{"type":"string","description":"ref after which to go on, where the page was cut or folded"}`),
		newTool(ToolListTabs, "List the open tabs.", ``),
		newTool(ToolOpenTab, "Open a new tab and go to it.",
			`"url":{"type":"string","description":"empty for an empty page"}`),
		newTool(ToolSelectTab, "Go to a tab.", `"tab":{"type":"string","description":"its id, from list_tabs"}`, "tab"),
		newTool(ToolCloseTab, "Close a tab.", `"tab":{"type":"string","description":"its id; empty for this one"}`),
		newTool(ToolDialog, "Answer the dialog that the page shows (alert, confirm, prompt), which is not on the picture.",
			`"accept":{"type":"boolean"},"text":{"type":"string","description":"for a prompt"}`, "accept"),
	}
	for _, spec := range actiontable.Tools() {
		if spec.ByRef {
			schema := actiontable.ObjectSchema(spec.Params)
			all = append(all, llm.Tool{Name: pagePrefix + spec.Tool, Description: spec.About, Schema: schema})
		}
	}
	all = append(all, agent.ShowPicturesTool(agent.ShowPicturesNames))
	if takeOver {
		const reason = `"reason":{"type":"string","description":"` + agent.TakeOverReason + `"}`
		all = append(all, newTool(agent.ToolTakeOver, agent.TakeOverAbout, reason, "reason"))
	}
	if askWords {
		const words = `"question":{"type":"string"},"choices":{"type":"array","items":{"type":"string"},"description":"` +
			agent.AskPersonChoices + `"}`
		all = append(all, newTool(agent.ToolAskPerson, agent.AskPersonAbout, words, "question"))
	}
	if len(set.HandOver) > 0 {
		names, err := json.Marshal(set.HandOver)
		if err != nil {
			return all // strings always marshal
		}
		all = append(all, newTool(ToolHandOver, "Leave the rest of the task to another runtime, which goes on with the "+
			"same page.",
			`"runtime":{"type":"string","enum":`+string(names)+
				`},"brief":{"type":"string","description":"what was done and what is left to do"}`, "runtime", "brief"))
	}
	return all
}

// parseToolInput reads a call's input. wrong is for the model.
func parseToolInput(c llm.ToolCall, set Settings) (in toolInput, wrong string) {
	if c.Malformed != "" {
		return in, "the input is not a JSON object"
	}
	if in.spec = pageTool(c.Name); in.spec != nil {
		given := map[string]any{}
		if len(c.Input) > 0 && json.Unmarshal(c.Input, &given) != nil {
			return in, "the input is not a JSON object"
		}
		var err error
		if in.values, err = in.spec.Read(actiontable.Window, given); err != nil {
			return in, err.Error()
		}
		return in, ""
	}
	if len(c.Input) > 0 {
		if err := json.Unmarshal(c.Input, &in); err != nil {
			return in, "the input does not have the form that the tool wants"
		}
	}
	missing := func(field, value string) string {
		if strings.TrimSpace(value) == "" {
			return fmt.Sprintf("field %q is missing", field)
		}
		return ""
	}
	switch c.Name {
	case ToolNavigate:
		return in, missing("url", in.URL)
	case ToolSelectTab:
		return in, missing("tab", in.Tab)
	case ToolReadText, ToolReadPage, ToolListTabs, ToolOpenTab, ToolCloseTab, ToolDialog, agent.ToolShowPictures:
		return in, ""
	case agent.ToolTakeOver:
		return in, missing("reason", in.Reason)
	case agent.ToolAskPerson:
		return in, missing("question", in.Question)
	case ToolHandOver:
		if slices.Contains(set.HandOver, in.Runtime) {
			return in, missing("brief", in.Brief)
		}
		return in, "there is no runtime of that name to hand over to"
	}
	return in, fmt.Sprintf("there is no tool %q", agent.Truncate(c.Name, 60))
}

// move returns what the tool does to the page, or nil if it only looks.
func (in toolInput) move(name string) *screenMove {
	if in.spec != nil {
		return &screenMove{string(in.spec.Kind), in.values}
	}
	switch name {
	case ToolNavigate:
		return &screenMove{"navigate", map[string]any{"url": agent.CompleteURL(in.URL)}}
	case ToolOpenTab:
		m := &screenMove{"tabNew", map[string]any{}}
		if in.URL != "" {
			m.args["url"] = agent.CompleteURL(in.URL)
		}
		return m
	case ToolSelectTab:
		return &screenMove{"tabSelect", map[string]any{"tab": in.Tab}}
	case ToolCloseTab:
		m := &screenMove{"tabClose", map[string]any{}}
		if in.Tab != "" {
			m.args["tab"] = in.Tab
		}
		return m
	case ToolDialog:
		return &screenMove{"dialog", map[string]any{"accept": in.Accept, "promptText": in.Text}}
	}
	return nil
}

// label returns the call as people read it.
func (in toolInput) label(name string) string {
	if in.spec != nil {
		return in.spec.Describe(in.values, func(p actiontable.Param, text string) string {
			if p.Type == actiontable.Texts || p.Type == actiontable.VerbatimTexts {
				return agent.Quote(text)
			}
			return agent.Shorten(text, 40)
		})
	}
	switch name {
	case ToolNavigate:
		return "open " + agent.ShortURL(in.URL)
	case ToolReadText:
		return "read the page"
	case ToolReadPage:
		return "look at the page's elements"
	case ToolListTabs:
		return "list the tabs"
	case ToolOpenTab:
		return strings.TrimSpace("open a new tab " + agent.ShortURL(in.URL))
	case ToolSelectTab:
		return "go to tab " + agent.Shorten(in.Tab, 40)
	case ToolCloseTab:
		return strings.TrimSpace("close tab " + agent.Shorten(in.Tab, 40))
	case ToolDialog:
		if in.Accept {
			return "accept the dialog"
		}
		return "dismiss the dialog"
	case agent.ToolShowPictures:
		return agent.LabelPictures(len(in.Pictures))
	case agent.ToolTakeOver:
		return "ask a person to take over: " + agent.Shorten(in.Reason, 200)
	case agent.ToolAskPerson:
		return "ask: " + agent.Shorten(in.Question, 200)
	case ToolHandOver:
		return "hand over to " + agent.Shorten(in.Runtime, 40)
	}
	return "use " + agent.Quote(name)
}

// read does what a tool reads.
func (in toolInput) read(ctx context.Context, s sessions.Page, name string, limit int) (string, error) {
	switch name {
	case ToolReadText:
		text, err := s.Text(ctx, "")
		return untrusted.Truncate(text, limit), err
	case ToolReadPage:
		text, err := s.Snapshot(ctx, sessions.SnapshotOptions{Interactive: in.Interactive, After: in.After, MaxChars: limit})
		return untrusted.Truncate(text, limit), err
	}
	_, _, tabs, err := s.State(ctx)
	if len(tabs) == 0 && err == nil {
		return "(no tabs)", nil
	}
	return strings.Join(tabs, "\n"), err
}

// runToolCall does one tool call and answers it.
func (r *run) runToolCall(ctx context.Context, c llm.ToolCall, last bool) (res llm.ToolResult, err error) {
	res.ID = c.ID
	in, wrong := parseToolInput(c, r.set)
	step := &sessions.Step{
		Kind: sessions.StepAct, Tool: cmp.Or(c.Name, "unknown"), Input: c.Input,
		Label: in.label(c.Name),
	}
	if len(c.Input) == 0 || c.Malformed != "" {
		step.Input = []byte("{}")
	}
	next := &r.state.memory.Next
	if wrong != "" {
		step.Label = "use " + agent.Quote(c.Name)
		res.Text, res.IsError = "Not done: "+wrong+".", true
		next.answerTool(res)
		return res, r.recordStep(ctx, step, func() error {
			step.Text, step.Failed = res.Text, true
			return nil
		})
	}
	r.emptyReplies = 0
	if c.Name == ToolHandOver {
		next.answerTool(llm.ToolResult{ID: c.ID, Text: "Handed over."})
		if err := r.recordStep(ctx, step, func() error { step.Text = in.Brief; return nil }); err != nil {
			return res, err
		}
		return res, &sessions.HandOverError{Runtime: in.Runtime, Summary: in.Brief}
	}
	s, err := r.open(ctx)
	if err != nil {
		return res, err
	}
	err = r.recordStep(ctx, step, func() error {
		d := actionResult{refused: agent.TookOverText}
		if !r.task.Inbox.TookOver() {
			d = r.runTool(ctx, s, in, c.Name)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		res.Text, res.IsError = cmp.Or(d.text(), "Done."), d.failed()
		next.answerTool(res)
		step.Text, step.Failed = d.summary(), d.failed()
		if last {
			step.View = r.capture(ctx, s)
		}
		return agent.ContextError(ctx, nil)
	})
	return res, err
}

// runTool does what a tool is there for.
func (r *run) runTool(ctx context.Context, s sessions.Page, in toolInput, name string) (d actionResult) {
	if name == agent.ToolTakeOver {
		if r.agent.TakeOver == nil {
			return actionResult{refused: "Nobody can take over here."}
		}
		text, done := agent.AskToTakeOver(ctx, r.agent.TakeOver, r.session, r.task, in.Reason)
		if !done {
			return actionResult{refused: text}
		}
		r.screenshotCurrent = false
		return actionResult{body: text}
	}
	if name == agent.ToolAskPerson {
		q := agent.PersonQuestion{Question: in.Question, Choices: in.Choices}
		text, answered := agent.AskPerson(ctx, r.agent.AskWords, r.session, r.task, q)
		if !answered {
			return actionResult{refused: text}
		}
		return actionResult{body: text}
	}
	if m := in.move(name); m != nil {
		r.screenshotCurrent = false
		return r.performApproved(ctx, s, *m, "", r.set.StepTimeout)
	}
	looking, cancel := context.WithTimeout(ctx, r.set.StepTimeout)
	defer cancel()
	if name == agent.ToolShowPictures {
		r.screenshotCurrent = false // an element may have been scrolled into view
		for i, caption := range in.Captions {
			in.Captions[i] = r.state.memory.secrets.Redact(caption, maskForPeople)
		}
		d.remark, d.err = r.state.album.Choose(looking, in.Pictures, in.Captions,
			func(ctx context.Context, ref string) (llm.Image, error) {
				shot, err := s.Screenshot(ctx, ref)
				return shot.Image, err
			})
		return d
	}
	d.body, d.err = in.read(looking, s, name, maxTextChars)
	return d
}
