package plain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/llm"
	"clank/llm/plain"

	"github.com/google/go-cmp/cmp"
)

func TestSentencesBecomeCalls(t *testing.T) {
	for _, tt := range []struct{ say, want string }{
		{`open the demo shop, type "lamp" into Search, press Enter, read`, "open url=" + shop +
			"; type ref=e2 text=lamp; press key=Enter; extract"},
		{`Open https://example.com/a,b?c=d.`, "open url=https://example.com/a,b?c=d"},
		{`go to localhost:3000/x`, "open url=localhost:3000/x"},
		{`Please visit the site example.org, thanks`, "open url=example.org"},
		{`navigate to "example.com"`, "open url=example.com"},
		{`https://example.com`, "open url=https://example.com"},
		{`click "Sign in"`, "click ref=e7"},
		{`click “Sign in”`, "click ref=e7"},
		{`click «Sign in»`, "click ref=e7"},
		{`click „Sign in“`, "click ref=e7"},
		{`click 'Sign in'`, "click ref=e7"},
		{`click ‘Sign in’`, "click ref=e7"},
		{`click sign in`, "click ref=e7"},
		{`Click on the Sign In button.`, "click ref=e7"},
		{`click the button "Sign in"`, "click ref=e7"},
		{`click "Don't show again"`, "click ref=e20"},
		{`click 'Don't show again'`, "click ref=e20"},
		{`click Don't show again`, "click ref=e20"},
		{`click "Buy, now", read`, "click ref=e26; extract"},
		{`click Terms and Conditions`, "click ref=e19"},
		{`press the Sign in button`, "click ref=e7"},
		{`tap ×`, "click ref=e21"},
		{`click e16`, "click ref=e16"},
		{`click the 2nd "Add"`, "click ref=e16"},
		{`click the second Add button`, "click ref=e16"},
		{`click number 1 "Add"`, "click ref=e14"},
		{`click chair`, "click ref=e17"},
		{`click basket`, "click ref=e3"},
		{`click the Details tab`, "click ref=e24"},
		{`double click Menu`, "click doubleClick=true ref=e23"},
		{`check "I agree"`, "click ref=e8"},
		{`tick News`, "hover ref=e9"},
		{`type lamp, read`, "?type lamp"}, // which field?
		{`type "lamp, and desk" in the search box`, "type ref=e2 text=lamp, and desk"},
		{`enter “ada@example.com” in E-mail`, "type ref=e5 text=ada@example.com"},
		{`write hello world into you@example.com`, "type ref=e5 text=hello world"},
		{`type "say \"hi\"" into Search`, `type ref=e2 text=say "hi"`},
		{`type "" into Search`, "type ref=e2 text="},
		{`fill in the E-mail field with "a, b"`, "type ref=e5 text=a, b"},
		{`set E-mail to x@y.z`, "type ref=e5 text=x@y.z"},
		{`type lamp into Search then press Enter and then read`, "type ref=e2 text=lamp; press key=Enter; extract"},
		{`enter`, "press key=Enter"},
		{`hit escape; press ctrl+shift+t; press F5; press arrow down; press the a key`, "press key=Escape; press " +
			"key=Control+Shift+t; press key=F5; press key=ArrowDown; press key=a"},
		{`choose Oak from the Colour list`, "select ref=e10 values=[Oak]"},
		{`pick "Red, dark"`, "select ref=e10 values=[Red, dark]"},
		{`choose Express`, "click ref=e25"},
		{`scroll down, scroll up 300 px, scroll to the bottom`, "scroll direction=down; scroll direction=up pixels=300; " +
			"scroll direction=down pixels=20000"},
		{`go back to the previous page`, "back"},
		{`wait 2 seconds, wait 500ms, wait`, "wait timeMs=2000; wait timeMs=500; wait timeMs=1000"},
		{`wait for 1.5 s`, "wait timeMs=1500"},
		{`wait for the page to load, wait until it is loaded`, "wait loadState=load; wait loadState=load"},
		{`type ada into E-mail and x y into Password`, "type ref=e5 text=ada; type ref=e6 text=x y"},
		{`set E-mail to ada, Password to "x" and E-mail to y`, "type ref=e5 text=ada; type ref=e6 text=x; type ref=e5 text=y"},
		{`fill in E-mail with ada and the Password with "x"`, "type ref=e5 text=ada; type ref=e6 text=x"},
		{`enter "Ada" in the 2nd field and "12" in the third field`, "type ref=e5 text=Ada; type ref=e6 text=12"},
		{`enter ada as the E-mail`, "type ref=e5 text=ada"},
		{`type salt and sort into Search`, "type ref=e2 text=salt and sort"},
		{`type salt and pepper into Search`, "type ref=e2 text=salt and pepper"},
		{`type time in and time out into Search`, "type ref=e2 text=time in and time out"},
		{`Read the page.`, "extract"},
		{`read me the text`, "extract"},
		{`read the price`, "extract"},
		{`extract links`, "links"},
		{`take a screenshot of the page`, "screenshot show=true"},
		{`show me the page`, "screenshot show=true"},
		{`accept cookies`, "click ref=e22"},
		{`accept the dialog, dismiss it, answer the prompt with "Ada"`, "dialog accept=true; dialog accept=false; dialog " +
			"accept=true promptText=Ada"},
		{`list the tabs, new tab, switch to tab t2, close the tab`, "tabs action=list; tabs action=new; tabs action=select " +
			"tab=t2; tabs action=close"},
		{`open example.com, sign in with the login "my shop" and read`, "open url=example.com; fill_login entry=my shop " +
			"submit=true; extract"},
		{`login using shop.`, "fill_login entry=shop submit=true"},
		{"1. open the demo shop\n2. click \"Sign in\"\n3) read", "open url=" + shop + "; click ref=e7; extract"},
		{"- open example.com\n- read\n• screenshot", "open url=example.com; extract; screenshot show=true"},
		{`1. open example.com 2. read`, "open url=example.com; extract"},
		{`First, open the demo shop. Then click "Sign in". Finally read!`, "open url=" + shop + "; click ref=e7; extract"},
		{`can you open example.com and take a screenshot please`, "open url=example.com; screenshot show=true"},
		{`click Lamp & read`, "click ref=e13; extract"},
		{`click "then"，read`, `?"then"`},
	} {
		t.Run(tt.say, func(t *testing.T) {
			w := &world{state: state}
			answer := w.ask(t, newModel(), tt.say)
			if words, problem := strings.CutPrefix(tt.want, "?"); problem {
				check.Contains(t, answer, words, "did not work")
				return
			}
			if diff := cmp.Diff(tt.want, strings.Join(w.calls, "; ")); diff != "" {
				t.Errorf("calls differ (-want +got):\n%s\nanswer: %s", diff, answer)
			}
		})
	}
}

func TestWhatIsNotUnderstoodIsSaidAndNothingIsDone(t *testing.T) {
	for _, tt := range []struct{ say, words string }{
		{`open example.com, frobnicate the page, read`, `"frobnicate the page"`},
		{`find the cheapest flight to Lisbon`, `"find the cheapest flight to Lisbon"`},
		{`open the moon base`, `"open the moon base"`},
		{`open`, `"open"`},
		{`open example.com, click "Sign in`, "quotation mark is not closed"},
		{`wait 10 minutes`, "30 seconds"},
		{`scroll sideways`, `"scroll sideways"`},
		{`read, click`, `"click"`},
		{`press the frob key`, "no such key"},
		{`take a break`, `"take a break"`},
		{`new idea`, `"new idea"`},
		{`go away`, `"go away"`},
		{`what is love`, `"what is love"`},
		{`tell me a joke`, `"tell me a joke"`},
		{`log out`, `"log out"`},
		{`log in`, `click "Log in"`},
		{`log in with`, "which kept login"},
		{`sign the petition`, `"sign the petition"`},
	} {
		t.Run(tt.say, func(t *testing.T) {
			w := &world{state: state}
			answer := w.ask(t, newModel(), tt.say)
			if len(w.calls)+w.looks > 0 {
				t.Errorf("got calls %q, want none", w.calls)
			}
			if !strings.Contains(answer, tt.words) || strings.Count(answer, "\n- ") != 3 ||
				!strings.Contains(answer, "open the demo shop") {
				t.Errorf("got answer %q, want the words %s and three examples", answer, tt.words)
			}
		})
	}
}

func TestNoInstructionIsAnsweredWithHelp(t *testing.T) {
	for _, say := range []string{"", "   ", "please", ",,;"} {
		w := &world{}
		if answer := w.ask(t, newModel(), say); !strings.Contains(answer, "For example") || len(w.calls) > 0 {
			t.Errorf("%q: got %q and calls %q, want help", say, answer, w.calls)
		}
	}
}

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
	at      string            // the page's address; empty means that of the demo shop
	state   string            // what the page shows
	after   map[string]string // what it shows after the call with that name
	then    []string          // what it shows after each act in turn
	fail    map[string]string // why the call with that name fails
	body    map[string]string // section and text of the call with that name
	history []llm.Message
	note    string            // of every answer
	notes   map[string]string // of the call with that name
	rest    map[string]string // what the page shows after a ref
	calls   []string          // what was called, without looks that only find the way
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
	at := w.at
	if at == "" {
		at = shop
	}
	lines := []string{"url: " + at}
	if w.note != "" {
		lines = append(lines, "note: "+w.note)
	}
	if note := w.notes[c.Name]; note != "" {
		lines = append(lines, "note: "+note)
	}
	why, failed := w.fail[c.Name]
	body, reads := w.body[c.Name]
	if after, ok := w.after[c.Name]; ok {
		w.state = after
	}
	looks := slices.Contains([]string{"browser_snapshot", "browser_open", "browser_wait"}, c.Name)
	if len(w.then) > 0 && !looks {
		w.state, w.then = w.then[0], w.then[1:]
		body, reads = "page:\n"+w.state, true
	}
	switch {
	case failed:
		lines = append(lines, "error: "+why, "page changes: none")
	case reads:
		lines = append(lines, body)
	case c.Name == "browser_snapshot" && strings.Contains(string(c.Input), "after"):
		var in struct{ After string }
		if err := json.Unmarshal(c.Input, &in); err != nil || w.rest[in.After] == "" {
			t.Fatalf("%s: nothing is after that", c.Input)
		}
		lines = append(lines, "page:", w.rest[in.After])
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

func generate(t *testing.T, m *plain.Model, tools []llm.Tool, ms ...llm.Message) llm.Reply {
	t.Helper()
	reply, err := m.Generate(t.Context(), llm.Request{Messages: ms, Tools: tools}, nil)
	check.Must(t, err)
	return reply
}
