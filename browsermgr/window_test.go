package browsermgr_test

import (
	"bytes"
	"context"
	"image"
	_ "image/jpeg" // for the size of screenshots
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

var _ sessions.Page = (*browsermgr.Window)(nil)

func TestWindowActsAndLooks(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/"})
	act(t, w, "click", map[string]any{"ref": refOf(t, w, "Press me")})
	text, err := w.Text(t.Context(), "")
	if err != nil || !strings.Contains(text, "clicked") {
		t.Errorf("text %q, %v", text, err)
	}
	shot, err := w.Screenshot(t.Context(), "")
	if err != nil || shot.MediaType != "image/jpeg" || !strings.HasPrefix(string(shot.Data), "\xff\xd8") {
		t.Errorf("screenshot: %d bytes of %q, %v", len(shot.Data), shot.MediaType, err)
	}
	if size, _, err := image.DecodeConfig(bytes.NewReader(shot.Data)); err != nil || size.Width != 1280 ||
		size.Height != 720 {
		t.Errorf("screenshot of %d × %d, %v, want 1280 × 720", size.Width, size.Height, err)
	}
	contains(t, act(t, w, "navigate", map[string]any{"url": base + "/missing"}), "HTTP 404")
	act(t, w, "back", nil)
	url, title, tabs := state(t, w)
	if url != base+"/" || title != "Start" || len(tabs) != 1 || !strings.HasPrefix(tabs[0], "* t") {
		t.Errorf("state: %q %q %q", url, title, tabs)
	}
	contains(t, act(t, w, "evaluate", map[string]any{"fn": "() => 6 * 7"}), "result: 42")
	if _, err := w.Act(t.Context(), "forward", nil); err != nil {
		t.Error(err)
	}
}

func TestAFormThatTheBrowserDoesNotSendIsTold(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/required"})
	for _, step := range []struct {
		kind, on, text string
		submit         bool
		want           string
	}{
		{"click", "Send", "", false, `the form was not sent: textbox "Name" was not accepted: "Please fill out this field."`},
		{"type", "Mail", "ada", false, ""}, // the page alone asks whether it is valid
		{"type", "Name", "Ada", true, `the form was not sent: textbox "Mail" was not accepted: "Please include an '@'`},
		{"type", "Mail", "ada@example.com", false, ""},
		{"click", "Send code", "", false, `textbox "Code" was not accepted: "Please fill out this field."`}, // in a shadow root
		{"click", "Send card", "", false, `textbox "Card" was not accepted`},                                // part of an element
		{"click", "Send", "", false, ""},
	} {
		input := map[string]any{"ref": refOf(t, w, step.on)}
		if step.kind == "type" {
			input["text"], input["submit"] = step.text, step.submit
		}
		notes := strings.Join(act(t, w, step.kind, input), "; ")
		if !strings.Contains(notes, step.want) || step.want == "" && strings.Contains(notes, "not sent") {
			t.Errorf("%+v: notes %q", step, notes)
		}
	}
	if _, title, _ := state(t, w); title != "Sent" {
		t.Errorf("title %q, want Sent", title)
	}
}

func TestWindowsDoNotSeeEachOther(t *testing.T) {
	base := site(t)
	m := sharedManager(t)
	a := window(t, m, browsermgr.WindowOptions{Key: "a"})
	b := window(t, m, browsermgr.WindowOptions{Key: "b", Ephemeral: true})
	act(t, a, "navigate", map[string]any{"url": base + "/two"})
	act(t, b, "navigate", map[string]any{"url": base + "/"})
	_, _, tabsOfA := state(t, a)
	_, _, tabsOfB := state(t, b)
	if len(tabsOfA) != 1 || len(tabsOfB) != 1 {
		t.Fatalf("tabs %q and %q, want one each", tabsOfA, tabsOfB)
	}
	other := strings.Fields(tabsOfA[0])[1]
	for _, kind := range []string{"tabSelect", "tabClose"} {
		check.Fails(t, check.Err(b.Act(t.Context(), kind, map[string]any{"tab": other})), nil, "tab not found")
	}
	// An ephemeral window has its own cookies; the others share the profile's.
	set := map[string]any{"fn": "document.cookie = 'who=a; max-age=600'"}
	get := map[string]any{"fn": "document.cookie"}
	act(t, a, "evaluate", set)
	contains(t, act(t, b, "evaluate", get), `result: ""`)
	c := window(t, m, browsermgr.WindowOptions{Key: "c", URL: base + "/"})
	contains(t, act(t, c, "evaluate", get), "who=a")

	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	check.Fails(t, check.Err(b.Snapshot(t.Context(), sessions.SnapshotOptions{})), nil, "closed")
	if _, ok := m.Lookup("b"); ok {
		t.Error("a closed window is still found")
	}
	if _, _, tabs := state(t, a); len(tabs) != 1 {
		t.Errorf("tabs of the other: %q", tabs)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestPopupBelongsToItsOpenersWindow(t *testing.T) {
	base := site(t)
	m := sharedManager(t)
	a := window(t, m, browsermgr.WindowOptions{Key: "a"})
	b := window(t, m, browsermgr.WindowOptions{Key: "b"})
	act(t, a, "navigate", map[string]any{"url": base + "/popups"})
	contains(t, act(t, a, "click", map[string]any{"ref": refOf(t, a, "New tab")}), "a new tab opened and is the "+
		"current one")
	act(t, a, "wait", map[string]any{"text": "Second page"})
	eventually(t, "the popup is loaded", func() bool { _, title, _ := state(t, a); return title == "Two" })
	_, _, tabs := state(t, a)
	if len(tabs) != 2 || !strings.HasPrefix(tabs[1], "* ") {
		t.Errorf("tabs of the opener: %q", tabs)
	}
	if _, _, tabs := state(t, b); len(tabs) != 1 {
		t.Errorf("tabs of the other window: %q", tabs)
	}
	act(t, a, "tabSelect", map[string]any{"tab": strings.Fields(tabs[0])[0]})
	if _, title, _ := state(t, a); title != "Popups" {
		t.Errorf("after tabSelect: %q", title)
	}
}

func TestPopupThatOpensLaterIsReportedWithTheNextAction(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/late"})
	notes := act(t, w, "click", map[string]any{"ref": refOf(t, w, "Later")})
	eventually(t, "the popup is the window's", func() bool { _, _, tabs := state(t, w); return len(tabs) == 2 })
	notes = append(notes, act(t, w, "wait", map[string]any{"text": "Second page"})...)
	contains(t, notes, "a new tab opened and is the current one")
}

func TestClosedTabFallsBackToThePreviousOne(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/opener"})
	act(t, w, "click", map[string]any{"ref": refOf(t, w, "Open")})
	act(t, w, "wait", map[string]any{"text": "Shut"})
	ref := refOf(t, w, "Shut")
	_, _ = w.Act(t.Context(), "click", map[string]any{"ref": ref}) // the tab may be gone before the click has its answer
	eventually(t, "the opener is current again", func() bool {
		_, title, tabs := state(t, w)
		return title == "Opener" && len(tabs) == 1
	})

	contains(t, act(t, w, "tabNew", map[string]any{"url": base + "/two"}), "opened tab")
	contains(t, act(t, w, "tabClose", nil), "the current one is")
	contains(t, act(t, w, "tabClose", nil), "an empty one took its place")
	if url, _, tabs := state(t, w); url != "about:blank" || len(tabs) != 1 {
		t.Errorf("after closing the last tab: %q %q", url, tabs)
	}
}

func TestDialogIsReportedAndAnswered(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/confirm"})
	contains(t, act(t, w, "click", map[string]any{"ref": refOf(t, w, "Ask")}),
		`the page shows a dialog (confirm): "Sure?"`)
	contains(t, act(t, w, "dialog", map[string]any{"accept": "yes"}), "accepted")
	contains(t, act(t, w, "evaluate", map[string]any{"fn": "document.title"}), `result: "yes"`)
	check.Fails(t, check.Err(w.Act(t.Context(), "dialog", map[string]any{"accept": false})), nil, "no dialog is open")
}

func TestBadActionsNameTheField(t *testing.T) {
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a"})
	for _, tt := range []struct {
		kind string
		args map[string]any
		want string
	}{
		{"dance", nil, `got "dance"`},
		{"", nil, "use one of back, click, "},
		{"click", map[string]any{"reff": "e1"}, `click has no field "reff": it takes ref`},
		{"click", nil, "click requires ref or selector"},
		{"navigate", nil, "navigate requires url"},
		{"navigate", map[string]any{"url": "file:///etc/passwd"}, "only http and https"},
		{"tabNew", map[string]any{"url": "javascript:alert(1)"}, "only http and https"},
		{"tabSelect", map[string]any{"tab": 99}, `tab not found: "99"`},
		{"dialog", nil, "dialog requires accept"},
		{"back", map[string]any{"steps": 2}, `back has no field "steps"`},
	} {
		check.Fails(t, check.Err(w.Act(t.Context(), tt.kind, tt.args)), nil, tt.want)
	}
	if _, _, tabs := state(t, w); len(tabs) != 1 {
		t.Errorf("tabs afterwards: %q", tabs)
	}
}

func TestArgumentsMayBeOfAnotherType(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/form"})
	act(t, w, "type", map[string]any{"selector": "input", "text": 12.5, "submit": "no", "timeoutMs": "2000"})
	notes := act(t, w, "evaluate", map[string]any{"fn": "document.querySelector('input').value"})
	want := []string{`result: "12.5"`}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Error(diff)
	}
}

func TestTheLinksOfAPageAndItsFramesAreListed(t *testing.T) {
	base := site(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/links"})
	far := strings.Replace(base, "127.0.0.1", "localhost", 1)
	want := []string{"Two -> " + base + "/two?x=1#y", "Near -> https://near.example/", "New tab -> " + far + "/two"}
	var got []string
	eventually(t, "the frames have loaded", func() bool {
		got = act(t, w, "links", nil)
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	check.Fails(t, check.Err(w.Act(t.Context(), "links", map[string]any{"ref": "e1"})), nil, "it takes none")
}

func TestNotesAreNotReturnedAmongTheLinks(t *testing.T) {
	base := site(t)
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	kill(t, m)
	eventually(t, "the crash is noticed", func() bool { return !m.Status()[0].Running })
	if got := act(t, w, "links", nil); len(got) != 0 { // that the page was opened again is news
		t.Errorf("links %q", got)
	}
	if got := act(t, w, "wait", map[string]any{"timeMs": 1}); !slices.ContainsFunc(got, func(n string) bool {
		return strings.Contains(n, "opened again at ")
	}) {
		t.Errorf("the next action says %q", got)
	}
}

func TestListingLinksEndsWithItsContext(t *testing.T) {
	base, signs := signallingSite(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a", URL: base + "/two"})
	act(t, w, "wait", map[string]any{"timeMs": 1})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	hung := make(chan error, 1)
	go func() {
		_, err := w.Act(ctx, "evaluate", map[string]any{"fn": hang})
		hung <- err
	}()
	<-signs
	brief, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, check.Err(w.Act(brief, "links", nil)), context.Canceled)
	stop()
	<-hung
}
