package computeruse

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"clank/internal/untrusted"
)

// keyNames lists, for each key of the control API, the names that models use, in lower case and without underscores:
// those of OpenAI, X11 keysyms as xdotool takes them, and those of Gemini.
const keyNames = `
Enter: enter return kpenter linefeed numpadenter
Escape: escape esc
Tab: tab isolefttab
Space: space spacebar kpspace
Backspace: backspace back
Delete: delete del kpdelete
Insert: insert ins kpinsert
Home: home kphome begin
End: end kpend
PageUp: pageup pgup prior kpprior kppageup
PageDown: pagedown pgdn pgdown next kpnext kppagedown
ArrowUp: arrowup up uparrow kpup
ArrowDown: arrowdown down downarrow kpdown
ArrowLeft: arrowleft left leftarrow kpleft
ArrowRight: arrowright right rightarrow kpright
Control: control ctrl controlleft controlright controlormeta
Shift: shift shiftleft shiftright
Alt: alt option opt altleft altright altgr isolevel3shift
Meta: meta cmd command super win windows windowskey metaleft metaright os
CapsLock: capslock caps
ContextMenu: contextmenu menu apps
F1: f1
F2: f2
F3: f3
F4: f4
F5: f5
F6: f6
F7: f7
F8: f8
F9: f9
F10: f10
F11: f11
F12: f12
+: plus kpadd add
-: minus hyphen kpsubtract subtract
*: asterisk kpmultiply multiply
/: slash kpdivide divide
=: equal equals kpequal
.: period dot kpdecimal decimal
,: comma kpseparator
;: semicolon
:: colon
': apostrophe quoteright singlequote
": quotedbl doublequote
` + "`" + `: grave backquote quoteleft backtick
~: asciitilde tilde
!: exclam exclamation
@: at
#: numbersign hash pound
$: dollar
%: percent
^: asciicircum caret
&: ampersand
(: parenleft
): parenright
[: bracketleft
]: bracketright
{: braceleft
}: braceright
<: less
>: greater
?: question
|: bar pipe
_: underscore
\: backslash
0: kp0 numpad0
1: kp1 numpad1
2: kp2 numpad2
3: kp3 numpad3
4: kp4 numpad4
5: kp5 numpad5
6: kp6 numpad6
7: kp7 numpad7
8: kp8 numpad8
9: kp9 numpad9`

var keyTable = sync.OnceValue(func() map[string]string {
	table := make(map[string]string)
	for line := range strings.Lines(keyNames) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, names, _ := strings.Cut(line, ": ")
		for name := range strings.FieldsSeq(names) {
			table[name] = key
		}
	}
	return table
})

// modifierKeys returns the keys that can be held while another is pressed, in the
// order in which a chord names them.
func modifierKeys() []string { return []string{"Control", "Alt", "Shift", "Meta"} }

// ParseKey returns the control API's name of a key that a vendor's model calls name: "Enter" for "Return", "KP_Enter"
// or "RETURN". Case does not matter, except for single characters, which stand for themselves. The error is for the
// model.
func ParseKey(name string) (string, error) {
	if r, size := utf8.DecodeRuneInString(name); size > 0 && size == len(name) && r != utf8.RuneError {
		switch {
		case r == ' ':
			return "Space", nil
		case r == '\t':
			return "Tab", nil
		case r == '\r' || r == '\n':
			return "Enter", nil
		case r > ' ' && r != 0x7f:
			return name, nil
		}
	}
	plain := strings.ToLower(strings.TrimSpace(name))
	plain = strings.TrimSuffix(strings.TrimSuffix(plain, "_l"), "_r") // which side is no matter
	plain = strings.NewReplacer("_", "", " ", "", "-", "").Replace(plain)
	if key, ok := keyTable()[plain]; ok {
		return key, nil
	}
	return "", fmt.Errorf("unknown key %q: use a character, or a name such as Enter, Escape, PageDown, ArrowUp, ctrl+s",
		untrusted.Shorten(name, 40))
}

// ParseModifiers returns the control API's names of keys that are held during a mouse action. Each name may be several,
// joined by +. Keys other than Control, Alt, Shift and Meta are an error for the model.
func ParseModifiers(names []string) ([]string, error) {
	var held []string
	for _, name := range names {
		for _, part := range splitChord(name) {
			key, err := ParseKey(part)
			switch {
			case err != nil:
				return nil, err
			case !slices.Contains(modifierKeys(), key):
				return nil, fmt.Errorf("%s cannot be held during this action: only Control, Alt, Shift and Meta can", key)
			case !slices.Contains(held, key):
				held = append(held, key)
			}
		}
	}
	return held, nil
}

// ParseChords returns key presses in the control API's form, such as "Control+Shift+t", one after the other.
// Several names are the keys of one chord, in any of the forms ["CTRL", "A"], ["ctrl+a"]; a single one may be
// several chords with spaces between ("Down Down Return"). Letters of a chord without Shift are lower case, as a
// keyboard would send them. The error is for the model.
func ParseChords(names []string) ([]string, error) {
	if len(names) == 1 && strings.TrimSpace(names[0]) != "" && len(strings.Fields(names[0])) > 1 {
		if one, err := ParseKey(names[0]); err == nil { // "Page Up"
			return []string{one}, nil
		}
		var chords []string
		for part := range strings.FieldsSeq(names[0]) {
			c, err := joinChord([]string{part})
			if err != nil {
				return nil, err
			}
			chords = append(chords, c)
		}
		return chords, nil
	}
	c, err := joinChord(names)
	if err != nil {
		return nil, err
	}
	return []string{c}, nil
}

func joinChord(names []string) (string, error) {
	var held []string
	var last string
	for _, name := range names {
		for _, part := range splitChord(name) {
			key, err := ParseKey(part)
			switch {
			case err != nil:
				return "", err
			case slices.Contains(modifierKeys(), key):
				if !slices.Contains(held, key) {
					held = append(held, key)
				}
			case last != "":
				return "", fmt.Errorf("a chord presses one key beside Control, Alt, Shift and Meta, not both %s and %s: press "+
					"them one after the other", last, key)
			default:
				last = key
			}
		}
	}
	if last == "" && len(held) == 0 {
		return "", errors.New("the keys are missing")
	}
	if utf8.RuneCountInString(last) == 1 && len(held) > 0 && !slices.Contains(held, "Shift") {
		last = strings.ToLower(last)
	}
	var parts []string
	for _, m := range modifierKeys() {
		if slices.Contains(held, m) {
			parts = append(parts, m)
		}
	}
	if last != "" {
		parts = append(parts, last)
	}
	return strings.Join(parts, "+"), nil
}

// splitChord splits a chord at + signs; a + at the end is the key itself.
func splitChord(name string) []string {
	switch {
	case utf8.RuneCountInString(name) <= 1:
		return []string{name}
	case strings.HasSuffix(name, "++"):
		return append(strings.Split(strings.TrimSuffix(name, "++"), "+"), "+")
	}
	return strings.Split(name, "+")
}
