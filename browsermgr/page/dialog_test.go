package page_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

const dialogs = `<button onclick="alert('Hello'); window.after = 1">Alert</button>
	<button onclick="window.answer = confirm('Sure?')">Confirm</button>
	<button onclick="window.answer = prompt('Name?', 'Bob')">Prompt</button>
	<button onclick="setTimeout(() => alert('Late'), 30)">Later</button>
	<button onmousedown="alert('Down')">Down</button><input aria-label=In oninput="alert('Input')">`

func TestDialogEndsTheActionAtOnce(t *testing.T) {
	tab := show(t, dialogs)
	tests := []struct {
		name, kind, message string
		accept              bool
		text                string
		want                string // of window.answer
	}{
		{`"Alert"`, "alert", "Hello", true, "", "null"},
		{`"Confirm"`, "confirm", "Sure?", true, "", "true"},
		{`"Confirm"`, "confirm", "Sure?", false, "", "false"},
		{`"Prompt"`, "prompt", "Name?", true, "Ada", `"Ada"`},
		{`"Prompt"`, "prompt", "Name?", false, "", "null"},
		{`"Down"`, "alert", "Down", true, "", "null"},
	}
	for _, tt := range tests {
		ref := refOf(t, tab, tt.name)
		start := time.Now()
		res := click(t, tab, ref)
		if took := time.Since(start); !res.BlockedByDialog || res.Dialog == nil || took > atOnce {
			t.Fatalf("%s: got %+v after %s, want it blocked by a dialog", tt.name, res, took)
		}
		if d := res.Dialog; d.Type != tt.kind || d.Message != tt.message {
			t.Errorf("%s: got %+v", tt.name, d)
		}
		browsertest.Must(t, tab.AnswerDialog(t.Context(), tt.accept, tt.text))
		if got := js(t, tab, "(window.answer ?? null)"); got != tt.want {
			t.Errorf("%s: the page got %s, want %s", tt.name, got, tt.want)
		}
		js(t, tab, "window.answer = null")
	}
	known := tab.Dialogs()
	if len(known.Pending) != 0 || len(known.Recent) != len(tests) || known.Recent[0].ID != "d1" || known.Recent[0].ClosedBy != "agent" {
		t.Errorf("got %+v, want %d closed dialogs", known, len(tests))
	}
}

func TestDialogBlocksReadingWithAdvice(t *testing.T) {
	tab := show(t, dialogs)
	ref := refOf(t, tab, `"Later"`)
	click(t, tab, ref)
	browsertest.Eventually(t, "a dialog waits", func() bool { return len(tab.Dialogs().Pending) == 1 })
	var dialog *page.DialogError
	for name, call := range map[string]func(context.Context) error{
		"snapshot": func(ctx context.Context) error { _, err := tab.Snapshot(ctx, page.SnapshotOptions{}); return err },
		"text":     func(ctx context.Context) error { _, err := tab.Text(ctx, ""); return err },
		"click": func(ctx context.Context) error {
			_, err := tab.Act(ctx, page.Action{Kind: actiontable.KindClick, Ref: ref})
			return err
		},
	} {
		start := time.Now()
		err := call(t.Context())
		if took := time.Since(start); !errors.As(err, &dialog) || took > atOnce {
			t.Errorf("%s: got %v after %s, want a dialog error at once", name, err, took)
			continue
		}
		wantError(t, err, `an alert d1: "Late"`, "accept or dismiss")
	}
	browsertest.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	browsertest.WantError(t, tab.AnswerDialog(t.Context(), true, ""), page.ErrNoDialog)
	snapshot(t, tab, page.SnapshotOptions{})
}

func TestDialogDuringTypeAndEvaluate(t *testing.T) {
	tab := show(t, dialogs)
	res := act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"In"`), Text: "x"})
	if !res.BlockedByDialog {
		t.Fatalf("got %+v, want it blocked", res)
	}
	browsertest.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	res = act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Fn: "alert('now')"})
	if !res.BlockedByDialog {
		t.Fatalf("got %+v, want it blocked", res)
	}
}

func TestDialogWhileLoading(t *testing.T) {
	srv := site(t, map[string]string{"/": `<p>a</p>`, "/alert": `<script>alert('Loading')</script><p>b</p>`})
	tab := openTab(t, srv.URL)
	res, err := tab.Navigate(t.Context(), srv.URL+"/alert")
	if err != nil || !res.BlockedByDialog {
		t.Fatalf("got %+v, %v; want it blocked by the page's alert", res, err)
	}
	if _, err := tab.Navigate(t.Context(), srv.URL); err == nil {
		t.Error("got no error while the dialog is open")
	}
	browsertest.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "paragraph: b")
}

const sticky = `<button onclick="window.onbeforeunload = e => { e.preventDefault(); return 'stay' }">Stick</button><a href=/other>Go</a>`

func TestBeforeunloadDoesNotKeepThePage(t *testing.T) {
	srv := site(t, map[string]string{"/": sticky, "/other": "<p>other"})
	b := browser.Connect(t, page.Options{})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	click(t, tab, refOf(t, tab, "Stick"))
	res, err := tab.Navigate(t.Context(), srv.URL+"/other")
	if err != nil || res.URL != srv.URL+"/other" {
		t.Fatalf("got %+v, %v; want the navigation to pass", res, err)
	}
	if d := tab.Dialogs(); len(d.Recent) != 1 || d.Recent[0].Type != "beforeunload" {
		t.Errorf("got %+v, want the beforeunload recorded", d)
	}
	// A click is not asked for leaving: the dialog is for the caller to answer.
	browsertest.Navigate(t, tab, srv.URL)
	click(t, tab, refOf(t, tab, "Stick"))
	if res = click(t, tab, refOf(t, tab, "Go")); !res.BlockedByDialog || res.Dialog.Type != "beforeunload" {
		t.Errorf("got %+v, want it blocked by beforeunload", res)
	}
	start := time.Now()
	if err := tab.Close(t.Context()); err != nil || time.Since(start) > atOnce {
		t.Errorf("close: %v after %s", err, time.Since(start))
	}
}

func TestCloseWithOpenAlert(t *testing.T) {
	tab := show(t, dialogs)
	click(t, tab, refOf(t, tab, `"Alert"`))
	start := time.Now()
	if err := tab.Close(t.Context()); err != nil || time.Since(start) > atOnce {
		t.Errorf("close: %v after %s", err, time.Since(start))
	}
}

func TestArmedDialogStopsNoAction(t *testing.T) {
	tab := show(t, dialogs)
	ref := refOf(t, tab, `"Prompt"`)
	for _, a := range []page.DialogAnswer{{}, {Accept: true, PromptText: "Ada"}} { // the last arm wins
		if armed, err := tab.HandleDialog(t.Context(), a, 0); err != nil || !armed {
			t.Fatalf("got %v, %v; want it armed", armed, err)
		}
	}
	if res := click(t, tab, ref); res.BlockedByDialog {
		t.Fatalf("got %+v, want the click to pass", res)
	}
	browsertest.WantJS(t, tab, "window.answer", `"Ada"`)
	if d := tab.Dialogs().Recent[0]; d.ClosedBy != "armed" {
		t.Errorf("got %+v", d)
	}
	if res := click(t, tab, ref); !res.BlockedByDialog {
		t.Fatalf("got %+v, want the second dialog to stay", res)
	}
	for _, a := range []page.DialogAnswer{{ID: "d1"}, {ID: "x"}} {
		if _, err := tab.HandleDialog(t.Context(), a, 0); !errors.Is(err, page.ErrNoDialog) {
			t.Errorf("got %v for %+v", err, a)
		} else {
			wantError(t, err, "not pending")
		}
	}
	if armed, err := tab.HandleDialog(t.Context(), page.DialogAnswer{ID: "d2", Accept: true, PromptText: "Bo"}, 0); err != nil || armed {
		t.Errorf("got %v, %v", armed, err)
	}
	browsertest.WantJS(t, tab, "window.answer", `"Bo"`)
}

func TestDialogAnsweredByAPersonIsRemote(t *testing.T) {
	tab := show(t, dialogs)
	click(t, tab, refOf(t, tab, `"Confirm"`))
	tab.MainFrame().Post(proto.PageHandleJavaScriptDialog{Accept: true}) // behind our back
	browsertest.Eventually(t, "no dialog waits", func() bool { return len(tab.Dialogs().Pending) == 0 })
	if d := tab.Dialogs().Recent[0]; d.ClosedBy != "remote" {
		t.Errorf("got %+v", d)
	}
	browsertest.WantJS(t, tab, "window.answer", "true")
}

func TestScriptGoesOnAfterItsDialog(t *testing.T) {
	tab := show(t, "")
	res := act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Fn: "window.answer = confirm('Sure?'); window.after = 1"})
	if !res.BlockedByDialog {
		t.Fatalf("got %+v", res)
	}
	browsertest.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	browsertest.WantJS(t, tab, "[window.answer, window.after]", "[true,1]")
}

func TestPageThatOpensDialogsForEverCanBeLeft(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	srv := site(t, map[string]string{"/": `<button onclick="for (;;) alert('again')">Loop</button><p>Text</p>`, "/ok": "<p>Fine"})
	tab, other := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL}), browsertest.Tab(t, b, page.TabOptions{URL: foreign(srv) + "/ok"})
	ref := refOf(t, tab, `"Loop"`)
	if res := click(t, tab, ref); !res.BlockedByDialog {
		t.Fatalf("got %+v", res)
	}
	for range 3 {
		browsertest.Must(t, tab.AnswerDialog(t.Context(), true, ""))
		browsertest.Eventually(t, "a dialog waits", func() bool { return len(tab.Dialogs().Pending) == 1 })
	}
	browsertest.WantError(t, browsertest.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})),
		nil, `"again"`)
	browsertest.WantContains(t, snapshot(t, other, page.SnapshotOptions{}).Text, "Fine")
	start := time.Now()
	if err := tab.Close(t.Context()); err != nil {
		t.Errorf("close: %v after %s", err, time.Since(start))
	}
}
