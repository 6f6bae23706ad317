package frame_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
	"github.com/google/go-cmp/cmp"
)

func FuzzChord(f *testing.F) {
	for _, s := range []string{"a", "+", "Control++", "Shift+Tab", "++", "", "ctrl+alt+del", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		chord, err := frame.ParseChord(s)
		if err == nil && len(chord.Events()) < 2 {
			t.Errorf("%q gives %d events", s, len(chord.Events()))
		}
	})
}

// told returns a short form of key and mouse events.
func told(events []proto.Request) string {
	var out []string
	for _, ev := range events {
		switch ev := ev.(type) {
		case proto.InputDispatchKeyEvent:
			out = append(out, fmt.Sprintf("%s %s/%s/%d %q %d %v", ev.Type, ev.Key, ev.Code, ev.WindowsVirtualKeyCode, ev.Text,
				ev.Modifiers, ev.Commands))
		case proto.InputDispatchMouseEvent:
			out = append(out, fmt.Sprintf("%s %v,%v %s%d %d", ev.Type, ev.X, ev.Y, ev.Button, ev.ClickCount, ev.Modifiers))
		}
	}
	return strings.Join(out, "\n")
}

func TestChordsSendWhatAKeyboardSends(t *testing.T) {
	for text, want := range map[string][]string{
		"a":     {`keyDown a/KeyA/65 "a" 0 []`, `keyUp a/KeyA/65 "" 0 []`},
		"!":     {`keyDown !/Digit1/49 "!" 0 []`, `keyUp !/Digit1/49 "" 0 []`},
		"é":     {`keyDown é//0 "é" 0 []`, `keyUp é//0 "" 0 []`},
		"enter": {`keyDown Enter/Enter/13 "\r" 0 []`, `keyUp Enter/Enter/13 "" 0 []`},
		"Shift+Tab": {
			`rawKeyDown Shift/ShiftLeft/16 "" 8 []`, `rawKeyDown Tab/Tab/9 "" 8 []`, `keyUp Tab/Tab/9 "" 8 []`,
			`keyUp Shift/ShiftLeft/16 "" 0 []`,
		},
		"ctrl+shift+z": {
			`rawKeyDown Control/ControlLeft/17 "" 2 []`, `rawKeyDown Shift/ShiftLeft/16 "" 10 []`,
			`rawKeyDown Z/KeyZ/90 "" 10 [redo]`,
			`keyUp Z/KeyZ/90 "" 10 []`, `keyUp Shift/ShiftLeft/16 "" 2 []`, `keyUp Control/ControlLeft/17 "" 0 []`,
		},
	} {
		chord, err := frame.ParseChord(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		check.Diff(t, text, told(chord.Events()), strings.Join(want, "\n"))
		down, up := chord.Split()
		if d := cmp.Diff(told(chord.Events()), told(append(down, up...))); d != "" || !strings.HasPrefix(told(up), "keyUp") {
			t.Errorf("%q in halves (-want +got)\n%s", text, d)
		}
	}
	for text, want := range map[string]string{
		"": `unknown key ""; use`, "Foo": `unknown key "Foo"; use`, "\xff": `unknown key "\xff"`,
		"Shift+": `press "Shift+": unknown key ""; use`, "a+b": `press "a+b": "a" is not a modifier`,
		"Enter+a": `press "Enter+a": "Enter" is not a modifier`,
	} {
		if _, err := frame.ParseChord(text); !errors.Is(err, fault.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestMouseSendsWhatAMouseSends(t *testing.T) {
	bits, err := frame.ModifierBits([]string{"Shift", " ctrl"})
	check.Must(t, err)
	m := frame.Mouse{At: frame.Point{X: 3, Y: 4.5}, Button: "right", Modifiers: bits}
	got := told([]proto.Request{m.Move(false), m.Press(1), m.Release(1), m.Press(2), m.Release(2)})
	want := "mouseMoved 3,4.5 none0 10\nmousePressed 3,4.5 right1 10\nmouseReleased 3,4.5 right1 10\nmousePressed 3,4.5 " +
		"right2 10\nmouseReleased 3,4.5 right2 10"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if ev := (frame.Mouse{}).Press(1); ev.Button != proto.InputMouseButtonLeft {
		t.Errorf("got button %q, want left unless told otherwise", ev.Button)
	}
	if ev := (frame.Mouse{}).Move(true); ev.Buttons == nil || *ev.Buttons != 1 {
		t.Errorf("got %+v, want a drag to hold the left button", ev)
	}
	check.Fails(t, check.Err(frame.ModifierBits([]string{"Hyper"})), fault.ErrInvalid)
}

func chord(t *testing.T, text string) frame.Chord {
	t.Helper()
	c, err := frame.ParseChord(text)
	check.Must(t, err)
	return c
}

func TestAKeyboardKeepsWhatIsHeld(t *testing.T) {
	var b frame.Keyboard
	for _, tt := range []struct {
		name string
		got  string
		want []string
	}{
		{
			"down", told(b.Down(chord(t, "ctrl+Shift"))),
			[]string{`rawKeyDown Control/ControlLeft/17 "" 2 []`, `rawKeyDown Shift/ShiftLeft/16 "" 10 []`},
		},
		{"twice", told(b.Down(chord(t, "Shift"))), nil},
		{"with shift", told(b.Down(chord(t, "a"))), []string{`rawKeyDown A/KeyA/65 "" 10 [selectAll]`}},
		{"up", told(b.Up(chord(t, "Control"))), []string{`keyUp Control/ControlLeft/17 "" 8 []`}},
		{"a letter of the other case is the same key", told(b.Up(chord(t, "A"))), []string{`keyUp A/KeyA/65 "" 8 []`}},
	} {
		check.Diff(t, tt.name, tt.got, strings.Join(tt.want, "\n"))
	}
	if b.ModifierBits() != 8 || b.IsIdle() {
		t.Errorf("got %d held, free %v", b.ModifierBits(), b.IsIdle())
	}
	under := told(chord(t, "Shift+Control+z").WithModifiers(b.ModifierBits()).Events())
	want := []string{
		`rawKeyDown Control/ControlLeft/17 "" 10 []`, `rawKeyDown Z/KeyZ/90 "" 10 [redo]`, `keyUp Z/KeyZ/90 "" 10 []`,
		`keyUp Control/ControlLeft/17 "" 8 []`,
	}
	check.Diff(t, "a chord while Shift is held", under, strings.Join(want, "\n"))
	if b.Up(chord(t, "Shift")); !b.IsIdle() {
		t.Error("something is left")
	}
}

func TestOnlyCharactersOfTheLayoutAreTyped(t *testing.T) {
	for r, want := range map[rune]bool{
		'a': true, 'Z': true, '~': true, ' ': true, '\n': true, 'é': false, '世': false,
		'🎉': false,
	} {
		check.Equal(t, string(r), frame.HasKey(r), want)
	}
}

func TestChordsOfTheClipboardAreKnownAndNotSentAsCommands(t *testing.T) {
	const held = "Control "
	control, err := frame.ModifierBits([]string{"Control"})
	check.Must(t, err)
	for text, want := range map[string]string{
		"Control+c": "copy", "ctrl+C": "copy", "Meta+c": "copy", "Control+Shift+c": "copy", "Control+Insert": "copy",
		held + "c": "copy", held + "Insert": "copy",
		"Control+x": "cut", "Cmd+X": "cut", "Shift+Delete": "cut", held + "X": "cut",
		"Control+v": "paste", "Control+Shift+V": "paste", "Shift+Insert": "paste", held + "v": "paste",
		"c": "", "Shift+c": "", "Alt+c": "", "Insert": "", "Delete": "", "Control+Delete": "", "Control+a": "",
		held + "Delete": "", held + "b": "",
	} {
		c := chord(t, strings.TrimPrefix(text, held))
		if strings.HasPrefix(text, held) {
			c = c.WithModifiers(control)
		}
		check.Equal(t, text, c.ClipboardEdit(), want)
		if sent := told(c.Events()); strings.Contains(sent, "[copy]") || strings.Contains(sent, "[cut]") ||
			strings.Contains(sent, "[paste]") {
			t.Errorf("%s is sent as %s", text, sent)
		}
	}
}
