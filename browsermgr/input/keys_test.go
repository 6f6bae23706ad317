package input_test

import (
	"clank/browsermgr/input"
	"testing"
)

func FuzzChord(f *testing.F) {
	for _, s := range []string{"a", "+", "Control++", "Shift+Tab", "++", "", "ctrl+alt+del", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		chord, err := input.ParseChord(s)
		if err == nil && len(chord.Events()) < 2 {
			t.Errorf("%q gives %d events", s, len(chord.Events()))
		}
	})
}
