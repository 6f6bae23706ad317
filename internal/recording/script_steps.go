package recording

import (
	"errors"
	"fmt"
	"strings"

	"clank/internal/untrusted"
	"clank/llm/plain"
	"clank/sessions"
	"clank/sessions/agent"
)

func pressSteps(key string) ([]string, error) {
	step, ok := plain.DescribeKey(key)
	if !ok {
		return nil, fmt.Errorf("scripts have no words for the key %s", key)
	}
	return singleStep(step)
}

func (m *scriptBuilder) scrolling(in stepInput) ([]string, error) {
	step := "scroll " + in.Direction
	if in.Pixels > 0 {
		step = fmt.Sprintf("%s %d", step, in.Pixels)
	}
	if in.Ref == "" {
		return singleStep(step)
	}
	lines, err := m.targetStep(step+" in %s", in.Ref)
	if err != nil {
		const note = "scrolling a part of the page without a name is left out: steps scroll to what they need"
		m.notes = append(m.notes, note)
	}
	return lines, nil
}

func (m *scriptBuilder) uploading(in stepInput) ([]string, error) {
	var files []string
	for _, path := range in.Paths {
		if strings.ContainsAny(path, `%\`) {
			return nil, errors.New("scripts have no words for the name of its file")
		}
		files = append(files, plain.QuoteText(path))
	}
	return m.targetStep("upload "+strings.Join(files, " and ")+" into %s", in.Ref)
}

func (m *scriptBuilder) dragging(in stepInput) ([]string, error) {
	lines, err := m.targetStep("click %s", in.StartRef)
	if err != nil {
		return nil, err
	}
	end, err := plain.DescribeTarget(m.state, agent.NormalizeRef(in.EndRef), "click %s")
	last := len(lines) - 1
	lines[last] = "drag" + strings.TrimPrefix(lines[last], "click") + " to " + end
	return lines, err
}

func (m *scriptBuilder) waiting(in stepInput) ([]string, error) {
	var lines []string
	if in.Text != "" {
		lines = append(lines, "wait for "+plain.QuoteText(in.Text))
	}
	if in.TextGone != "" {
		lines = append(lines, "wait until "+plain.QuoteText(in.TextGone)+" is gone")
	}
	if len(lines) == 0 && in.TimeMs > 0 {
		lines = append(lines, fmt.Sprintf("wait %d ms", in.TimeMs))
	}
	if len(lines) == 0 {
		m.notes = append(m.notes, "waiting for an address or for the page to load is left out: each step waits for what it "+
			"sets off")
	}
	return lines, nil
}

func tabSteps(in stepInput) ([]string, error) {
	switch {
	case in.Action == "new" && in.URL != "":
		return singleStep("open " + in.URL + " in a new tab")
	case in.Action == "new":
		return singleStep("new tab")
	case in.Action == "select":
		return singleStep("switch to tab " + in.Tab)
	case in.Action == "close":
		return singleStep(strings.TrimSpace("close tab " + in.Tab))
	default:
		return nil, nil
	}
}

func dialogSteps(in stepInput) ([]string, error) {
	switch {
	case !in.Accept:
		return singleStep("dismiss the dialog")
	case in.PromptText != "":
		return singleStep("answer the dialog with " + plain.QuoteText(in.PromptText))
	default:
		return singleStep("accept the dialog")
	}
}

func (m *scriptBuilder) reading(tool string, in stepInput) ([]string, error) {
	switch {
	case tool == "browser_links":
		m.reads = true
		return singleStep("list the links")
	case tool == "browser_screenshot" && !in.Show:
		return nil, nil
	case tool == "browser_screenshot":
		m.reads = true
		return singleStep("take a screenshot")
	case in.Ref == "":
		m.reads = true
		return singleStep("read")
	}
	lines, err := m.targetStep("read %s", in.Ref)
	if errors.Is(err, plain.ErrNoName) {
		m.notes = append(m.notes, "a part of the page that was read has no name; the script reads the whole page")
		lines, err = singleStep("read")
	}
	m.reads = true
	return lines, err
}

var errPointOnly = errors.New("it was done at a point of the screen, and the record does not say what was there")

// screenSteps returns the steps for an action of a computer-use model. A point can be expressed only if the step
// names the element there.
func (m *scriptBuilder) screenSteps(s sessions.Step, in stepInput) ([]string, error) {
	switch s.Tool {
	case "click":
		return in.click()
	case "type", "fill":
		return m.typeSteps(in)
	case "keys":
		return in.press()
	case "move", "cursor", "zoom", "scroll", "reveal":
		m.notes = append(m.notes, untrusted.ShortenLine(s.Label, maxQuoted)+" is left out: steps find what they need")
		return nil, nil
	case "down", "up", "drag":
		return nil, errors.New("scripts have no words for pressing, dragging and letting go of the mouse")
	}
	return nil, fmt.Errorf("scripts have no words for %s", s.Tool)
}

func (in stepInput) click() ([]string, error) {
	verb := "click"
	switch {
	case in.Button == "back":
		return singleStep("go back")
	case len(in.Held) > 0 || in.Button == "middle" || in.Button == "forward" || in.Clicks > 2:
		return nil, errors.New("scripts have no words for such a click")
	case in.Button == "right":
		verb = "right-click"
	case in.Clicks == 2:
		verb = "double-click"
	}
	if in.On.Name == "" || strings.HasSuffix(in.On.Name, `\`) {
		return nil, errPointOnly
	}
	return singleStep(verb + " " + plain.QuoteText(in.On.Name))
}

// typeSteps returns the steps for a text typed into a named field.
func (m *scriptBuilder) typeSteps(in stepInput) ([]string, error) {
	var lines []string
	switch {
	case in.Text == RedactedText:
		return nil, errPassword
	case in.Text != "" && (in.On.Name == "" || strings.HasSuffix(in.On.Name, `\`)):
		return nil, errPointOnly
	case in.Text != "":
		text := strings.TrimRight(in.Text, "\r\n")
		in.Enter = in.Enter || text != in.Text
		if strings.ContainsAny(text, "\r\n\t") {
			return nil, errors.New("scripts type one line into one field")
		}
		value, err := m.addNamedValue(in.On.Name, text)
		if err != nil {
			return nil, err
		}
		lines = append(lines, `type "`+value+`" into `+plain.QuoteText(in.On.Name))
	}
	if in.Enter {
		lines = append(lines, "press Enter")
	}
	return lines, nil
}

func (in stepInput) press() ([]string, error) {
	if len(in.Keys) == 0 {
		return nil, errors.New("what it pressed cannot be read")
	}
	var lines []string
	for range max(1, in.Repeat) {
		for _, chord := range in.Keys {
			step, err := pressSteps(chord)
			if err != nil {
				return nil, err
			}
			lines = append(lines, step...)
		}
	}
	return lines, nil
}
