package browsermgr_test

import (
	"strings"
	"testing"

	"clank/browsermgr"
	"clank/internal/test/check"
	"clank/sessions"
)

// judged returns the assessment of an action and its mark.
func judged(t *testing.T, w *browsermgr.Window, kind string, args map[string]any) (classes, text, mark string) {
	t.Helper()
	found, err := w.Assess(t.Context(), kind, args)
	if err != nil {
		t.Fatalf("judge %s %v: %v", kind, args, err)
	}
	return strings.Join(found.Classes, " "), found.Text, found.Mark
}

// write replaces the page's content.
func write(t *testing.T, w *browsermgr.Window, html string) {
	t.Helper()
	act(t, w, "evaluate", map[string]any{"fn": "void (document.body.innerHTML = `" + html + "`)"})
}

func TestAnActionIsPerformedIfItsEffectsAreUnchanged(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	write(t, w, `<button onclick="document.title = this.textContent">Buy a pencil</button>`)
	click := map[string]any{"ref": refOf(t, w, "Buy a pencil")}
	classes, text, mark := judged(t, w, "click", click)
	if classes != "buy" || !strings.HasPrefix(text, "Buy, order or pay something at 127.0.0.1") {
		t.Errorf("judged %q: %s", classes, text)
	}
	act(t, w, "evaluate", map[string]any{"fn": "void (document.querySelector('button').textContent = 'Buy a yacht')"})
	if notes, same, err := w.ActIfUnchanged(t.Context(), "click", click, mark); same || err != nil {
		t.Errorf("after a swap: %q, same %v, %v", notes, same, err)
	}
	if _, title, _ := state(t, w); title != "Two" {
		t.Errorf("title %q: it was clicked", title)
	}
	_, _, mark = judged(t, w, "click", click)
	if _, same, err := w.ActIfUnchanged(t.Context(), "click", click, mark); !same || err != nil {
		t.Errorf("same %v, %v", same, err)
	}
	contains(t, act(t, w, "evaluate", map[string]any{"fn": "document.title"}), "Buy a yacht")
}

func TestActionsWithoutEffectsArePerformed(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/"})
	for _, tt := range []struct {
		kind string
		args map[string]any
	}{
		{"click", map[string]any{"ref": refOf(t, w, "Press me")}},
		{"press", map[string]any{"key": "Tab"}},
		{"type", map[string]any{"selector": "body", "text": "x"}},
		{"dialog", map[string]any{"accept": true}},
		{"dance", nil},
		{"navigate", map[string]any{"url": base + "/two"}},
	} {
		classes, _, mark := judged(t, w, tt.kind, tt.args)
		if classes != "" || mark != "" {
			t.Errorf("%s: judged %q", tt.kind, classes)
		}
		_, same, err := w.ActIfUnchanged(t.Context(), tt.kind, tt.args, mark)
		_, plainly := w.Act(t.Context(), tt.kind, tt.args)
		if !same || (err == nil) != (plainly == nil) {
			t.Errorf("%s: same %v, %v; without a mark %v", tt.kind, same, err, plainly)
		}
	}
	if classes, text, _ := judged(t, w, "navigate",
		map[string]any{"url": "https://elsewhere.example/x"}); classes != "leave" || text != "Go to elsewhere.example" {
		t.Errorf("to another host: %q, %q", classes, text)
	}
}

func TestADialogIsJudgedByItsText(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	write(t, w, `<button onclick="document.title = confirm('Delete all?') ? 'gone' : 'kept'">Tidy</button>`)
	click := map[string]any{"ref": refOf(t, w, "Tidy")}
	_, _, mark := judged(t, w, "click", click)
	notes, same, err := w.ActIfUnchanged(t.Context(), "click", click, mark)
	if !same || err != nil {
		t.Fatal(same, err)
	}
	contains(t, notes, "the page shows a dialog")
	if classes, _, mark := judged(t, w, "dialog", map[string]any{"accept": false}); classes != "" || mark != "" {
		t.Errorf("to dismiss it: %q", classes)
	}
	yes := map[string]any{"accept": true}
	classes, _, mark := judged(t, w, "dialog", yes)
	if classes != "delete" {
		t.Errorf("to accept it: %q", classes)
	}
	if _, same, _ := w.ActIfUnchanged(t.Context(), "dialog", yes, "another"); same {
		t.Error("another dialog passed for the one that was allowed")
	}
	if _, same, err := w.ActIfUnchanged(t.Context(), "dialog", yes, mark); !same || err != nil {
		t.Errorf("same %v, %v", same, err)
	}
	contains(t, act(t, w, "evaluate", map[string]any{"fn": "document.title"}), "gone")
}

func TestUploadsAndDropsAreAskedAbout(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	write(t, w, `<input type=file aria-label=Files><button>Delete all</button>
		<p draggable=true>Letter</p><button ondragover="event.preventDefault()" ondrop="document.title='dropped'">Delete it</button>`)
	upload := func(name string) map[string]any {
		return map[string]any{"ref": refOf(t, w, name), "paths": []string{"/home/ada/cv.txt"}}
	}
	drag := func(from, to string) map[string]any {
		return map[string]any{"startRef": refOf(t, w, from), "endRef": refOf(t, w, to)}
	}
	for _, tt := range []struct {
		kind          string
		args          map[string]any
		classes, text string
	}{
		{"upload", upload("Files"), "submit", `Hand over files to the page at 127.0.0.1`},
		{"upload", upload("Delete all"), "submit delete", `"cv.txt"; and Delete or cancel something at 127.0.0.1`},
		{"drag", drag("Letter", "Delete it"), "delete", "Delete or cancel something at 127.0.0.1"},
	} {
		classes, text, mark := judged(t, w, tt.kind, tt.args)
		if classes != tt.classes || !strings.Contains(text, tt.text) || mark == "" {
			t.Errorf("%s: judged %q, %q; want %q, %q", tt.kind, classes, text, tt.classes, tt.text)
		}
		for _, other := range []string{"", "another"} {
			if notes, same, err := w.ActIfUnchanged(t.Context(), tt.kind, tt.args, other); same || err != nil {
				t.Errorf("%s without a yes: %q, same %v, %v", tt.kind, notes, same, err)
			}
		}
		if _, same, _ := w.ActIfUnchanged(t.Context(), tt.kind, tt.args, mark); !same {
			t.Errorf("%s with a yes: not done", tt.kind)
		}
	}
	contains(t, act(t, w, "evaluate", map[string]any{"fn": "document.title"}), "dropped")
	if classes, _, mark := judged(t, w, "drag", drag("Letter", "Files")); classes != "" || mark != "" {
		t.Errorf("a drag that sets nothing off: %q", classes)
	}
}

// maze has targets in the main document, in a shadow root and in a same-process frame, and one in an out-of-process
// frame.
const maze = `<style>body > * {position:fixed; left:0; width:200px; height:40px}</style>
	<button style="top:0"><b style="font-size:20px">Sign <i>in</i></b></button>
	<label style="top:50px"><span>E-mail</span><input id=mail></label>
	<input id=pass type=password aria-label="Your &quot;password&quot;" style="top:100px">
	<input id=code autocomplete=one-time-code aria-label=Code style="top:150px">
	<div style="top:200px">Just text</div>
	<canvas aria-label=Board style="top:250px">not shown</canvas>
	<div id=host style="top:300px"></div>
	<iframe id=near srcdoc="<input type=password aria-label=Inner style='width:150px;height:30px;border:0'>" style="top:350px;border:5px solid"></iframe>
	<iframe id=far src="FAR" style="left:300px;top:0;width:300px;height:200px"></iframe>`

func TestTargetsOfInputAreNamed(t *testing.T) {
	w := recordingWindow(t)
	u, _, _ := state(t, w)
	write(t, w, strings.Replace(maze, "FAR", strings.Replace(strings.Replace(u, "127.0.0.1", "localhost", 1), "/two",
		"/form", 1), 1))
	act(t, w, "evaluate", map[string]any{
		"fn": `const root = host.attachShadow({mode: 'closed'}); root.innerHTML = '<button style="width:200px;height:40px">Shadow</button>'; return ''`,
	})
	eventually(t, "the frames are there", func() bool {
		text, err := w.Snapshot(t.Context(), sessions.SnapshotOptions{})
		return err == nil && strings.Contains(text, "Name") && strings.Contains(text, "Inner")
	})
	for _, tt := range []struct {
		x, y       float64
		role, name string
		secret     bool
	}{
		{20, 20, "button", "Sign in", false},
		{10, 60, "textbox", "E-mail", false},
		{10, 110, "textbox", `Your "password"`, true},
		{10, 160, "textbox", "Code", true},
		{10, 210, "generic", "Just text", false},
		{10, 260, "generic", "Board", false},
		{20, 310, "button", "Shadow", false},
		{30, 370, "textbox", "Inner", true},
		{400, 20, "textbox", "Name", false},
		{700, 500, "", "", false},
	} {
		role, name, err := w.ElementAt(t.Context(), tt.x, tt.y)
		if err != nil || role != tt.role || name != tt.name {
			t.Errorf("at %v, %v: %s %q, %v; want %s %q", tt.x, tt.y, role, name, err, tt.role, tt.name)
		}
		if tt.role != "textbox" {
			continue
		}
		act(t, w, "clickCoords", map[string]any{"x": tt.x, "y": tt.y})
		role, name, secret, err := w.InputField(t.Context(), "")
		if err != nil || role != tt.role || name != tt.name || secret != tt.secret {
			t.Errorf("the focus after a click at %v, %v: %s %q, secret %t, %v", tt.x, tt.y, role, name, secret, err)
		}
	}
	if _, name, secret, err := w.InputField(t.Context(), refOf(t, w, `Code`)); err != nil || name != "Code" || !secret {
		t.Errorf("by ref: %q, secret %t, %v", name, secret, err)
	}
	_, _, _, err := w.InputField(t.Context(), "e9999")
	check.Fails(t, err, nil, "see what input would reach: Unknown ref e9999")
	act(t, w, "evaluate", map[string]any{"fn": `setTimeout(() => alert('stop'), 0); return ''`})
	eventually(t, "the dialog is open, and nothing can be met behind it", func() bool {
		role, name, err := w.ElementAt(t.Context(), 20, 20)
		return role+name == "" && err == nil
	})
}
