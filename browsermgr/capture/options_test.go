package capture_test

import (
	"errors"
	"testing"

	"clank/browsermgr/capture"
	"clank/browsermgr/fault"

	"github.com/google/go-cmp/cmp"
)

func TestValidateRefusesWhatDoesNotGoTogether(t *testing.T) {
	zero, below := 0, -1
	tests := []struct {
		opts capture.Options
		ok   bool
	}{
		{capture.Options{}, true},
		{capture.Efficient(), true},
		{capture.Options{Refs: capture.RefsRole, Selector: "main", Frame: "iframe", Depth: &zero}, true},
		{capture.Options{Refs: capture.RefsAria}, true},
		{capture.Options{Refs: capture.RefsAria, Selector: "main"}, false},
		{capture.Options{Refs: capture.RefsAria, Frame: "iframe"}, false},
		{capture.Options{Refs: "other"}, false},
		{capture.Options{Depth: &below}, false},
	}
	for _, tt := range tests {
		if err := tt.opts.Validate(); (err == nil) != tt.ok || err != nil && !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%+v: got %v", tt.opts, err)
		}
	}
}

func TestEfficientMayBeChanged(t *testing.T) {
	opts := capture.Efficient()
	*opts.Depth = 2
	opts.Interactive = false
	six := 6
	want := capture.Options{Refs: capture.RefsRole, Interactive: true, Compact: true, Depth: &six, MaxChars: 8000}
	if d := cmp.Diff(want, capture.Efficient()); d != "" {
		t.Errorf("changed for everybody (-want +got)\n%s", d)
	}
}
