package frame_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page/frame"
	"clank/internal/test/browsertest"

	"github.com/google/go-cmp/cmp"
)

func chord(t *testing.T, text string) frame.Chord {
	t.Helper()
	c, err := frame.ParseChord(text)
	browsertest.Must(t, err)
	return c
}

func TestAKeyboardKeepsWhatIsHeld(t *testing.T) {
	var b frame.Keyboard
	for _, tt := range []struct {
		name string
		got  string
		want []string
	}{
		{"down", told(b.Down(chord(t, "ctrl+Shift"))), []string{`rawKeyDown Control/ControlLeft/17 "" 2 []`, `rawKeyDown Shift/ShiftLeft/16 "" 10 []`}},
		{"twice", told(b.Down(chord(t, "Shift"))), nil},
		{"with shift", told(b.Down(chord(t, "a"))), []string{`rawKeyDown A/KeyA/65 "" 10 [selectAll]`}},
		{"up", told(b.Up(chord(t, "Control"))), []string{`keyUp Control/ControlLeft/17 "" 8 []`}},
		{"a letter of the other case is the same key", told(b.Up(chord(t, "A"))), []string{`keyUp A/KeyA/65 "" 8 []`}},
	} {
		if d := cmp.Diff(strings.Join(tt.want, "\n"), tt.got); d != "" {
			t.Errorf("%s (-want +got)\n%s", tt.name, d)
		}
	}
	if b.ModifierBits() != 8 || b.IsIdle() {
		t.Errorf("got %d held, free %v", b.ModifierBits(), b.IsIdle())
	}
	under := told(chord(t, "Shift+Control+z").WithModifiers(b.ModifierBits()).Events())
	want := []string{
		`rawKeyDown Control/ControlLeft/17 "" 10 []`, `rawKeyDown Z/KeyZ/90 "" 10 [redo]`, `keyUp Z/KeyZ/90 "" 10 []`, `keyUp Control/ControlLeft/17 "" 8 []`,
	}
	if d := cmp.Diff(strings.Join(want, "\n"), under); d != "" {
		t.Errorf("a chord while Shift is held (-want +got)\n%s", d)
	}
	if b.Up(chord(t, "Shift")); !b.IsIdle() {
		t.Error("something is left")
	}
}

func TestOnlyCharactersOfTheLayoutAreTyped(t *testing.T) {
	for r, want := range map[rune]bool{'a': true, 'Z': true, '~': true, ' ': true, '\n': true, 'é': false, '世': false, '🎉': false} {
		if got := frame.HasKey(r); got != want {
			t.Errorf("%q: got %v", r, got)
		}
	}
}
