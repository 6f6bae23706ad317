package computeruse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"clank/browseagent"
	"clank/browseagent/browsertool"
	"clank/browsermgr/control"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/llm/openai"
	"clank/llm/plain"
	"clank/sessions"
)

// tasks has something for each action that pictures, refs and points are for. It writes down what reaches it, across
// loads.
const tasks = `<!doctype html><meta charset=utf-8><title>Tasks</title><link rel=icon href=data:,>
<style>body > * {position:fixed; left:20px; width:150px; height:30px; margin:0}</style>
<input type=file aria-label=Files style="top:20px" onchange="note('file ' + files[0].name + ' ' + files[0].size)">
<a href=/report style="top:60px">Report</a>
<select aria-label=Size style="top:100px" onchange="note(value)"><option>Small<option>Large</select>
<div draggable=true style="top:140px" ondragstart="event.dataTransfer.setData('text', 'card')">Card</div>
<div aria-label=Bin style="top:180px;background:#eee" ondragover="event.preventDefault()"
	ondrop="event.preventDefault(); note('drop ' + event.dataTransfer.getData('text'))">Bin</div>
<a href=/next style="top:220px">Next</a>
<button style="top:260px" onclick="note('said ' + confirm('Sure?'))">Ask</button>
<a href=/next target=_blank style="top:300px">Tab</a>
<canvas style="left:300px;top:20px;height:200px" onclick="note('point')"></canvas>
<div id=box tabindex=0 aria-label=Box style="left:500px;top:20px;height:100px;overflow:auto"><p style="height:2000px">long</div>
<script>
var log = JSON.parse(sessionStorage.log ?? '[]');
const note = (what) => { log.push(what); sessionStorage.log = JSON.stringify(log); };
onpageshow = (e) => note(e.persisted ? 'back_forward' : performance.getEntriesByType('navigation')[0].type);
box.onscroll = () => { if (log.at(-1) !== 'scroll') note('scroll'); };
</script>`

// everyAction is done by each backend in its way: the name of a tool and its input, in which <Card> is the ref of Card.
// A screen without a tool clicks at a point.
var everyAction = []struct{ local, screen, single string }{
	{`browser_open {"url":"SITE"}`, `navigate {"url":"SITE"}`, `{"action":"navigate","targetUrl":"SITE"}`},
	{`browser_snapshot {}`, `read_page {}`, `{"action":"snapshot"}`},
	{`browser_snapshot {"after":"<Next>"}`, `read_page {"after":"<Next>"}`, `{"action":"snapshot","after":"<Next>"}`},
	{
		`browser_upload {"ref":"<Files>","paths":["../secret.txt"]}`,
		`page_upload {"ref":"<Files>","paths":["../secret.txt"]}`,
		`{"action":"upload","ref":"<Files>","paths":["../secret.txt"]}`,
	},
	{
		`browser_upload {"ref":"<Files>","paths":["cv.txt"]}`, `page_upload {"ref":"<Files>","paths":["cv.txt"]}`,
		`{"action":"upload","ref":"<Files>","paths":["cv.txt"]}`,
	},
	{`browser_click {"ref":"<Report>"}`, `30 70`, `{"action":"act","kind":"click","ref":"<Report>"}`},
	{
		`browser_open {"url":"SITE/../list"}`, `navigate {"url":"SITE/../list"}`,
		`{"action":"navigate","targetUrl":"SITE/../list"}`,
	},
	{
		`browser_select {"ref":"<Size>","values":["Large"]}`, `page_select {"ref":"<Size>","values":["Large"]}`,
		`{"action":"act","kind":"select","ref":"<Size>","values":["Large"]}`,
	},
	{
		`browser_drag {"startRef":"<Card>","endRef":"<Bin>"}`, `page_drag {"startRef":"<Card>","endRef":"<Bin>"}`,
		`{"action":"act","kind":"drag","startRef":"<Card>","endRef":"<Bin>"}`,
	},
	{
		`browser_drag_at {"path":["40, 155","40, 195"]}`, `40 155 40 195`,
		`{"action":"act","kind":"dragCoords","x":40,"y":155,"endX":40,"endY":195}`,
	},
	{`browser_click_at {"x":350,"y":100}`, `350 100`, `{"action":"act","kind":"clickCoords","x":350,"y":100}`},
	{
		`browser_scroll {"ref":"<Box>","direction":"down"}`, `page_scroll {"ref":"<Box>","direction":"down"}`,
		`{"action":"act","kind":"scroll","ref":"<Box>","direction":"down"}`,
	},
	{`browser_click {"ref":"<Next>"}`, `30 230`, `{"action":"act","kind":"click","ref":"<Next>"}`},
	{`browser_back {}`, `page_back {}`, `{"action":"act","kind":"back"}`},
	{`browser_forward {}`, `page_forward {}`, `{"action":"act","kind":"forward"}`},
	{`browser_back {}`, `page_back {}`, `{"action":"act","kind":"back"}`},
	{`browser_reload {}`, `page_reload {}`, `{"action":"act","kind":"reload"}`},
	{`browser_snapshot {}`, `read_page {}`, `{"action":"snapshot"}`},
	{`browser_click {"ref":"<Ask>"}`, `30 270`, `{"action":"act","kind":"click","ref":"<Ask>"}`},
	{`browser_dialog {"accept":true}`, `answer_dialog {"accept":true}`, `{"action":"dialog","accept":true}`},
	{`browser_click {"ref":"<Tab>"}`, `30 310`, `{"action":"act","kind":"click","ref":"<Tab>"}`},
}

const everyEffect = "navigate, file cv.txt 5, Large, drop card, drop card, point, scroll, back_forward, " +
	"back_forward, reload, said true"

// everyNote is what each of them is told, in the same words.
var everyNote = []string{
	"must stay within uploads directory", "(10 bytes) to ", "(9 bytes) to ", "a dialog (confirm): ", "Sure?",
	"a new tab opened",
}

// reader remembers what a backend was told.
type reader struct {
	site, told string
	refs       map[string]string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	_, site := real.start(t)
	for path, text := range map[string]string{"uploads/cv.txt": "hello", "secret.txt": "secret"} {
		file := filepath.Join(real.files.Dir, path)
		check.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		check.Must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return &reader{site: site + "/tasks", refs: map[string]string{}}
}

var (
	namedRef = regexp.MustCompile(`(\w+)\\*"(?: \[[^\]]*\])*? \[ref=(e\d+)\]`)
	wanted   = regexp.MustCompile(`<(\w+)>`)
)

// read takes in what the backend was told.
func (r *reader) read(text string) {
	r.told += text
	for _, m := range namedRef.FindAllStringSubmatch(text, -1) {
		r.refs[m[1]] = m[2]
	}
}

// fill puts refs into their places.
func (r *reader) fill(input string) string {
	input = strings.ReplaceAll(input, "SITE", r.site)
	return wanted.ReplaceAllStringFunc(input, func(name string) string { return r.refs[strings.Trim(name, "<>")] })
}

// check compares what was done and told.
func (r *reader) check(t *testing.T, log string) {
	t.Helper()
	if log != everyEffect {
		t.Errorf("the page has\n%s\nwant\n%s\nrefs %v", log, everyEffect, r.refs)
	}
	check.Contains(t, r.told, everyNote...)
}

// checkAsked sees to it that people were asked about both uploads.
func checkAsked(t *testing.T, by *people) {
	t.Helper()
	uploads := 0
	for _, q := range by.asked {
		if strings.HasPrefix(q.Text, "Hand over files to the page at 127.0.0.1") {
			uploads++
		}
	}
	if uploads != 2 {
		t.Errorf("people were asked %+v", by.asked)
	}
}

// logOf returns what the page of a session has written down, after the tab that the last action opened is closed.
func logOf(t *testing.T, h *house, session string) string {
	t.Helper()
	window, ok := h.windows.manager.Lookup(session)
	if !ok {
		t.Fatal("the page is gone")
	}
	check.Must(t, check.Err(window.Act(t.Context(), "tabClose", nil)))
	return h.windows.done(t, session)
}

// rows is a table that no snapshot shows whole, then fields that nothing labels.
const rows = `<!doctype html><meta charset=utf-8><title>Rows</title><link rel=icon href=data:,>
<a href=/next><img width=9 height=9></a><a href=/next>Named</a><select><option>One<option>Two</select><select><option>Oak<option>Elm</select>
<table></table><p>Amount</p><input oninput="log.push('amount ' + value)"><script>
var log = [];
for (let i = 1; i <= 900; i++) document.querySelector('table').insertRow().innerHTML =
	"<td>Row " + i + "<td><button onclick='log.push(" + i + ")'>Delete</button>";
for (const s of document.querySelectorAll('select')) s.onchange = () => log.push(s.value);
</script>`

func TestWrittenStepsFindWhatASnapshotLeavesOut(t *testing.T) {
	const said = `open SITE, click "Delete" in the "Row 3" row, click the 500th "Delete", click the Delete in the Row 850 row, ` +
		"select Elm in the 2nd dropdown, type 7 into the field after Amount, click the last Delete, type 8 into the box " +
		"below Amount"
	const want = "3, 500, 850, Elm, amount 7, 900, amount 8"
	check.Equal(t, "the page has", doWritten(t, said, "/rows"), want)
}

// doWritten does written steps and returns what the page has written down.
func doWritten(t *testing.T, steps, path string) string {
	t.Helper()
	r := newReader(t)
	r.site = strings.TrimSuffix(r.site, "/tasks") + path
	h := prepare(t, vendors()[0], nil)
	h.local = &browseagent.Agent{
		Browser: h.windows,
		Model:   func(context.Context, string) (llm.Model, error) { return plain.New(plain.Options{}), nil },
	}
	h.open()
	task := sessions.Task{Runtime: browseagent.Runtime, Prompt: r.fill(steps), MaxSteps: 40}
	rec, _ := h.work(t.Context(), task, nil)
	if rec.State != sessions.TaskDone {
		t.Errorf("the task is %s: %s", rec.State, rec.Answer)
	}
	return h.windows.done(t, rec.SessionID)
}

// writtenSteps is what plain is told to do of it.
const writtenSteps = `open SITE
upload cv.txt
download the Report link
select Large in the first dropdown
drag Card to Bin
scroll down in the Box
click Next
back, forward, back
reload
click the button above Tab
accept the dialog`

func TestWrittenStepsHaveTheSameActions(t *testing.T) {
	const want = "navigate, file cv.txt 5, Large, drop card, scroll, back_forward, back_forward, reload, said true"
	check.Equal(t, "the page has", doWritten(t, writtenSteps, "/tasks"), want)
}

func TestEveryBackendHasTheSameActions(t *testing.T) {
	v := vendors()[0]
	t.Run("the local agent", func(t *testing.T) {
		r, by := newReader(t), &people{decision: "allowed by @ada"}
		h := prepare(t, v, by)
		var turns []llmtest.Turn
		for _, action := range everyAction {
			name, input, _ := strings.Cut(action.local, " ")
			turns = append(turns, func(asked llmtest.Request) llmtest.Reply {
				r.read(string(asked.Body))
				return called(name, r.fill(input))
			})
		}
		server := llmtest.NewServer(t, append(turns, func(asked llmtest.Request) llmtest.Reply {
			r.read(string(asked.Body))
			return llmtest.Reply{Text: "done"}
		})...)
		model, err := openai.New(openai.Options{
			BaseURL: server.BaseURL(), Key: "sk-test-0123456789abcdef", Model: "local-test", API: openai.APIChat,
		})
		check.Must(t, err)
		h.local = &browseagent.Agent{
			Browser: h.windows, Approver: by, Model: func(context.Context, string) (llm.Model, error) { return model, nil },
		}
		h.open()
		rec, _ := h.work(t.Context(), sessions.Task{Runtime: browseagent.Runtime, MaxSteps: 40}, nil)
		if rec.State != sessions.TaskDone {
			t.Fatalf("the task is %s (%s)", rec.State, rec.Reason)
		}
		r.check(t, logOf(t, h, rec.SessionID))
		checkAsked(t, by)
	})
	t.Run("computer use", func(t *testing.T) {
		r, by := newReader(t), &people{decision: "allowed by @ada"}
		h := prepare(t, v, by)
		var turns []llmtest.Turn
		for _, action := range everyAction {
			turns = append(turns, func(asked llmtest.Request) llmtest.Reply {
				r.read(string(asked.Body))
				var m move
				if n, _ := fmt.Sscan(action.screen, &m.x, &m.y, &m.toX, &m.toY); n > 0 {
					m.act = map[int]string{2: "click", 4: "drag"}[n]
				} else {
					name, input, _ := strings.Cut(action.screen, " ")
					m = move{act: name, text: r.fill(input)}
				}
				reply := v.reply(m, h.width, h.height)
				reply.Usage = usage
				return reply
			})
		}
		h.plays(append(turns, func(asked llmtest.Request) llmtest.Reply {
			r.read(string(asked.Body))
			return llmtest.Reply{Text: "done"}
		})...)
		h.open()
		rec, _ := h.work(t.Context(), sessions.Task{MaxSteps: 40}, nil)
		if rec.State != sessions.TaskDone {
			t.Fatalf("the task is %s (%s)", rec.State, rec.Reason)
		}
		r.check(t, logOf(t, h, rec.SessionID))
		checkAsked(t, by)
	})
	t.Run("single steps", func(t *testing.T) {
		r := newReader(t)
		server := &control.Server{
			Manager: real.manager, Features: real.files, Addr: "127.0.0.1:0",
			Secrets: control.Secrets{Token: "secret-of-the-test"},
		}
		check.Must(t, server.Open(t.Context()))
		t.Cleanup(func() {
			check.Must(t, server.Close(context.WithoutCancel(t.Context())))
		})
		api := &browsertool.APIClient{URL: server.URL(), Token: "secret-of-the-test"}
		session := &browsertool.Session{Tool: &browsertool.Tool{
			Targets: browsertool.Targets{Host: &browsertool.Target{API: api}, AllowHostControl: true},
		}}
		call := func(input string) browsertool.Result {
			t.Helper()
			res, err := session.Run(t.Context(), json.RawMessage(input))
			check.Must(t, err)
			return res
		}
		tab := ""
		for _, action := range everyAction {
			res := call(r.fill(action.single))
			r.read(res.Text)
			tab, _ = res.Details["targetId"].(string)
			if strings.Contains(action.single, "after") &&
				(strings.Contains(res.Text, "Card") || !strings.Contains(res.Text, "Ask")) {
				t.Errorf("after Next there is %s", res.Text)
			}
			if res.IsError && !strings.Contains(action.single, "secret.txt") {
				t.Fatalf("%s: %s", action.single, res.Text)
			}
		}
		res := call(`{"action":"act","kind":"evaluate","fn":"log.join(', ')","targetId":"` + tab + `"}`)
		log, _ := res.Details["result"].(string)
		r.check(t, log)
	})
}
