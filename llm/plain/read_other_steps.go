package plain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxWait is the longest that one step may wait.
const maxWait = 30 * time.Second

var durationPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{1,6}(?:\.\d{1,3})?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)$`)
})

func readWait(p phrase, _ places) (step, error) {
	rest := p.after(1, "for", "until", "till", "a", "an", "the")
	switch words := rest.lower(); words {
	case "", "second", "moment", "bit":
		if !rest.quoted() {
			return step{act: actWait, n: 1000}, nil
		}
	default:
		if m := durationPattern().FindStringSubmatch(words); m != nil {
			return waitTime(m[1], m[2])
		}
	}
	s := step{act: actWait}
	for _, ending := range []struct {
		words []string
		gone  bool
	}{
		{[]string{"is", "gone"}, true},
		{[]string{"disappears"}, true},
		{[]string{"to", "disappear"}, true},
		{[]string{"has", "gone"}, true},
		{[]string{"appears"}, false},
		{[]string{"to", "appear"}, false},
		{[]string{"is", "there"}, false},
		{[]string{"shows"}, false},
	} {
		if n := len(rest) - len(ending.words); n > 0 && slices.Equal(strings.Fields(rest[n:].lower()), ending.words) {
			rest, s.gone = rest[:n], ending.gone
			break
		}
	}
	if rest.quoted() && len(rest) > 1 {
		return s, errUnknown
	}
	s.text = strings.TrimSpace(rest.text())
	if s.text == "" {
		return s, problem("say what text to wait for")
	}
	return s, nil
}

func waitTime(number, unit string) (step, error) {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return step{}, errUnknown
	}
	per := time.Second
	switch {
	case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
		per = time.Millisecond
	case strings.HasPrefix(unit, "m"):
		per = time.Minute
	}
	d := time.Duration(f * float64(per))
	if d > maxWait {
		return step{}, problem("I can wait 30 seconds at most")
	}
	return step{act: actWait, n: max(1, int(d.Milliseconds()))}, nil
}

// pageWords are what people call the page as a whole when they want it read.
var pageWords = []string{
	"", "it", "page", "text", "the page", "the text", "this page", "the whole page", "me the page", "everything", "all", "page text", "the page text",
	"the text of the page", "text of the page", "the content", "content", "what it says", "me what it says", "me what the page says", "it out", "it to me",
	"aloud", "it aloud", "the article", "contents", "the contents", "out", "the answer",
}

func readRead(p phrase, _ places) (step, error) {
	rest := p.after(1, "me")
	words := rest.lower()
	if !rest.quoted() && slices.Contains(pageWords, words) {
		return step{act: actRead}, nil
	}
	if isLinks(words) {
		return step{act: actLinks}, nil
	}
	if p.is(0, "get", "tell", "summarize", "summarise") && !rest.is(0, "the") && !rest.quoted() {
		return step{}, errUnknown
	}
	s := step{act: actRead}
	var ok bool
	if s.target, ok = readTarget(rest); !ok {
		return s, errUnknown
	}
	return s, nil
}

func isLinks(words string) bool {
	return slices.Contains([]string{"links", "the links", "all links", "all the links", "links of the page", "the links of the page", "every link"}, words)
}

// readShow reads what begins with list, show, look or what.
func readShow(p phrase, known places) (step, error) {
	rest := p.after(1, "me")
	words := rest.lower()
	switch {
	case isLinks(words):
		return step{act: actLinks}, nil
	case slices.Contains([]string{"tabs", "the tabs", "all tabs", "open tabs"}, words):
		return step{act: actTabs}, nil
	case p.is(0, "show") && isShot(rest), p.is(0, "show") && slices.Contains([]string{"", "it", "page", "the page", "this page", "how it looks"}, words) && !rest.quoted():
		return step{act: actShot}, nil
	case p.is(0, "look", "list") && slices.Contains([]string{"", "at the page", "at it", "around", "buttons", "the buttons", "what can be clicked"}, words) && !rest.quoted():
		return step{act: actLook}, nil
	case p.is(0, "what") && slices.Contains([]string{"is on the page", "can i click", "can be clicked", "is there"}, words):
		return step{act: actLook}, nil
	case p.is(0, "what") && slices.Contains([]string{"does it say", "does the page say"}, words):
		return step{act: actRead}, nil
	case p.is(0, "show") && rest.is(0, "the") && len(rest) > 1:
		return readRead(p, known)
	}
	return step{}, errUnknown
}

// isShot reports whether the words name a picture of the page.
func isShot(p phrase) bool {
	p = p.after(0, "a", "the", "another", "one")
	if p.is(1, "of") && len(p) > 2 {
		if !slices.Contains([]string{"it", "page", "the page", "this page", "this"}, p[2:].lower()) {
			return false
		}
		p = p[:1]
	}
	return len(p) == 1 && p.is(0, "screenshot", "picture", "photo", "snapshot", "image", "screenshots")
}

func readShot(p phrase, _ places) (step, error) {
	if isShot(p) || p.is(0, "take") && isShot(p.after(1)) || slices.Contains([]string{"screenshot it", "screenshot page", "screenshot the page"}, p.lower()) {
		return step{act: actShot}, nil
	}
	return step{}, errUnknown
}

// readTab reads "new tab" and "switch to tab t2".
func readTab(p phrase, known places) (step, error) {
	if p.is(0, "new") {
		if p.is(1, "tab") && len(p) == 2 {
			return step{act: actTabNew}, nil
		}
		if p.is(1, "tab") {
			u, err := readPlace(p.after(2, "with", "at", "for"), known)
			return step{act: actTabNew, text: u}, err
		}
		return step{}, errUnknown
	}
	rest := p.after(1, "to", "the")
	if rest.is(0, "tab") && len(rest) == 2 {
		return step{act: actTabSelect, text: rest[1].text}, nil
	}
	return step{}, problem("say which tab by its id, such as switch to tab t2; list the tabs to see them")
}

func readClose(p phrase, known places) (step, error) {
	rest := p.after(1, "the", "this", "it")
	switch words := rest.lower(); {
	case rest.quoted():
	case words == "", words == "browser", words == "session", words == "everything":
		return step{act: actClose}, nil
	case words == "tab":
		return step{act: actTabClose}, nil
	case rest.is(0, "tab") && len(rest) == 2:
		return step{act: actTabClose, text: rest[1].text}, nil
	}
	// Something on the page that is called "Close …".
	s, err := readClick(append(phrase{token{text: "click"}}, p...), known)
	return s, err
}

// readLogin reads "log in with shop": the name of a kept login.
func readLogin(p phrase, _ places) (step, error) {
	rest := p.after(1)
	if !p.is(0, "login") {
		if !rest.is(0, "in", "on") {
			return step{}, errUnknown
		}
		rest = rest.after(1)
	}
	if !rest.is(0, "with", "using") {
		return step{}, problem(`say with which kept login, such as log in with "shop"; to press what is called so, say click "Log in"`)
	}
	rest = rest.after(0, "with", "using", "the", "login", "my")
	if len(rest) == 0 {
		return step{}, problem(`say with which kept login, such as log in with "shop"`)
	}
	return step{act: actLogin, text: rest.text()}, nil
}

// keyNames are the keys by what people call them.
var keyNames = map[string]string{
	"enter": "Enter", "return": "Enter", "tab": "Tab", "escape": "Escape", "esc": "Escape", "space": "Space", "spacebar": "Space",
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
	"ctrl": "Control", "control": "Control", "strg": "Control", "shift": "Shift", "alt": "Alt", "option": "Alt", "cmd": "Meta", "command": "Meta", "meta": "Meta",
}

// keyName returns the name that the browser has for what a person calls a key
// or a chord such as ctrl+a.
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
