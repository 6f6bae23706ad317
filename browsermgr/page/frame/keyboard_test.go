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

func TestChordsThatCopyAreKnown(t *testing.T) {
	control, err := frame.ModifierBits([]string{"Control"})
	browsertest.Must(t, err)
	for text, want := range map[string]bool{
		"Control+c": true, "ctrl+C": true, "Meta+c": true, "Control+x": true, "Cmd+X": true, "Control+Shift+c": true, "Control+Insert": true, "Shift+Delete": true,
		"c": false, "Shift+c": false, "Alt+c": false, "Insert": false, "Shift+Insert": false, "Delete": false, "Control+Delete": false, "Control+a": false, "Control+v": false,
	} {
		if got := chord(t, text).Copies(); got != want {
			t.Errorf("%s copies: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{"c": true, "X": true, "Insert": true, "v": false, "Delete": false} {
		if got := chord(t, text).WithModifiers(control).Copies(); got != want {
			t.Errorf("%s while Control is down copies: %v, want %v", text, got, want)
		}
	}
}
