package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/page/outline"
	"clank/internal/untrusted"
	"clank/llm/plain"
	"clank/sessions"
	"clank/sessions/agent"
)

// MakeScript converts a run that ended with an answer to a script. notes lists what the script leaves out because it
// is not needed. If a step cannot be expressed in words that would find the same element again, the error names the
// step and the reason.
func MakeScript(b *Recording, name string) (s Script, notes []string, err error) {
	begin := b.Start()
	m := scriptBuilder{script: Script{Name: name, About: []string{
		"made from the run " + begin.Task.ID,
		"the task was: " + untrusted.ShortenLine(begin.Task.Prompt, maxQuoted),
	}}}
	if err := checkAnswered(b); err != nil {
		return s, nil, err
	}
	if err := CheckScriptName(name); err != nil {
		return s, nil, err
	}
	for _, e := range b.Entries {
		if err := m.addEntry(e); err != nil {
			return s, nil, err
		}
	}
	if !m.reads {
		m.script.Steps = append(m.script.Steps, "read")
	}
	if err := m.script.check(); err != nil {
		return s, nil, err
	}
	return m.script, m.notes, nil
}

// checkAnswered returns an error if a run is not suitable as a script.
func checkAnswered(b *Recording) error {
	steps := b.Steps()
	i := len(steps) - 1
	switch {
	case b.Cut:
		return errors.New("the run has not ended, so it is no script yet")
	case i < 0 || steps[i].Kind != sessions.StepAnswer:
		return errors.New("the run has no answer, so it is no script")
	case steps[i].Failed:
		return fmt.Errorf("the run did not do what was asked, so it is no script: %s",
			untrusted.ShortenLine(steps[i].Text, maxQuoted))
	case steps[i].Limit != "":
		return fmt.Errorf("a limit ended the run (%s), so it is no script", steps[i].Limit)
	}
	return nil
}

// maxQuoted is the maximum number of characters quoted of a request, a label or an answer.
const maxQuoted = 200

// scriptBuilder processes a run.
type scriptBuilder struct {
	script Script
	notes  []string
	state  string // last seen state of the page
	after  string // state right after the last action
	acted  bool   // no state has been seen since the last action
	lines  []string
	wrong  error // error of the action that has begun; ignored if the action failed
	reads  bool
}

func (m *scriptBuilder) addEntry(e Entry) error {
	switch {
	case e.Kind == KindSnapshot && e.Snapshot.Error == "" && !e.Snapshot.Interactive:
		if !e.Snapshot.Same {
			m.state = e.Snapshot.Text
		}
		if m.acted {
			m.after, m.acted = m.state, false
		}
	case e.Kind == KindStep && e.Step.Kind == sessions.StepAct && e.Step.Phase == sessions.PhaseBegun:
		m.lines, m.wrong = m.stepsOf(*e.Step)
		if looks := e.Step.Tool == "browser_snapshot" || e.Step.Tool == "browser_wait"; !looks {
			m.acted = true
		}
	case e.Kind == KindStep && e.Step.Kind == sessions.StepAct && !e.Step.Failed:
		if m.wrong != nil {
			return fmt.Errorf("step %d, %s, cannot be a step of a script: %w", e.Step.N,
				untrusted.ShortenLine(e.Step.Label, maxQuoted), m.wrong)
		}
		m.script.Steps = append(m.script.Steps, m.lines...)
	}
	return nil
}

// stepInput is the input of a step: of a tool call, or of a computer-use action.
type stepInput struct {
	URL         string   `json:"url"`
	Ref         string   `json:"ref"`
	Text        string   `json:"text"`
	TextGone    string   `json:"textGone"`
	Submit      bool     `json:"submit"`
	DoubleClick bool     `json:"doubleClick"`
	Button      string   `json:"button"`
	Values      []string `json:"values"`
	Paths       []string `json:"paths"`
	StartRef    string   `json:"startRef"`
	EndRef      string   `json:"endRef"`
	Key         string   `json:"key"`
	Direction   string   `json:"direction"`
	Pixels      int      `json:"pixels"`
	Action      string   `json:"action"`
	Tab         string   `json:"tab"`
	TimeMs      int      `json:"timeMs"`
	Accept      bool     `json:"accept"`
	PromptText  string   `json:"promptText"`
	Show        bool     `json:"show"`
	Entry       string   `json:"entry"`

	On struct {
		Name string `json:"name"`
	} `json:"on"` // the element at a point on the screen
	Enter  bool     `json:"enter"`
	Clicks int      `json:"clicks"`
	Held   []string `json:"held"`
	Keys   []string `json:"keys"`
	Repeat int      `json:"repeat"`
}

// stepsOf returns the script steps for an action.
func (m *scriptBuilder) stepsOf(s sessions.Step) ([]string, error) {
	var in stepInput
	unread := len(s.Input) > 0 && json.Unmarshal(s.Input, &in) != nil
	if unread && strings.HasPrefix(s.Tool, "browser_") {
		return nil, errUnread
	}
	switch s.Tool {
	case "browser_open", "navigate":
		return singleStep("open " + in.URL)
	case "browser_click":
		return m.click(in)
	case "browser_type":
		return m.typing(in, s.Label)
	case "browser_select", "page_select":
		return m.selecting(in)
	case "browser_hover":
		return m.targetStep("point at %s", in.Ref)
	case "browser_press":
		return pressSteps(in.Key)
	case "browser_back", "back", "page_back":
		return singleStep("go back")
	case "browser_forward", "page_forward":
		return singleStep("go forward")
	case "browser_reload", "page_reload":
		return singleStep("reload")
	case "browser_upload", "page_upload":
		return m.uploading(in)
	case "browser_drag", "page_drag":
		return m.dragging(in)
	case "browser_scroll", "page_scroll":
		return m.scrolling(in)
	case "browser_wait":
		return m.waiting(in)
	case "browser_tabs":
		return tabSteps(in)
	case "browser_dialog":
		return dialogSteps(in)
	case "browser_extract", "browser_links", "browser_screenshot":
		return m.reading(s.Tool, in)
	case "fill_login":
		if in.Submit {
			return singleStep("log in with " + plain.QuoteText(in.Entry))
		}
		return nil, errors.New("it filled in a login without sending it, and scripts can only do both")
	case "browser_snapshot", "browser_close", "screenshot", "read_text", "read_page", "list_tabs", "wait":
		return nil, nil
	}
	if unread {
		return nil, errUnread
	}
	return m.screenSteps(s, in)
}

var errUnread = errors.New("what it was told cannot be read")

func singleStep(step string) ([]string, error) { return []string{step}, nil }

// targetStep returns a step for an element, preceded by a wait if the element appeared by itself.
func (m *scriptBuilder) targetStep(step, ref string) ([]string, error) {
	ref = agent.NormalizeRef(ref)
	words, err := plain.DescribeTarget(m.state, ref, step)
	if err != nil {
		return nil, err
	}
	return append(m.waitStep(ref), fmt.Sprintf(step, words)), nil
}

// waitStep returns the step that waits for something that did not exist right after the previous action. Buttons,
// links and headings are named as pages show them.
func (m *scriptBuilder) waitStep(ref string) []string {
	all := outline.ListRefs(m.state)
	i := slices.IndexFunc(all, func(r outline.Ref) bool { return r.Ref == ref })
	if i < 0 || m.after == "" || all[i].Name == "" || !slices.Contains([]string{"button", "link", "heading", "tab"},
		all[i].Role) {
		return nil
	}
	for _, r := range outline.ListRefs(m.after) {
		if r.Role == all[i].Role && r.Name == all[i].Name {
			return nil
		}
	}
	return []string{"wait for " + plain.QuoteText(all[i].Name)}
}

func (m *scriptBuilder) click(in stepInput) ([]string, error) {
	switch {
	case in.Button == "middle":
		return nil, errors.New("scripts have no words for the middle button")
	case in.Button == "right":
		return m.targetStep("right-click %s", in.Ref)
	case in.DoubleClick:
		return m.targetStep("double-click %s", in.Ref)
	default:
		return m.targetStep("click %s", in.Ref)
	}
}

var errPassword = errors.New(
	`it typed a password, which is not recorded; keep the login in the vault ("clank vault add") and let it be filled in from there`)

func (m *scriptBuilder) typing(in stepInput, label string) ([]string, error) {
	if in.Text == RedactedText || strings.HasPrefix(label, "type "+RedactedText) {
		return nil, errPassword
	}
	lines, err := m.targetStep(`type "x" into %s`, in.Ref)
	if err != nil {
		return nil, err
	}
	text, err := m.addValue(in.Ref, in.Text)
	if err != nil {
		return nil, err
	}
	last := len(lines) - 1
	lines[last] = `type "` + text + strings.TrimPrefix(lines[last], `type "x`)
	if in.Submit {
		lines = append(lines, "press Enter")
	}
	return lines, nil
}

var slugPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[a-z0-9]+`) })

// addValue adds a typed text as a parameter named after its field, and returns the parameter's placeholder.
func (m *scriptBuilder) addValue(ref, text string) (string, error) {
	field := ""
	for _, r := range outline.ListRefs(m.state) {
		if r.Ref == ref {
			field = r.Name
		}
	}
	return m.addNamedValue(field, text)
}

// addNamedValue is like addValue for a field with a known name.
func (m *scriptBuilder) addNamedValue(field, text string) (string, error) {
	switch {
	case text == "":
		return "", nil
	case strings.HasSuffix(text, `\`):
		return "", errors.New("its text ends with a backslash, which no step can say")
	}
	name := strings.Join(slugPattern().FindAllString(strings.ToLower(field), 3), "_")
	if len(name) > 24 || !valueName().MatchString(name) {
		name = "text"
	}
	for n, base := 2, name; ; n++ {
		i := slices.IndexFunc(m.script.Values, func(v ScriptValue) bool { return v.Name == name })
		if i < 0 {
			m.script.Values = append(m.script.Values, ScriptValue{name, text})
		}
		if i < 0 || m.script.Values[i].Text == text {
			return "{" + name + "}", nil
		}
		name = fmt.Sprintf("%s_%d", base, n)
	}
}

func (m *scriptBuilder) selecting(in stepInput) ([]string, error) {
	if len(in.Values) != 1 || in.Values[0] == "" || strings.HasSuffix(in.Values[0], `\`) {
		return nil, errors.New("scripts select one option of a list")
	}
	lines, err := m.targetStep(`select "x" in %s`, in.Ref)
	if err != nil {
		return nil, err
	}
	last := len(lines) - 1
	lines[last] = "select " + plain.QuoteText(in.Values[0]) + strings.TrimPrefix(lines[last], `select "x"`)
	return lines, nil
}
