package frame_test

import (
	"errors"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"

	"github.com/google/go-cmp/cmp"
)

func TestValidateRefusesWhatDoesNotGoTogether(t *testing.T) {
	zero, below := 0, -1
	tests := []struct {
		opts frame.SnapshotOptions
		ok   bool
	}{
		{frame.SnapshotOptions{}, true},
		{frame.EfficientSnapshot(), true},
		{frame.SnapshotOptions{Refs: frame.RefsRole, Selector: "main", Frame: "iframe", Depth: &zero}, true},
		{frame.SnapshotOptions{Refs: frame.RefsAria}, true},
		{frame.SnapshotOptions{Refs: frame.RefsAria, Selector: "main"}, false},
		{frame.SnapshotOptions{Refs: frame.RefsAria, Frame: "iframe"}, false},
		{frame.SnapshotOptions{Refs: "other"}, false},
		{frame.SnapshotOptions{Depth: &below}, false},
	}
	for _, tt := range tests {
		if err := tt.opts.Validate(); (err == nil) != tt.ok || err != nil && !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%+v: got %v", tt.opts, err)
		}
	}
}

func TestEfficientMayBeChanged(t *testing.T) {
	opts := frame.EfficientSnapshot()
	*opts.Depth = 2
	opts.Interactive = false
	six := 6
	want := frame.SnapshotOptions{Refs: frame.RefsRole, Interactive: true, Compact: true, Depth: &six, MaxChars: 8000}
	if d := cmp.Diff(want, frame.EfficientSnapshot()); d != "" {
		t.Errorf("changed for everybody (-want +got)\n%s", d)
	}
}
