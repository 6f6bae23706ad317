package frame_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"
	"clank/internal/test/check"
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
	check.Fails(t, check.Err(n.Find(main, "f3e1")), fault.ErrUnknownRef)
	check.Fails(t, check.Err(n.Find(main, "button")), fault.ErrInvalid)
	if n.Number(far, "an earlier document", 0) != 3 {
		t.Error("another document has the same number")
	}
	check.Fails(t, check.Err(n.Find(main, "f3e1")), fault.ErrUnknownRef, "another document now")
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
		check.Fails(t, check.Err(n.Find(main, ref)), fault.ErrUnknownRef, "another document now")
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
	for _, tt := range []struct {
		err  error
		kind error
		want string
	}{
		{cdp.ErrDocumentGone, fault.ErrUnknownRef, "the page has navigated since; take a new snapshot"},
		{&frame.ScriptError{Code: "gone"}, fault.ErrUnknownRef, "take a new snapshot"},
		{
			&frame.ScriptError{Code: "covered", Role: "button", Name: "Buy", By: cookie}, fault.ErrNotInteractable,
			`e3 button "Buy" is covered by dialog "Cookies" (div#c), which would get it: close`,
		},
		{&frame.ScriptError{Code: "covered"}, fault.ErrNotInteractable, "lies outside"},
		{
			&frame.ScriptError{Code: "nooption", Text: "x", Options: []string{"a", "b"}}, fault.ErrNotInteractable,
			`has no option "x"; it has "a", "b"`,
		},
		{&frame.ScriptError{Code: "selector"}, fault.ErrInvalid, "is not a CSS selector"},
	} {
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

func bound(f *frame.Frame, locals ...string) []frame.BoundElement {
	out := make([]frame.BoundElement, len(locals))
	for i, local := range locals {
		out[i] = frame.BoundElement{Frame: f, LocalRef: local}
	}
	return out
}

func TestTheCaptureThatBeganLastCounts(t *testing.T) {
	main := frame.New(nil, "main", nil, "")
	var r frame.RefRegistry
	older, newer := r.BeginCapture(), r.BeginCapture()
	if !r.Publish(newer, frame.RefSet{Mode: frame.RefModeTree, Bounds: bound(main, "e9")}) {
		t.Error("the newer capture was refused")
	}
	if r.Publish(older, frame.RefSet{Mode: frame.RefModeTree, Bounds: bound(main, "e5")}) ||
		r.Publish(newer, frame.RefSet{Mode: frame.RefModeTree}) {
		t.Error("a capture took the place of a newer one, or of itself")
	}
	for _, ref := range []string{"ax1", "@AX1", "ref=ax1"} {
		if e, err := r.Find(main, ref); err != nil || e.LocalRef != "e9" || e.GivenRef != "ax1" {
			t.Errorf("%s: got %+v, %v", ref, e, err)
		}
	}
	early := r.BeginCapture()
	r.Reset()
	if r.Publish(early, frame.RefSet{Mode: frame.RefModeTree, Bounds: bound(main, "e1", "e2")}) {
		t.Error("a capture of the document before was published")
	}
	check.Fails(t, check.Err(r.Find(main, "ax2")), fault.ErrUnknownRef, "ax2")
}

func TestRefsThatMeanNothingAreUnknown(t *testing.T) {
	main, far := frame.New(nil, "main", nil, ""), frame.New(nil, "far", nil, "")
	var r frame.RefRegistry
	bounds := append(bound(main, "f1e3", ""), frame.BoundElement{Frame: far, DocumentToken: "before", LocalRef: "e1"})
	r.Publish(r.BeginCapture(), frame.RefSet{Mode: frame.RefModeTree, Bounds: bounds})
	for ref, want := range map[string]string{
		"f1e1": "no snapshot", "ax2": "not an element", "ax3": "another document",
		"ax4": "no snapshot",
	} {
		check.Fails(t, check.Err(r.Find(main, ref)), fault.ErrUnknownRef, want)
	}
	if e, err := r.Find(main, "AX1"); err != nil || e.LocalRef != "f1e3" || e.GivenRef != "ax1" {
		t.Errorf("got %+v, %v; want the tree's refs beside the others", e, err)
	}
	check.Fails(t, check.Err(r.Find(main, "axe")), fault.ErrInvalid)
}

func TestBriefRefsEndWithAFrame(t *testing.T) {
	main := frame.New(nil, "main", nil, "")
	var r frame.RefRegistry
	for mode, holds := range map[frame.RefMode]bool{frame.RefModeStable: true, frame.RefModeUntilNavigation: false} {
		r.Publish(r.BeginCapture(), frame.RefSet{Mode: mode})
		check.Must(t, check.Err(r.Find(main, "e1")))
		r.FrameNavigated()
		if _, err := r.Find(main, "e1"); (err == nil) != holds {
			t.Errorf("mode %d: got %v", mode, err)
		}
	}
}

func TestFamiliesAreRememberedByDocument(t *testing.T) {
	var r frame.RefRegistry
	seen := frame.SeenElements{Document: "one", Elements: map[string]struct{}{"e1": {}}}
	r.Publish(r.BeginCapture(), frame.RefSet{Family: "a", Seen: seen})
	r.Publish(r.BeginCapture(), frame.RefSet{})
	if got, ok := r.Previous("a", "one"); !ok || len(got) != 1 {
		t.Errorf("got %v, %v", got, ok)
	}
	for _, tt := range [][2]string{{"a", "two"}, {"b", "one"}, {"", "one"}} {
		if _, ok := r.Previous(tt[0], tt[1]); ok {
			t.Errorf("family %q, document %q: got something to compare with", tt[0], tt[1])
		}
	}
	for i := range 100 {
		r.Publish(r.BeginCapture(), frame.RefSet{Family: strings.Repeat("x", i+1), Seen: seen})
	}
	if _, ok := r.Previous("a", "one"); ok {
		t.Error("families are kept for ever")
	}
	r.Publish(r.BeginCapture(), frame.RefSet{Family: "a", Seen: seen})
	r.Reset()
	if _, ok := r.Previous("a", "one"); ok {
		t.Error("a navigation did not begin anew")
	}
}

func TestValidateRefusesWhatDoesNotGoTogether(t *testing.T) {
	zero, below := 0, -1
	for _, tt := range []struct {
		opts frame.SnapshotOptions
		ok   bool
	}{
		{frame.SnapshotOptions{}, true},
		{frame.SnapshotOptions{Refs: frame.RefsRole, Selector: "main", Frame: "iframe", Depth: &zero}, true},
		{frame.SnapshotOptions{Refs: frame.RefsAria}, true},
		{frame.SnapshotOptions{Refs: frame.RefsAria, Selector: "main"}, false},
		{frame.SnapshotOptions{Refs: frame.RefsAria, Frame: "iframe"}, false},
		{frame.SnapshotOptions{Refs: "other"}, false},
		{frame.SnapshotOptions{Depth: &below}, false},
	} {
		if err := tt.opts.Validate(); (err == nil) != tt.ok || err != nil && !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%+v: got %v", tt.opts, err)
		}
	}
}

const outer = `[
	{"nodeId":"1","role":{"value":"RootWebArea"},"name":{"value":"Top"},"childIds":["2","4"],"backendDOMNodeId":1},
	{"nodeId":"2","ignored":true,"role":{"value":"none"},"childIds":["3"]},
	{"nodeId":"3","role":{"value":"slider"},"name":{"value":""},"value":{"value":4.5},"description":{"value":"how much"},"childIds":["9","1"],"backendDOMNodeId":3},
	{"nodeId":"4","role":{"value":"Iframe"},"name":{"value":"In"},"childIds":[],"backendDOMNodeId":7}
]`

const inner = `[
	{"nodeId":"1","role":{"value":"RootWebArea"},"name":{},"childIds":["2"],"backendDOMNodeId":11},
	{"nodeId":"2","role":{},"name":{"value":"odd"},"childIds":["3"],"backendDOMNodeId":12},
	{"nodeId":"3","role":{"value":"InlineTextBox"},"name":{"value":"odd"}}
]`

func TestFlattenPutsFramesInTheirPlacesAndLeavesOutWhatIsIgnored(t *testing.T) {
	want := []frame.AccessibilityNode{
		{Ref: "ax1", Role: "RootWebArea", Name: "Top", BackendDOMNodeID: 1},
		{Ref: "ax2", Role: "slider", Value: "4.5", Description: "how much", BackendDOMNodeID: 3, Depth: 1},
		{Ref: "ax3", Role: "Iframe", Name: "In", BackendDOMNodeID: 7, Depth: 1},
		{Ref: "ax4", Role: "RootWebArea", BackendDOMNodeID: 11, Depth: 2},
		{Ref: "ax5", Role: "unknown", Name: "odd", BackendDOMNodeID: 12, Depth: 3},
	}
	for _, limit := range []int{2, 4, 100} {
		got, err := frame.FlattenTree(outer, inner, limit)
		check.Must(t, err)
		check.Diff(t, fmt.Sprintf("limit %d", limit), got, want[:min(limit, len(want))])
	}
}

func FuzzFlatten(f *testing.F) {
	f.Add(outer, inner, 100)
	f.Add(`[{"nodeId":"1","childIds":["1","2"]},{"nodeId":"2","childIds":["1"]}]`, `[]`, 3)
	f.Fuzz(func(t *testing.T, outer, inner string, limit int) {
		if limit < 1 || limit > 2000 {
			return
		}
		nodes, err := frame.FlattenTree(outer, inner, limit)
		if err != nil {
			return
		}
		if len(nodes) > limit {
			t.Errorf("got %d nodes for a limit of %d", len(nodes), limit)
		}
		for i, n := range nodes {
			if n.Role == "" || i > 0 && n.Depth > nodes[i-1].Depth+1 {
				t.Errorf("node %d: got %+v after %+v", i, n, nodes[max(i-1, 0)])
			}
		}
	})
}
