package corpus

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/internal/test/llmtest"
	"clank/llm"
)

// elementModel does the steps of a task as a model does that reads the page. It knows of the page what it was sent: elements
// are found by their names in page states and in what has changed of them.
type elementModel struct {
	task Task
	url  string

	mu     sync.Mutex
	opened bool
	step   int  // of the task, the next one
	looked bool // at the whole page, for what it names
	waited int
	listed bool // the tabs
}

// nextReply answers a request with one call, or, when all is done, in words.
func (m *elementModel) nextReply(r llmtest.Request) llmtest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.opened {
		m.opened = true
		return toolReply("browser_open", map[string]any{"url": m.url})
	}
	if m.step == len(m.task.Steps) {
		return llmtest.Reply{Text: "done", Usage: fixedUsage()}
	}
	s := m.task.Steps[m.step]
	ref := ""
	if s.Name != "" {
		if ref = refOf(r.Messages, s.Name); ref == "" {
			return m.search(s)
		}
	}
	if s.Verb == CloseTab && !m.listed {
		m.listed = true
		return toolReply("browser_tabs", map[string]any{"action": "list"})
	}
	m.step, m.looked, m.waited, m.listed = m.step+1, false, 0, false
	return m.call(s, ref, r)
}

// search looks for an element that was not told of: at the whole page, and again after a while.
func (m *elementModel) search(s Step) llmtest.Reply {
	switch {
	case !m.looked:
		m.looked = true
		return toolReply("browser_snapshot", map[string]any{})
	case m.waited < patience:
		m.waited++
		m.looked = false
		return toolReply("browser_wait", map[string]any{"timeMs": 200})
	}
	return llmtest.Reply{Text: fmt.Sprintf("I give up: nothing is called %q", s.Name), Usage: fixedUsage()}
}

// call returns the tool's call that does a step.
func (m *elementModel) call(s Step, ref string, r llmtest.Request) llmtest.Reply {
	on := map[string]any{"ref": ref}
	switch s.Verb {
	case Click:
		return toolReply("browser_click", on)
	case DoubleClick:
		on["doubleClick"] = true
		return toolReply("browser_click", on)
	case RightClick:
		on["button"] = "right"
		return toolReply("browser_click", on)
	case Hover:
		return toolReply("browser_hover", on)
	case Type:
		on["text"] = s.Text
		return toolReply("browser_type", on)
	case Choose:
		on["values"] = []string{s.Text}
		return toolReply("browser_select", on)
	case Press:
		return toolReply("browser_press", map[string]any{"key": s.Text})
	case Bottom:
		return toolReply("browser_scroll", map[string]any{"direction": "down", "pixels": 20000})
	case WaitFor:
		return toolReply("browser_wait", map[string]any{"text": s.Text})
	case Accept:
		in := map[string]any{"accept": true}
		if s.Text != "" {
			in["promptText"] = s.Text
		}
		return toolReply("browser_dialog", in)
	case Back:
		return toolReply("browser_back", map[string]any{})
	case CloseTab:
		return toolReply("browser_tabs", map[string]any{"action": "close", "tab": currentTab(r.LastText())})
	default:
		return llmtest.Reply{Text: fmt.Sprintf("I give up: there is no tool to %s", s.Verb), Usage: fixedUsage()}
	}
}

func toolReply(tool string, in map[string]any) llmtest.Reply {
	return llmtest.Reply{Calls: []llmtest.Call{{Name: tool, Arguments: mustJSON(in)}}, Usage: fixedUsage()}
}

var (
	refNamePattern    = regexp.MustCompile(`^([+ -]?)\s*- \S+ ("(?:[^"\\]|\\.)*").*?\[ref=([^\]]+)\]`)
	currentTabPattern = regexp.MustCompile(`(?m)^\s*\* (\S+)`)
)

// refOf returns the ref of the element of that name by the newest word of it; "" if it is not known, or is gone.
func refOf(messages []llm.Message, name string) string {
	quoted, err := json.Marshal(name)
	if err != nil {
		return ""
	}
	for _, m := range slices.Backward(messages) {
		for _, p := range slices.Backward(m.Parts) {
			text := p.Text
			if p.Result != nil {
				text = p.Result.Text
			}
			ref, gone := "", false
			for line := range strings.Lines(text) {
				found := refNamePattern.FindStringSubmatch(line)
				if found == nil || found[2] != string(quoted) {
					continue
				}
				if found[1] == "-" {
					gone = true
				} else {
					ref = found[3]
				}
			}
			if ref != "" || gone || strings.Contains(text, "\npage:") {
				return ref
			}
		}
	}
	return ""
}

// currentTab returns the id of the current tab in a list of tabs.
func currentTab(list string) string {
	if found := currentTabPattern.FindStringSubmatch(list); found != nil {
		return found[1]
	}
	return ""
}
