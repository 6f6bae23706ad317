package words

import (
	"slices"
	"strings"
	"unicode"
)

var (
	// ourName is how we are called, exactly.
	ourName = []string{"clank", "clanker", "clanky"}

	// misheard are words that recognisers write for it. They count only where somebody is called.
	misheard = []string{
		"klank", "clanc", "clang", "klang", "plank", "blank", "clink", "clunk", "crank", "flank", "planck", "claink", "clanks", "clenk", "clanck", "glank",
	}

	// openers may stand before a name that is called.
	openers = []string{"hey", "hi", "hello", "ok", "okay", "oh", "yo", "so", "and", "please", "um", "uh", "well", "alright"}

	// calls are the openers after which a name is certainly called.
	calls = []string{"hey", "hi", "hello", "ok", "okay", "yo"}
)

// word is a word of an utterance and where it stands.
type word struct {
	text       string // folded
	start, end int    // bytes
	before     bool   // a sign of punctuation stands between it and the word before, or it is the first
	after      bool   // the same after it
}

// split splits s at everything that is no letter, digit or apostrophe.
func split(s string) []word {
	var ws []word
	inside := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '\'' || r == '’'
	}
	for i := 0; i < len(s); {
		n := strings.IndexFunc(s[i:], inside)
		if n < 0 {
			break
		}
		start := i + n
		end := len(s)
		if m := strings.IndexFunc(s[start:], func(r rune) bool { return !inside(r) }); m >= 0 {
			end = start + m
		}
		sign := strings.TrimSpace(s[i:start]) != ""
		if len(ws) > 0 && sign {
			ws[len(ws)-1].after = true
		}
		ws = append(ws, word{text: strings.ToLower(s[start:end]), start: start, end: end, before: sign || len(ws) == 0})
		i = end
	}
	if len(ws) > 0 {
		ws[len(ws)-1].after = true
	}
	return ws
}

// Named reports whether text calls us by name, and what it says beside that: "hey clank, look up the ferries" and "look up the
// ferries, clank", but not "there was a loud clank in the kitchen". Misheard spellings count where a name is plainly called.
// Beside our own name there may be more; one may have several words.
func Named(text string, more []string) (named bool, rest string) {
	ws := split(text)
	first := 0
	for first < len(ws)-1 && slices.Contains(openers, ws[first].text) {
		first++
	}
	for i := range ws {
		like, n := isName(ws[i:], more)
		w, last := ws[i], ws[max(i, i+n-1)]
		atFront, atEnd := i == first, i+n == len(ws)
		called := i > 0 && slices.Contains(calls, ws[i-1].text)
		switch {
		case like == exactly && (atFront || called || atEnd && (w.before || i > 2) || w.before && last.after):
		case like == nearly && (atFront && (called || w.after && len(ws) > 1) || atEnd && w.before && i > 0):
		default:
			continue
		}
		return true, without(text, ws, i, n, first)
	}
	return false, text
}

// likeness says how much a word is a name of ours.
type likeness int

const (
	not likeness = iota
	nearly
	exactly
)

// isName says how much the first n of words are a name of ours.
func isName(ws []word, more []string) (like likeness, n int) {
	for _, name := range more {
		parts := Plain(name)
		same := len(parts) > 0 && len(parts) <= len(ws)
		for i := 0; same && i < len(parts); i++ {
			same = ws[i].text == parts[i]
		}
		if same {
			return exactly, len(parts)
		}
	}
	w := strings.TrimSuffix(strings.TrimSuffix(ws[0].text, "'s"), "’s")
	switch {
	case slices.Contains(ourName, w):
		return exactly, 1
	case slices.Contains(misheard, w):
		return nearly, 1
	}
	return not, 0
}

// without is text without the name of n words at i, and without the openers before it.
func without(text string, ws []word, i, n, first int) string {
	start := ws[i].start
	if i == first {
		start = 0
	} else if slices.Contains(calls, ws[i-1].text) {
		start = ws[i-1].start
	}
	before := strings.TrimRight(text[:start], " ,;:–—-")
	after := strings.TrimLeft(text[ws[i+n-1].end:], " ,;:.!–—-")
	if after == "?" {
		after = ""
	}
	return strings.TrimSpace(before + " " + after)
}

// leaveMeOut are ways to ask for that, beside the word itself.
var leaveMeOut = []string{"leave me out", "do not listen to me", "don't listen to me", "don’t listen to me", "stop listening to me"}

// IsPrivacy reports whether what is said to us asks to be left out.
func IsPrivacy(rest string) bool {
	said := Plain(rest)
	if slices.Contains(leaveMeOut, strings.Join(said, " ")) {
		return true
	}
	if len(said) > 3 || !slices.Contains(said, "privacy") {
		return false
	}
	return !slices.ContainsFunc(said, func(w string) bool { return slices.Contains([]string{"is", "what", "about", "policy", "whose"}, w) })
}
