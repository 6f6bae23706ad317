package page_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

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
		check.Must(t, tab.AnswerDialog(t.Context(), tt.accept, tt.text))
		if got := js(t, tab, "(window.answer ?? null)"); got != tt.want {
			t.Errorf("%s: the page got %s, want %s", tt.name, got, tt.want)
		}
		js(t, tab, "window.answer = null")
	}
	known := tab.Dialogs()
	if len(known.Pending) != 0 || len(known.Recent) != len(tests) || known.Recent[0].ID != "d1" ||
		known.Recent[0].ClosedBy != "agent" {
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
		check.Fails(t, err, nil, `an alert d1: "Late"`, "accept or dismiss")
	}
	check.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	check.Fails(t, tab.AnswerDialog(t.Context(), true, ""), page.ErrNoDialog)
	snapshot(t, tab, page.SnapshotOptions{})
}

func TestDialogDuringTypeAndEvaluate(t *testing.T) {
	tab := show(t, dialogs)
	res := act(t, tab, page.Action{Kind: actiontable.KindType, Ref: refOf(t, tab, `"In"`), Text: "x"})
	if !res.BlockedByDialog {
		t.Fatalf("got %+v, want it blocked", res)
	}
	check.Must(t, tab.AnswerDialog(t.Context(), true, ""))
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
	check.Fails(t, check.Err(tab.Navigate(t.Context(), srv.URL)),
		nil, `the page shows an alert d1: "Loading"; accept or dismiss it first`)
	check.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "paragraph: b")
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
			check.Fails(t, err, nil, "not pending")
		}
	}
	if armed, err := tab.HandleDialog(t.Context(), page.DialogAnswer{ID: "d2", Accept: true, PromptText: "Bo"},
		0); err != nil || armed {
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

func TestScriptContinuesAfterItsDialog(t *testing.T) {
	tab := show(t, "")
	res := act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Fn: "window.answer = confirm('Sure?'); " +
		"window.after = 1"})
	if !res.BlockedByDialog {
		t.Fatalf("got %+v", res)
	}
	check.Must(t, tab.AnswerDialog(t.Context(), true, ""))
	browsertest.WantJS(t, tab, "[window.answer, window.after]", "[true,1]")
}

func TestPageThatOpensDialogsForEverCanBeLeft(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	srv := site(t, map[string]string{
		"/":   `<button onclick="for (;;) alert('again')">Loop</button><p>Text</p>`,
		"/ok": "<p>Fine",
	})
	tab, other := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL}),
		browsertest.Tab(t, b, page.TabOptions{URL: foreign(srv) + "/ok"})
	ref := refOf(t, tab, `"Loop"`)
	if res := click(t, tab, ref); !res.BlockedByDialog {
		t.Fatalf("got %+v", res)
	}
	for range 3 {
		check.Must(t, tab.AnswerDialog(t.Context(), true, ""))
		browsertest.Eventually(t, "a dialog waits", func() bool { return len(tab.Dialogs().Pending) == 1 })
	}
	check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})),
		nil, `"again"`)
	check.Contains(t, snapshot(t, other, page.SnapshotOptions{}).Text, "Fine")
	start := time.Now()
	if err := tab.Close(t.Context()); err != nil {
		t.Errorf("close: %v after %s", err, time.Since(start))
	}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func open(b *page.DialogLog[string], kind, from string, at time.Time) (page.Dialog, *page.DialogAnswer) {
	return b.Opened(page.Dialog{Type: kind, OpenedAt: at}, from)
}

func TestDialogsAreNumberedAndRemembered(t *testing.T) {
	var b page.DialogLog[string]
	if l := b.List(); l.Pending == nil || l.Recent == nil {
		t.Error("got nil lists, want empty ones")
	}
	for range 25 {
		d, answer := open(&b, "alert", "main", noon)
		if answer != nil {
			t.Fatalf("got %+v: nothing is answered by itself", answer)
		}
		if _, _, err := b.BeginAnswer(page.DialogAnswer{ID: d.ID}); err != nil {
			t.Fatal(err)
		}
		b.Close("main", noon.Add(time.Second))
	}
	l := b.List()
	if len(l.Pending) != 0 || len(l.Recent) != 20 || l.Recent[0].ID != "d6" || l.Recent[19].ID != "d25" {
		t.Errorf("got %+v", l)
	}
	if d := l.Recent[0]; d.ClosedBy != page.ClosedByAgent || !d.ClosedAt.Equal(noon.Add(time.Second)) {
		t.Errorf("got %+v", d)
	}
}

func TestPickFindsTheDialogThatIsMeant(t *testing.T) {
	var b page.DialogLog[string]
	if _, _, err := b.BeginAnswer(page.DialogAnswer{}); !errors.Is(err, page.ErrNoDialog) {
		t.Errorf("got %v", err)
	}
	if _, _, err := b.BeginAnswer(page.DialogAnswer{ID: "d1"}); !errors.Is(err, page.ErrNoDialog) ||
		!strings.Contains(err.Error(), "not pending") {
		t.Errorf("got %v", err)
	}
	open(&b, "alert", "main", noon)
	open(&b, "confirm", "frame", noon)
	_, _, err := b.BeginAnswer(page.DialogAnswer{})
	check.Fails(t, err, fault.ErrInvalid, "several dialogs are pending", "d1, d2")
	if _, _, err = b.BeginAnswer(page.DialogAnswer{ID: "d3"}); !strings.Contains(err.Error(), `"d3" is not pending`) {
		t.Errorf("got %v", err)
	}
	d, from, err := b.BeginAnswer(page.DialogAnswer{ID: "d2"})
	if err != nil || d.ID != "d2" || from != "frame" {
		t.Errorf("got %+v, %s, %v", d, from, err)
	}
	b.Close("frame", noon)
	if first, _ := b.Oldest(); first.ID != "d1" || b.IsPending("d2") {
		t.Errorf("got %+v, want the frame's dialog to be the one that closed", b.List())
	}
	b.AllClosed(noon)
	if l := b.List(); l.Recent[1].ClosedBy != page.ClosedByRemote {
		t.Errorf("got %+v, want it closed by somebody else", l.Recent)
	}
	b.Close("main", noon) // one that opened before us
}

func TestArmedAnswerIsForOneDialog(t *testing.T) {
	var b page.DialogLog[string]
	b.Arm(page.DialogAnswer{Accept: false}, noon, 0)
	b.Arm(page.DialogAnswer{Accept: true, PromptText: "Ada"}, noon, 0)
	_, answer := open(&b, "prompt", "main", noon.Add(time.Minute))
	if answer == nil || !answer.Accept || answer.PromptText != "Ada" {
		t.Fatalf("got %+v, want the last that was armed", answer)
	}
	if _, again := open(&b, "prompt", "main", noon.Add(time.Minute)); again != nil {
		t.Errorf("got %+v for the second dialog", again)
	}
	b.Close("main", noon)
	if d := b.List().Recent[0]; d.ClosedBy != page.ClosedByArmed {
		t.Errorf("got %+v", d)
	}
	for keep, valid := range map[time.Duration]time.Duration{
		0: page.MaxArmedTime, 1: page.MinArmedTime,
		time.Hour: page.MaxArmedTime,
	} {
		for _, late := range []bool{false, true} {
			b.Arm(page.DialogAnswer{}, noon, keep)
			at := noon.Add(valid - time.Millisecond)
			if late {
				at = noon.Add(valid)
			}
			if _, answer := open(&b, "alert", "main", at); (answer == nil) != late {
				t.Errorf("armed for %s, opened after %s: got %+v", keep, at.Sub(noon), answer)
			}
		}
	}
}

func TestLeavingAcceptsBeforeunloadAlone(t *testing.T) {
	var b page.DialogLog[string]
	open(&b, "beforeunload", "main", noon)
	open(&b, "alert", "frame", noon)
	if from := b.BeginUnload(); len(from) != 1 || from[0] != "main" {
		t.Errorf("got %v to accept", from)
	}
	if _, answer := open(&b, "beforeunload", "main", noon); answer == nil || !answer.Accept {
		t.Errorf("got %+v", answer)
	}
	if _, answer := open(&b, "confirm", "main", noon); answer != nil {
		t.Errorf("got %+v", answer)
	}
	if from := b.BeginClose(); len(from) != 2 {
		t.Errorf("got %v to dismiss, want the open ones that have no answer", from)
	}
	if _, answer := open(&b, "confirm", "main", noon); answer == nil || answer.Accept {
		t.Errorf("got %+v, want it dismissed while closing", answer)
	}
	b.EndUnload()
	if _, answer := open(&b, "beforeunload", "main", noon); answer != nil {
		t.Errorf("got %+v after leaving", answer)
	}
	b.UndoAnswer("d1")
	b.AllClosed(noon)
}
