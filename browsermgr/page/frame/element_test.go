package frame_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"
)

func TestNumbersFindTheDocumentsTheyWereGivenTo(t *testing.T) {
	main, far := frame.New(nil, "main", nil, ""), frame.New(nil, "far", nil, "")
	var n frame.DocumentNumbers
	if a, b, again := n.Number(main, "", 3), n.Number(far, "", 0), n.Number(main, "", 3); a != 1 || b != 2 || again != 1 {
		t.Errorf("got %d, %d, %d; want 1, 2, 1", a, b, again)
	}
	tests := []struct {
		ref   string
		frame *frame.Frame
		local string
	}{{"@e4", main, "e4"}, {"f1e5", main, "f3e5"}, {"f2e6", far, "e6"}}
	for _, tt := range tests {
		e, err := n.Find(main, tt.ref)
		if err != nil || e.Frame != tt.frame || e.LocalRef != tt.local {
			t.Errorf("%s: got %s in %v, %v", tt.ref, e.LocalRef, e.Frame == main, err)
		}
	}
	if _, err := n.Find(main, "f3e1"); !errors.Is(err, fault.ErrUnknownRef) {
		t.Errorf("got %v, want a document nobody met to be unknown", err)
	}
	if _, err := n.Find(main, "button"); !errors.Is(err, fault.ErrInvalid) {
		t.Errorf("got %v, want it refused", err)
	}
	if n.Number(far, "an earlier document", 0) != 3 {
		t.Error("another document has the same number")
	}
	if _, err := n.Find(main, "f3e1"); !errors.Is(err, fault.ErrUnknownRef) || !strings.Contains(err.Error(), "another document now") {
		t.Errorf("got %v, want the frame's new document named", err)
	}
}

func TestNumbersOfDocumentsThatWentAwayAreNotGivenAgain(t *testing.T) {
	main := frame.New(nil, "main", nil, "")
	var n frame.DocumentNumbers
	if got := n.Number(main, "", 1); got != 1 {
		t.Fatalf("got %d, want 1", got)
	}
	for want := 2; want < 200; want++ {
		gone := frame.New(nil, "gone", nil, "")
		if got := n.Number(gone, "its document", 0); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	}
	if e, err := n.Find(main, "f1e5"); err != nil || e.LocalRef != "f1e5" {
		t.Errorf("got %+v, %v; want what is still there to be found", e, err)
	}
	for _, ref := range []string{"f2e1", "f199e1"} {
		if _, err := n.Find(main, ref); !errors.Is(err, fault.ErrUnknownRef) || !strings.Contains(err.Error(), "another document now") {
			t.Errorf("%s: got %v, want it told that its document is gone", ref, err)
		}
	}
	if n.Number(main, "", 1) != 1 || n.Number(main, "", 2) != 200 {
		t.Error("what is still there got another number")
	}
	if got := n.Len(); got > 64 {
		t.Errorf("%d documents are kept", got)
	}
}

func TestExplainSaysWhatIsWrongAndTheWayOut(t *testing.T) {
	e := frame.Element{GivenRef: "e3"}
	cookie := &frame.ScriptError{Role: "dialog", Name: "Cookies", Hint: "div#c"}
	tests := []struct {
		err  error
		kind error
		want string
	}{
		{cdp.ErrDocumentGone, fault.ErrUnknownRef, "the page has navigated since; take a new snapshot"},
		{&frame.ScriptError{Code: "gone"}, fault.ErrUnknownRef, "take a new snapshot"},
		{&frame.ScriptError{Code: "covered", Role: "button", Name: "Buy", By: cookie}, fault.ErrNotInteractable, `e3 button "Buy" is covered by dialog "Cookies" (div#c): close`},
		{&frame.ScriptError{Code: "covered"}, fault.ErrNotInteractable, "lies outside"},
		{&frame.ScriptError{Code: "nooption", Text: "x", Options: []string{"a", "b"}}, fault.ErrNotInteractable, `has no option "x"; it has "a", "b"`},
		{&frame.ScriptError{Code: "selector"}, fault.ErrInvalid, "is not a CSS selector"},
	}
	for _, tt := range tests {
		got := e.Explain(tt.err)
		if !errors.Is(got, tt.kind) || !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.err, got, tt.want)
		}
	}
	if other := errors.New("other"); !errors.Is(e.Explain(other), other) {
		t.Error("a failure of ours is hidden")
	}
}

func TestScriptsEndBeforeTheirCaller(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got := frame.ScriptLimit(ctx, time.Second); got != time.Second {
		t.Errorf("got %s, want the limit where there is time", got)
	}
	if got := frame.ScriptLimit(ctx, time.Hour); got >= time.Minute || got < 50*time.Second {
		t.Errorf("got %s, want a little less than a minute", got)
	}
	late, cancelLate := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancelLate()
	if got := frame.ScriptLimit(late, time.Hour); got <= 0 {
		t.Errorf("got %s, want some time", got)
	}
}
