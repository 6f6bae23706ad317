package frame_test

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"
)

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
	if r.Publish(older, frame.RefSet{Mode: frame.RefModeTree, Bounds: bound(main, "e5")}) || r.Publish(newer, frame.RefSet{Mode: frame.RefModeTree}) {
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
	if e, err := r.Find(main, "ax2"); err == nil {
		t.Errorf("got %+v, want the tree of the document before forgotten", e)
	}
}

func TestRefsThatMeanNothingAreUnknown(t *testing.T) {
	main, far := frame.New(nil, "main", nil, ""), frame.New(nil, "far", nil, "")
	var r frame.RefRegistry
	bounds := append(bound(main, "f1e3", ""), frame.BoundElement{Frame: far, DocumentToken: "before", LocalRef: "e1"})
	r.Publish(r.BeginCapture(), frame.RefSet{Mode: frame.RefModeTree, Bounds: bounds})
	for ref, want := range map[string]string{"f1e1": "no snapshot", "ax2": "no element", "ax3": "another document", "ax4": "no snapshot"} {
		if _, err := r.Find(main, ref); !errors.Is(err, fault.ErrUnknownRef) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", ref, err, want)
		}
	}
	if e, err := r.Find(main, "AX1"); err != nil || e.LocalRef != "f1e3" || e.GivenRef != "ax1" {
		t.Errorf("got %+v, %v; want the tree's refs beside the others", e, err)
	}
	if _, err := r.Find(main, "axe"); !errors.Is(err, fault.ErrInvalid) {
		t.Errorf("got %v, want it refused", err)
	}
}

func TestBriefRefsEndWithAFrame(t *testing.T) {
	main := frame.New(nil, "main", nil, "")
	var r frame.RefRegistry
	for mode, holds := range map[frame.RefMode]bool{frame.RefModeStable: true, frame.RefModeUntilNavigation: false} {
		r.Publish(r.BeginCapture(), frame.RefSet{Mode: mode})
		if _, err := r.Find(main, "e1"); err != nil {
			t.Error(err)
		}
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
