package frame

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"clank/browsermgr/fault"

	"github.com/go-rod/rod/lib/proto"
)

// keyDef is a key of a US keyboard, with the names and codes of the UI Events specification.
type keyDef struct {
	name        string // KeyboardEvent.key
	code        string // KeyboardEvent.code
	keyCode     int    // Windows virtual key code
	text        string // the text it types; "" for none
	modifierBit int    // bit of a modifier key; 0 for others
}

var namedKeys = map[string]keyDef{
	"enter": {"Enter", "Enter", 13, "\r", 0}, "tab": {"Tab", "Tab", 9, "", 0}, "escape": {"Escape", "Escape", 27, "", 0},
	"backspace": {"Backspace", "Backspace", 8, "", 0}, "delete": {"Delete", "Delete", 46, "", 0},
	"insert": {"Insert", "Insert", 45, "", 0}, "space": {" ", "Space", 32, " ", 0},
	"arrowleft": {"ArrowLeft", "ArrowLeft", 37, "", 0}, "arrowup": {"ArrowUp", "ArrowUp", 38, "", 0},
	"arrowright": {"ArrowRight", "ArrowRight", 39, "", 0}, "arrowdown": {"ArrowDown", "ArrowDown", 40, "", 0},
	"home": {"Home", "Home", 36, "", 0}, "end": {"End", "End", 35, "", 0},
	"pageup": {"PageUp", "PageUp", 33, "", 0}, "pagedown": {"PageDown", "PageDown", 34, "", 0},
	"shift": {"Shift", "ShiftLeft", 16, "", 8}, "control": {"Control", "ControlLeft", 17, "", 2},
	"alt": {"Alt", "AltLeft", 18, "", 1}, "meta": {"Meta", "MetaLeft", 91, "", 4},
	"capslock": {"CapsLock", "CapsLock", 20, "", 0}, "contextmenu": {"ContextMenu", "ContextMenu", 93, "", 0},
	"f1": {"F1", "F1", 112, "", 0}, "f2": {"F2", "F2", 113, "", 0}, "f3": {"F3", "F3", 114, "", 0},
	"f4": {"F4", "F4", 115, "", 0},
	"f5": {"F5", "F5", 116, "", 0}, "f6": {"F6", "F6", 117, "", 0}, "f7": {"F7", "F7", 118, "", 0},
	"f8": {"F8", "F8", 119, "", 0},
	"f9": {"F9", "F9", 120, "", 0}, "f10": {"F10", "F10", 121, "", 0}, "f11": {"F11", "F11", 122, "", 0},
	"f12": {"F12", "F12", 123, "", 0},
}

var keyAliases = map[string]string{
	"esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "ctrl": "control", "controlormeta": "control",
	"cmd": "meta", "command": "meta", "super": "meta", "win": "meta", "option": "alt", "spacebar": "space", " ": "space",
	"left": "arrowleft", "right": "arrowright", "up": "arrowup", "down": "arrowdown", "pgup": "pageup", "pgdn": "pagedown",
	"pgdown": "pagedown",
}

// punctuationKeys are the keys of the US layout other than letters and digits: code, virtual key code, plain and
// shifted text.
var punctuationKeys = []struct {
	code    string
	num     int
	symbols string
}{
	{"Semicolon", 186, ";:"},
	{"Equal", 187, "=+"},
	{"Comma", 188, ",<"},
	{"Minus", 189, "-_"},
	{"Period", 190, ".>"},
	{"Slash", 191, "/?"},
	{"Backquote", 192, "`~"},
	{"BracketLeft", 219, "[{"},
	{"Backslash", 220, `\|`},
	{"BracketRight", 221, "]}"},
	{"Quote", 222, `'"`},
}

const shiftedDigits = ")!@#$%^&*("

// Chord is a key with the modifiers to hold while it is pressed.
type Chord struct {
	modifiers []keyDef
	key       keyDef
	heldBits  int // modifiers already held
}

// WithModifiers returns the chord for when these modifiers are already held; see [Modifiers].
func (c Chord) WithModifiers(bits int) Chord {
	c.heldBits = bits
	c.modifiers = slices.DeleteFunc(slices.Clone(c.modifiers), func(k keyDef) bool { return k.modifierBit&bits != 0 })
	return c
}

// ParseChord parses keys as Playwright names them: Enter, a, Control+Shift+T, and common abbreviations. The error wraps
// [fault.ErrInvalid].
func ParseChord(text string) (Chord, error) {
	var c Chord
	parts := splitChord(text)
	for i, part := range parts {
		k, ok := findKey(part)
		switch {
		case !ok && part == text:
			return c, unknownKey(part)
		case !ok:
			return c, fmt.Errorf("press %q: %w", text, unknownKey(part))
		case i == len(parts)-1:
			c.key = k
		case k.modifierBit == 0:
			return c, fault.Invalidf("press %q: %q is not a modifier; use Control, Shift, Alt or Meta before +", text, part)
		default:
			c.modifiers = append(c.modifiers, k)
		}
	}
	return c, nil
}

func unknownKey(name string) error {
	return fault.Invalidf("unknown key %q; use a character, or a name such as Enter, Escape, ArrowDown, Control+A", name)
}

// splitChord splits text at + signs; a + at the end is the key itself.
func splitChord(text string) []string {
	if text == "+" {
		return []string{"+"}
	}
	if head, ok := strings.CutSuffix(text, "++"); ok {
		return append(strings.Split(head, "+"), "+")
	}
	return strings.Split(text, "+")
}

func findKey(name string) (keyDef, bool) {
	if utf8.RuneCountInString(name) == 1 && name != " " {
		r, _ := utf8.DecodeRuneInString(name)
		return runeKey(r), r != utf8.RuneError
	}
	low := name
	if name != " " {
		low = normalizeName(name)
	}
	if full, ok := keyAliases[low]; ok {
		low = full
	}
	k, ok := namedKeys[low]
	return k, ok
}

// runeKey returns the key that types a character; its code is empty if the layout has none.
func runeKey(r rune) keyDef {
	text := string(r)
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		upper := unicode.ToUpper(r)
		return keyDef{name: text, code: "Key" + string(upper), keyCode: int(upper), text: text}
	case r >= '0' && r <= '9':
		return keyDef{name: text, code: "Digit" + text, keyCode: int(r), text: text}
	case r == '\n' || r == '\r':
		return namedKeys["enter"]
	case r == '\t':
		return namedKeys["tab"]
	case r == ' ':
		return namedKeys["space"]
	}
	if i := strings.IndexRune(shiftedDigits, r); i >= 0 {
		return keyDef{name: text, code: "Digit" + string(rune('0'+i)), keyCode: '0' + i, //nolint:gosec // ten digits
			text: text}
	}
	for _, p := range punctuationKeys {
		if strings.ContainsRune(p.symbols, r) {
			return keyDef{name: text, code: p.code, keyCode: p.num, text: text}
		}
	}
	return keyDef{name: text, text: text}
}

// RuneChord returns the chord that types a character.
func RuneChord(r rune) Chord { return Chord{key: runeKey(r)} }

// HasKey reports whether the layout has a key for the character; others are inserted as text.
func HasKey(r rune) bool { return runeKey(r).code != "" }

// EnterChord returns the Enter key.
func EnterChord() Chord { return Chord{key: namedKeys["enter"]} }

// DeleteChord returns the Delete key.
func DeleteChord() Chord { return Chord{key: namedKeys["delete"]} }

// Split returns the result of Events in two halves: pressing all keys, and releasing them.
func (c Chord) Split() (down, up []proto.Request) {
	events := c.Events()
	at := len(events) - 1 - len(c.modifiers)
	return events[:at], events[at:]
}

// Clipboard operations of chords.
const (
	EditCopy  = "copy"
	EditCut   = "cut"
	EditPaste = "paste"
)

// ClipboardEdit returns the chord's clipboard operation: [EditCopy], [EditCut], [EditPaste] or "".
func (c Chord) ClipboardEdit() string {
	bits := c.heldBits
	for _, k := range c.modifiers {
		bits |= k.modifierBit
	}
	return c.key.clipboardEdit(bits)
}

// ClipboardEdit returns the clipboard operation of a key, as named in UI Events, with these modifiers.
func ClipboardEdit(key string, modifiers int) string {
	return keyDef{name: key}.clipboardEdit(modifiers)
}

func (k keyDef) clipboardEdit(bits int) string {
	const shift, command = 8, 2 | 4 // Control or Meta
	key := strings.ToLower(k.name)
	switch {
	case bits&command != 0 && (key == "c" || key == "insert"):
		return EditCopy
	case bits&command != 0 && key == "x", bits&shift != 0 && key == "delete":
		return EditCut
	case bits&command != 0 && key == "v", bits&shift != 0 && key == "insert":
		return EditPaste
	}
	return ""
}

// Events returns the events of a keyboard for the chord: modifiers down, key down and up, modifiers up.
func (c Chord) Events() []proto.Request {
	var events []proto.Request
	bits := c.heldBits
	for _, k := range c.modifiers {
		bits |= k.modifierBit
		events = append(events, k.event(proto.InputDispatchKeyEventTypeRawKeyDown, bits, ""))
	}
	k := c.key.shifted(bits)
	events = append(events, k.press(bits), k.event(proto.InputDispatchKeyEventTypeKeyUp, bits, ""))
	for _, k := range slices.Backward(c.modifiers) {
		bits &^= k.modifierBit
		events = append(events, k.event(proto.InputDispatchKeyEventTypeKeyUp, bits, ""))
	}
	return events
}

// shifted returns the key with these modifiers.
func (k keyDef) shifted(bits int) keyDef {
	if bits&8 != 0 && len(k.text) == 1 && k.text >= "a" && k.text <= "z" {
		k.text, k.name = strings.ToUpper(k.text), strings.ToUpper(k.name)
	}
	return k
}

// press returns the event of pressing the key with these modifiers.
func (k keyDef) press(bits int) proto.InputDispatchKeyEvent {
	down, text := proto.InputDispatchKeyEventTypeKeyDown, k.text
	if text == "" || bits&^8 != 0 {
		down, text = proto.InputDispatchKeyEventTypeRawKeyDown, ""
	}
	event := k.event(down, bits|k.modifierBit, text)
	event.Commands = editorCommands(k, bits)
	return event
}

func (k keyDef) event(kind proto.InputDispatchKeyEventType, bits int, text string) proto.InputDispatchKeyEvent {
	return proto.InputDispatchKeyEvent{
		Type: kind, Key: k.name, Code: k.code, WindowsVirtualKeyCode: k.keyCode, Modifiers: bits, Text: text,
		UnmodifiedText: text,
	}
}

// noCommand is an editor command without effect. Without a command Chromium handles clipboard shortcuts itself, with
// the desktop's clipboard or one shared by all pages of its process; given this command it executes that instead.
const noCommand = "defaultParagraphSeparator"

// editorCommands returns the editor command of a shortcut, which Chromium does not find without a window system.
func editorCommands(k keyDef, bits int) []string {
	if k.clipboardEdit(bits) != "" {
		return []string{noCommand}
	}
	if bits&^8 != 2 && bits&^8 != 4 {
		return nil
	}
	switch strings.ToLower(k.name) {
	case "a":
		return []string{"selectAll"}
	case "z":
		if bits&8 != 0 {
			return []string{"redo"}
		}
		return []string{"undo"}
	case "y":
		return []string{"redo"}
	}
	return nil
}
