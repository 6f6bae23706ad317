package plain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"clank/llm"
	"clank/llm/plain"
)

var tools = []llm.Tool{{Name: "browser_open"}}

const shop = "http://127.0.0.1:9000/"

// state is a page on which every sentence of the tests finds what it names.
const state = `- banner:
  - link "Lumen & Oak" [ref=e1]
  - search:
    - searchbox "Search" [ref=e2]
  - link "Basket 2" [ref=e3]
- main:
  - heading "Sign in" [level=1] [ref=e4]
  - textbox "E-mail" [ref=e5]
    - /placeholder: you@example.com
  - textbox "Password" [ref=e6]
  - button "Sign in" [ref=e7]
  - checkbox "I agree" [ref=e8]
  - checkbox "News" [checked] [ref=e9]
  - combobox "Colour" [ref=e10]: Oak
    - option "Oak" [selected] [ref=e11]
    - option "Red, dark" [ref=e12]
  - list:
    - listitem "Lamp":
      - link "Lamp" [ref=e13]
      - button "Add" [ref=e14]
    - listitem:
      - link "Desk" [ref=e15]
      - button "Add" [ref=e16]
    - listitem:
      - 'link "Chair: oak" [ref=e17]'
      - button "Add" [ref=e18]
  - button "Terms and Conditions" [ref=e19]
  - button "Don't show again" [ref=e20]
  - button [ref=e21]: ×
  - button "Accept cookies" [ref=e22]
  - generic "Menu" [ref=e23] [cursor:pointer]
  - tab "Details" [ref=e24]
  - radio "Express" [ref=e25]
  - button "Buy, now" [ref=e26]
  - text: The price is 39 €
`

// world answers calls as the browser agent does.
type world struct {
	stop    llm.StopReason    // of the last answer
	state   string            // what the page shows
	after   map[string]string // what it shows after the call with that name
	fail    map[string]string // why the call with that name fails
	body    map[string]string // section and text of the call with that name
	history []llm.Message
	calls   []string // what was called, without looks that only find the way
	looks   int
}

// ask gives the model one instruction and answers its calls until it answers.
func (w *world) ask(t *testing.T, m *plain.Model, instruction string) string {
	t.Helper()
	w.history = append(w.history, llm.UserText(instruction))
	for range 40 {
		reply, err := m.Generate(t.Context(), llm.Request{Messages: w.history, Tools: tools}, nil)
		if err != nil {
			t.Fatalf("Generate: %v", err)
		}
		w.history = append(w.history, reply.Message)
		calls := reply.Calls()
		if len(calls) == 0 {
			w.stop = reply.Stop
			return reply.Text()
		}
		if len(calls) != 1 || reply.Stop != llm.StopTools {
			t.Fatalf("got %d calls and stop %q, want one call", len(calls), reply.Stop)
		}
		w.answer(t, calls[0])
	}
	t.Fatal("the model does not come to an end")
	return ""
}

func (w *world) answer(t *testing.T, c llm.ToolCall) {
	t.Helper()
	if strings.Contains(c.ID, "_look") {
		w.looks++
	} else {
		w.calls = append(w.calls, compact(t, c))
	}
	lines := []string{"url: " + shop}
	why, failed := w.fail[c.Name]
	body, reads := w.body[c.Name]
	if after, ok := w.after[c.Name]; ok {
		w.state = after
	}
	switch {
	case failed:
		lines = append(lines, "error: "+why, "page changes: none")
	case reads:
		lines = append(lines, body)
	case c.Name == "browser_snapshot", c.Name == "browser_open":
		lines = append(lines, "title: Lumen", "page:", w.state)
	case c.Name == "browser_screenshot":
	default:
		lines = append(lines, "page changes: none")
	}
	head := "ok"
	if failed {
		head = "failed"
	}
	w.history = append(w.history, llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Result: &llm.ToolResult{
		ID: c.ID, Text: wrap(head, lines...), IsError: failed,
	}}}})
}

// wrap writes a result as a tool does, with what a page says between markers.
func wrap(head string, lines ...string) string {
	return head + "\n<<<EXTERNAL_UNTRUSTED_CONTENT id=\"0123456789abcdef\">>>\nSource: Browser\n---\n" +
		strings.Join(lines, "\n") + "\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=\"0123456789abcdef\">>>"
}

// compact writes a call as `click ref=e1`.
func compact(t *testing.T, c llm.ToolCall) string {
	t.Helper()
	var in map[string]any
	if err := json.Unmarshal(c.Input, &in); err != nil {
		t.Fatalf("input of %s: %v", c.Name, err)
	}
	words := []string{strings.TrimPrefix(c.Name, "browser_")}
	for _, k := range slices.Sorted(maps.Keys(in)) {
		words = append(words, fmt.Sprintf("%s=%v", k, in[k]))
	}
	return strings.Join(words, " ")
}

func newModel() *plain.Model {
	return plain.New(plain.Options{Places: map[string]string{"the demo shop": shop}})
}

func generate(ctx context.Context, m *plain.Model, tools []llm.Tool, ms ...llm.Message) (llm.Reply, error) {
	return m.Generate(ctx, llm.Request{Messages: ms, Tools: tools}, nil)
}
