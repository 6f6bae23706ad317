package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/outline"
	"clank/llm/plain"
	"clank/runs"
	"clank/sessions"
)

// Make makes a script of a run that ended with an answer. notes say what of the
// run is not in it and need not be. If a step cannot be said in words that would
// find the same again, the error says which and why.
func Make(b *runs.Bundle, name string) (s Script, notes []string, err error) {
	begin := b.Begin()
	m := maker{s: Script{Name: name, About: []string{"script " + name, "made of the run " + begin.Task.ID, "it was asked: " + clip(begin.Task.Prompt)}}}
	if err := ended(b); err != nil {
		return s, nil, err
	}
	if err := CheckName(name); err != nil {
		return s, nil, err
	}
	for _, e := range b.Entries {
		if err := m.take(e); err != nil {
			return s, nil, err
		}
	}
	if !m.reads {
		m.s.Steps = append(m.s.Steps, "read")
	}
	if err := m.s.check(); err != nil {
		return s, nil, err
	}
	return m.s, m.notes, nil
}

// ended says why a run is no example to follow.
func ended(b *runs.Bundle) error {
	steps := b.Steps()
	i := len(steps) - 1
	switch {
	case b.Cut:
		return errors.New("the run has not ended, so it is no script yet")
	case i < 0 || steps[i].Kind != sessions.StepAnswer:
		return errors.New("the run has no answer, so it is no script")
	case steps[i].Failed:
		return fmt.Errorf("the run did not do what was asked, so it is no script: %s", clip(steps[i].Text))
	case steps[i].Limit != "":
		return fmt.Errorf("a limit ended the run (%s), so it is no script", steps[i].Limit)
	}
	return nil
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}

// maker goes through a run.
type maker struct {
	s     Script
	notes []string
	state string // of the page, as it was last seen
	after string // as it was right after the last act
	acted bool   // no state has been seen since the last act
	lines []string
	wrong error // of the act that has begun; it does not count if the act failed
	reads bool
}

func (m *maker) take(e runs.Entry) error {
	switch {
	case e.Kind == runs.KindSnapshot && e.Snapshot.Error == "" && !e.Snapshot.Interactive:
		if !e.Snapshot.Same {
			m.state = e.Snapshot.Text
		}
		if m.acted {
			m.after, m.acted = m.state, false
		}
	case e.Kind == runs.KindStep && e.Step.Kind == sessions.StepAct && e.Step.Phase == sessions.Begun:
		m.lines, m.wrong = m.say(*e.Step)
		if looks := e.Step.Tool == "browser_snapshot" || e.Step.Tool == "browser_wait"; !looks {
			m.acted = true
		}
	case e.Kind == runs.KindStep && e.Step.Kind == sessions.StepAct && !e.Step.Failed:
		if m.wrong != nil {
			return fmt.Errorf("step %d, %s, cannot be a step of a script: %w", e.Step.N, clip(e.Step.Label), m.wrong)
		}
		m.s.Steps = append(m.s.Steps, m.lines...)
	}
	return nil
}

// input is what the tools take.
type input struct {
	URL         string   `json:"url"`
	Ref         string   `json:"ref"`
	Text        string   `json:"text"`
	TextGone    string   `json:"textGone"`
	Submit      bool     `json:"submit"`
	DoubleClick bool     `json:"doubleClick"`
	Button      string   `json:"button"`
	Values      []string `json:"values"`
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
}

// say returns the steps that do what an act did.
func (m *maker) say(s sessions.Step) ([]string, error) {
	var in input
	if err := json.Unmarshal(s.Input, &in); err != nil && len(s.Input) > 0 && strings.HasPrefix(s.Tool, "browser_") {
		return nil, errors.New("what it was told cannot be read")
	}
	switch s.Tool {
	case "browser_open", "navigate":
		return one("open " + in.URL)
	case "browser_click":
		return m.click(in)
	case "browser_type":
		return m.typing(in, s.Label)
	case "browser_select":
		return m.selecting(in)
	case "browser_hover":
		return m.pointed("point at %s", in.Ref)
	case "browser_press":
		return pressing(in.Key)
	case "browser_back", "back":
		return one("go back")
	case "browser_scroll":
		return m.scrolling(in)
	case "browser_wait":
		return m.waiting(in)
	case "browser_tabs":
		return tabbing(in)
	case "browser_dialog":
		return answering(in)
	case "browser_extract", "browser_links", "browser_screenshot":
		return m.reading(s.Tool, in)
	case "fill_login":
		if in.Submit {
			return one("log in with " + plain.Quote(in.Entry))
		}
		return nil, errors.New("it filled in a login without sending it, and scripts can only do both")
	case "browser_snapshot", "browser_close", "screenshot", "read_text", "read_page", "list_tabs", "wait":
		return nil, nil
	}
	return m.screen(s)
}

func one(step string) ([]string, error) { return []string{step}, nil }

// pointed says a step that points at an element, and waits for it first if it
// came by itself.
func (m *maker) pointed(step, ref string) ([]string, error) {
	ref = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(ref, "@"), "ref="))
	words, err := plain.Words(m.state, ref, step)
	if err != nil {
		return nil, err
	}
	return append(m.wait(ref), fmt.Sprintf(step, words)), nil
}

// wait is the step that waits for what was not there yet right after the act
// before. The names of buttons, links and headings are what pages show of them.
func (m *maker) wait(ref string) []string {
	all := outline.Refs(m.state)
	i := slices.IndexFunc(all, func(r outline.Ref) bool { return r.Ref == ref })
	if i < 0 || m.after == "" || all[i].Name == "" || !slices.Contains([]string{"button", "link", "heading", "tab"}, all[i].Role) {
		return nil
	}
	for _, r := range outline.Refs(m.after) {
		if r.Role == all[i].Role && r.Name == all[i].Name {
			return nil
		}
	}
	return []string{"wait for " + plain.Quote(all[i].Name)}
}

func (m *maker) click(in input) ([]string, error) {
	switch {
	case in.Button == "middle":
		return nil, errors.New("scripts have no words for the middle button")
	case in.Button == "right":
		return m.pointed("right-click %s", in.Ref)
	case in.DoubleClick:
		return m.pointed("double-click %s", in.Ref)
	default:
		return m.pointed("click %s", in.Ref)
	}
}

var errPassword = errors.New(`it typed a password, which is not recorded; keep the login in the vault ("clank vault add") and let it be filled in from there`)

func (m *maker) typing(in input, label string) ([]string, error) {
	if in.Text == runs.Mask || strings.HasPrefix(label, "type "+runs.Mask) {
		return nil, errPassword
	}
	lines, err := m.pointed(`type "x" into %s`, in.Ref)
	if err != nil {
		return nil, err
	}
	text, err := m.value(in.Ref, in.Text)
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

var slug = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[a-z0-9]+`) })

// value gives a typed text a name after its field, and returns the place for it.
func (m *maker) value(ref, text string) (string, error) {
	field := ""
	for _, r := range outline.Refs(m.state) {
		if r.Ref == ref {
			field = r.Name
		}
	}
	return m.called(field, text)
}

// called is value for a field of that name.
func (m *maker) called(field, text string) (string, error) {
	switch {
	case text == "":
		return "", nil
	case strings.HasSuffix(text, `\`):
		return "", errors.New("its text ends with a backslash, which no step can say")
	}
	name := strings.Join(slug().FindAllString(strings.ToLower(field), 3), "_")
	if len(name) > 24 || !valueName().MatchString(name) {
		name = "text"
	}
	for n, base := 2, name; ; n++ {
		i := slices.IndexFunc(m.s.Values, func(v Value) bool { return v.Name == name })
		if i < 0 {
			m.s.Values = append(m.s.Values, Value{name, text})
		}
		if i < 0 || m.s.Values[i].Text == text {
			return "{" + name + "}", nil
		}
		name = fmt.Sprintf("%s_%d", base, n)
	}
}

func (m *maker) selecting(in input) ([]string, error) {
	if len(in.Values) != 1 || in.Values[0] == "" || strings.HasSuffix(in.Values[0], `\`) {
		return nil, errors.New("scripts select one option of a list")
	}
	lines, err := m.pointed(`select "x" in %s`, in.Ref)
	if err != nil {
		return nil, err
	}
	last := len(lines) - 1
	lines[last] = "select " + plain.Quote(in.Values[0]) + strings.TrimPrefix(lines[last], `select "x"`)
	return lines, nil
}
