package browsermgr_test

import (
	"strings"
	"testing"

	"clank/browsermgr"
)

// judged returns what a window says of an action, and the mark for it.
func judged(t *testing.T, w *browsermgr.Window, kind string, args map[string]any) (classes, text, mark string) {
	t.Helper()
	found, err := w.Assess(t.Context(), kind, args)
	if err != nil {
		t.Fatalf("judge %s %v: %v", kind, args, err)
	}
	return strings.Join(found.Classes, " "), found.Text, found.Mark
}

// write replaces what a page shows.
func write(t *testing.T, w *browsermgr.Window, html string) {
	t.Helper()
	act(t, w, "evaluate", map[string]any{"fn": "void (document.body.innerHTML = `" + html + "`)"})
}

func TestAnActIsDoneIfItStillMeansWhatWasJudged(t *testing.T) {
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

func TestWhatSetsNothingOffIsDoneAsEver(t *testing.T) {
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
	if classes, text, _ := judged(t, w, "navigate", map[string]any{"url": "https://elsewhere.example/x"}); classes != "leave" || text != "Go to elsewhere.example" {
		t.Errorf("to another host: %q, %q", classes, text)
	}
}

func TestADialogIsJudgedByWhatItSays(t *testing.T) {
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
