package plain

import (
	"regexp"
	"strings"
	"sync"
)

// keyNames are the keys by what people call them.
var keyNames = map[string]string{
	"enter": "Enter", "return": "Enter", "tab": "Tab", "escape": "Escape", "esc": "Escape",
	"space": "Space", "spacebar": "Space",
	"backspace": "Backspace", "delete": "Delete", "del": "Delete", "home": "Home", "end": "End", "insert": "Insert",
	"page up": "PageUp", "pageup": "PageUp", "page down": "PageDown", "pagedown": "PageDown",
	"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight",
	"arrow up": "ArrowUp", "arrow down": "ArrowDown", "arrow left": "ArrowLeft", "arrow right": "ArrowRight",
	"up arrow": "ArrowUp", "down arrow": "ArrowDown", "left arrow": "ArrowLeft", "right arrow": "ArrowRight",
	"arrowup": "ArrowUp", "arrowdown": "ArrowDown", "arrowleft": "ArrowLeft", "arrowright": "ArrowRight",
}

var functionKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^f(?:[1-9]|1[0-2])$`) })

// modifiers are the keys that are held while another is pressed.
var modifiers = map[string]string{
	"ctrl": "Control", "control": "Control", "strg": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt",
	"cmd": "Meta", "command": "Meta", "meta": "Meta",
}

// keyName returns the name that the browser has for what a person calls a key or a chord such as ctrl+a.
func keyName(words string) (string, bool) {
	if key, ok := keyNames[words]; ok {
		return key, true
	}
	if functionKey().MatchString(words) {
		return strings.ToUpper(words), true
	}
	held, last, found := cutLast(words, "+")
	if !found || last == "" {
		return "", false
	}
	var chord []string
	for m := range strings.SplitSeq(held, "+") {
		name, ok := modifiers[strings.TrimSpace(m)]
		if !ok {
			return "", false
		}
		chord = append(chord, name)
	}
	last = strings.TrimSpace(last)
	key, ok := keyName(last)
	if !ok && len([]rune(last)) == 1 {
		key, ok = last, true
	}
	return strings.Join(append(chord, key), "+"), ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+len(sep):], true
}
