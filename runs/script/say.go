package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"clank/llm/plain"
	"clank/sessions"
)

func pressing(key string) ([]string, error) {
	step, ok := plain.KeyWords(key)
	if !ok {
		return nil, fmt.Errorf("scripts have no words for the key %s", key)
	}
	return one(step)
}

func (m *maker) scrolling(in input) ([]string, error) {
	if in.Ref != "" {
		m.notes = append(m.notes, "scrolling inside a part of the page is left out: steps scroll to what they need")
		return nil, nil
	}
	if in.Pixels > 0 {
		return one(fmt.Sprintf("scroll %s %d", in.Direction, in.Pixels))
	}
	return one("scroll " + in.Direction)
}

func (m *maker) waiting(in input) ([]string, error) {
	var lines []string
	if in.Text != "" {
		lines = append(lines, "wait for "+plain.Quote(in.Text))
	}
	if in.TextGone != "" {
		lines = append(lines, "wait until "+plain.Quote(in.TextGone)+" is gone")
	}
	if len(lines) == 0 && in.TimeMs > 0 {
		lines = append(lines, fmt.Sprintf("wait %d ms", in.TimeMs))
	}
	if len(lines) == 0 {
		m.notes = append(m.notes, "waiting for an address or for the page to load is left out: each step waits for what it sets off")
	}
	return lines, nil
}

func tabbing(in input) ([]string, error) {
	switch {
	case in.Action == "new" && in.URL != "":
		return one("open " + in.URL + " in a new tab")
	case in.Action == "new":
		return one("new tab")
	case in.Action == "select":
		return one("switch to tab " + in.Tab)
	case in.Action == "close":
		return one(strings.TrimSpace("close tab " + in.Tab))
	default:
		return nil, nil
	}
}

func answering(in input) ([]string, error) {
	switch {
	case !in.Accept:
		return one("dismiss the dialog")
	case in.PromptText != "":
		return one("answer the dialog with " + plain.Quote(in.PromptText))
	default:
		return one("accept the dialog")
	}
}

func (m *maker) reading(tool string, in input) ([]string, error) {
	switch {
	case tool == "browser_links":
		m.reads = true
		return one("list the links")
	case tool == "browser_screenshot" && !in.Show:
		return nil, nil
	case tool == "browser_screenshot":
		m.reads = true
		return one("take a screenshot")
	case in.Ref == "":
		m.reads = true
		return one("read")
	}
	lines, err := m.pointed("read %s", in.Ref)
	if errors.Is(err, plain.ErrNameless) {
		m.notes = append(m.notes, "a part of the page that was read has no name; the script reads the whole page")
		lines, err = one("read")
	}
	m.reads = true
	return lines, err
}

var errPoint = errors.New("it was done at a point of the screen, and the record does not say what was there")

// onScreen says an act of a model that works a screen. A point can be said only
// if the step's label names what was under it.
func (m *maker) onScreen(s sessions.Step) ([]string, error) {
	verb, rest, found := strings.Cut(s.Label, ` "`)
	var words string
	if !found || json.NewDecoder(strings.NewReader(`"`+rest)).Decode(&words) != nil {
		words = ""
	}
	switch s.Tool {
	case "click":
		if words != "" && (verb == "click" || verb == "double-click" || verb == "right-click") {
			return one(verb + " " + plain.Quote(words))
		}
		return nil, errPoint
	case "keys":
		var in struct {
			Keys []string `json:"keys"`
		}
		if json.Unmarshal(s.Input, &in) != nil || len(in.Keys) == 0 {
			return nil, errors.New("what it pressed cannot be read")
		}
		return pressing(strings.Join(in.Keys, "+"))
	case "move", "cursor", "zoom", "scroll", "reveal":
		m.notes = append(m.notes, clip(s.Label)+" is left out: steps find what they need")
		return nil, nil
	case "type", "fill", "down", "up", "drag", "key_down", "key_up", "forward":
		return nil, errPoint
	}
	return nil, fmt.Errorf("scripts have no words for %s", s.Tool)
}
