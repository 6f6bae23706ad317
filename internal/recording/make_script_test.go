package recording_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

const page = `- searchbox "Search lamps" [ref=e1]
- textbox "Password" [ref=e2] [password]
- combobox "Colour" [ref=e3]
- button "Add" [ref=e4]
- button "Add" [ref=e5]
- textbox "Search lamps" [ref=e6]
- generic [ref=e7]`

const later = page + "\n- button \"Check out\" [ref=e8]"

// act is an act that was done, or not, with the state of the page after it.
type act struct {
	tool, input, label string
	failed             bool
	after              string
}

// bundle returns a run of these acts that ended with this answer.
func bundle(tb testing.TB, answer *sessions.Step, acts ...act) *recording.Recording {
	tb.Helper()
	var all []recording.Entry
	add := func(e recording.Entry) { all = append(all, e) }
	add(recording.Entry{Kind: recording.KindBegin, Begin: &recording.RunStart{
		Format: recording.FormatVersion,
		Task:   sessions.Task{ID: "t1", Prompt: "buy\na lamp"},
	}})
	add(recording.Entry{Kind: recording.KindSnapshot, Snapshot: &recording.PageSnapshot{Text: page}})
	for i, a := range acts {
		s := sessions.Step{
			N: i + 1, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: a.tool,
			Input: json.RawMessage(a.input), Label: a.label,
		}
		add(recording.Entry{Kind: recording.KindStep, Step: &s})
		if a.after != "" {
			add(recording.Entry{Kind: recording.KindSnapshot, Snapshot: &recording.PageSnapshot{Text: a.after}})
		}
		done := s
		done.Phase, done.Failed = sessions.PhaseDone, a.failed
		add(recording.Entry{Kind: recording.KindStep, Step: &done})
	}
	if answer != nil {
		answer.Kind, answer.Phase = sessions.StepAnswer, sessions.PhaseDone
		add(recording.Entry{Kind: recording.KindStep, Step: answer})
	}
	add(recording.Entry{Kind: recording.KindEnd, End: &recording.RunEnd{}})
	return parsed(tb, all...)
}

// parsed returns the run of these entries.
func parsed(tb testing.TB, entries ...recording.Entry) *recording.Recording {
	tb.Helper()
	var raw bytes.Buffer
	for _, e := range entries {
		check.Must(tb, json.NewEncoder(&raw).Encode(e))
	}
	b, err := recording.ParseRecording(raw.Bytes())
	check.Must(tb, err)
	return b
}

func TestRunBecomesPlainSteps(t *testing.T) {
	t.Parallel()
	s, notes, err := recording.MakeScript(bundle(t, &sessions.Step{Text: "done"},
		act{tool: "browser_open", input: `{"url":"http://shop.test/"}`, after: page},
		act{tool: "browser_type", input: `{"ref":"e1","text":"a \"lamp\", red","submit":true}`, after: page},
		act{tool: "browser_type", input: `{"ref":"e6","text":"desk"}`, after: page},
		act{tool: "browser_select", input: `{"ref":"@e3","values":["Red"]}`, after: page},
		act{tool: "browser_click", input: `{"ref":"e7"}`, failed: true, after: page},
		act{tool: "browser_click", input: `{"ref":"e5"}`, after: page},
		act{tool: "browser_snapshot", input: `{}`, after: later},
		act{tool: "browser_click", input: `{"ref":"e8","doubleClick":true}`, after: later},
		act{tool: "browser_press", input: `{"key":"Control+a"}`, after: later},
		act{tool: "browser_scroll", input: `{"direction":"down","ref":"e7"}`, after: later},
		act{tool: "browser_scroll", input: `{"direction":"up","pixels":90,"ref":"e8"}`, after: later},
		act{tool: "browser_upload", input: `{"ref":"e8","paths":["a.txt","b c.txt"]}`, after: later},
		act{tool: "browser_drag", input: `{"startRef":"e8","endRef":"@e8"}`, after: later},
		act{tool: "browser_forward", input: `{}`, after: later},
		act{tool: "browser_reload", input: `{}`, after: later},
		act{tool: "browser_wait", input: `{"textGone":"Loading"}`, after: later},
		act{tool: "browser_dialog", input: `{"accept":true,"promptText":"Ada"}`, after: later},
		act{tool: "fill_login", input: `{"entry":"shop","submit":true}`, after: later},
		act{tool: "browser_tabs", input: `{"action":"new","url":"http://other.test/"}`, after: later},
	), "buy-lamp")
	check.Must(t, err)
	want := `# made from the run t1
# the task was: buy a lamp
set search_lamps = "a \"lamp\", red"
set search_lamps_2 = "desk"
open http://shop.test/
type "{search_lamps}" into the 1st "Search lamps" field
press Enter
type "{search_lamps_2}" into the 2nd "Search lamps" field
select "Red" in the "Colour" list
click the 2nd "Add" button
wait for "Check out"
double-click the "Check out" button
press Control+a
scroll up 90 in the "Check out" button
upload "a.txt" and "b c.txt" into the "Check out" button
drag the "Check out" button to the "Check out" button
go forward
reload
wait until "Loading" is gone
answer the dialog with "Ada"
log in with "shop"
open http://other.test/ in a new tab
read
`
	equal(t, "script", want, s.String())
	if len(notes) != 1 || !strings.Contains(notes[0], "scrolling") {
		t.Errorf("notes %q", notes)
	}
	again, err := recording.ParseScript("buy-lamp", s.String())
	if d := cmp.Diff(s, again); d != "" || err != nil {
		t.Errorf("read again: %v\n%s", err, d)
	}
}

func TestRunsThatCannotBecomeScriptsAreExplained(t *testing.T) {
	t.Parallel()
	fine := &sessions.Step{Text: "done"}
	for name, c := range map[string]struct {
		answer *sessions.Step
		acts   []act
		want   string
	}{
		"a password": {
			fine,
			[]act{{tool: "browser_type", input: `{"ref":"e2","text":"••••"}`}},
			"typed a password",
		},
		"a thing without name": {
			fine,
			[]act{{tool: "browser_click", input: `{"ref":"e7"}`, label: "click e7"}},
			"step 1, click e7, cannot",
		},
		"a point": {
			fine,
			[]act{{tool: "click", input: `{"at":{"X":1,"Y":2}}`, label: `click at 1, 2 (the "Buy" button)`}},
			"point of the screen",
		},
		"a drag": {fine, []act{{tool: "drag", input: `{}`, label: "drag"}}, "no words for pressing, dragging"},
		"a text somewhere": {
			fine,
			[]act{{tool: "type", input: `{"text":"ada"}`, label: `type "ada" (into "Name")`}},
			"point of the screen",
		},
		"a text of two lines": {
			fine,
			[]act{{tool: "type", input: `{"text":"a\nb","on":{"name":"Name"}}`}},
			"one line into one field",
		},
		"a password by point": {
			fine,
			[]act{{tool: "type", input: `{"text":"••••","on":{"name":"Name"}}`}},
			"typed a password",
		},
		"a click with Shift": {
			fine,
			[]act{{tool: "click", input: `{"held":["shift"],"on":{"name":"Buy"}}`}},
			"no words for such a click",
		},
		"a key nobody knows": {fine, []act{{tool: "keys", input: `{"keys":["Hyper+x"]}`}}, "no words for the key"},
		"a code":             {fine, []act{{tool: "fill_totp", input: `{"entry":"shop"}`}}, "no words for fill_totp"},
		"no answer":          {nil, nil, "no answer"},
		"a failure":          {&sessions.Step{Text: "not found", Failed: true}, nil, "did not do"},
		"a limit":            {&sessions.Step{Text: "so far", Limit: "step limit of 3"}, nil, "step limit of 3"},
	} {
		_, _, err := recording.MakeScript(bundle(t, c.answer, c.acts...), "x")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	_, _, err := recording.MakeScript(bundle(t, fine), "../x")
	check.Fails(t, err, nil, `"../x"`)
}

func TestPointsWithANameBecomeSteps(t *testing.T) {
	t.Parallel()
	s, notes, err := recording.MakeScript(bundle(t, &sessions.Step{Text: "done"},
		act{tool: "navigate", input: `{"url":"http://shop.test/"}`},
		act{
			tool: "click", input: `{"x":10,"y":20,"on":{"role":"button","name":"Buy \"now\""}}`,
			label: `click "Buy 'now'" at 10, 20 (to buy)`,
		},
		act{tool: "click", input: `{"clicks":2,"on":{"name":"Word"}}`},
		act{tool: "click", input: `{"button":"right","on":{"name":"Word"}}`},
		act{tool: "click", input: `{"button":"back"}`},
		act{tool: "type", input: `{"text":"ada\n","on":{"role":"textbox","name":"Your name"}}`},
		act{tool: "type", input: `{"enter":true}`},
		act{tool: "fill", input: `{"ref":"e5","text":"bob","on":{"name":"Your name"}}`},
		act{tool: "keys", input: `{"keys":["Control+a","Enter"],"repeat":2}`, label: "press Enter"},
		act{tool: "scroll", label: "scroll down"},
		act{tool: "screenshot"},
	), "x")
	want := []string{
		"open http://shop.test/", `click "Buy \"now\""`, `double-click "Word"`, `right-click "Word"`, "go back",
		`type "{your_name}" into "Your name"`, "press Enter", "press Enter", `type "{your_name_2}" into "Your name"`,
		"press Control+a", "press Enter", "press Control+a", "press Enter", "read",
	}
	if d := cmp.Diff(want, s.Steps); d != "" || err != nil || len(notes) != 1 {
		t.Errorf("%v, notes %q\n%s", err, notes, d)
	}
}
