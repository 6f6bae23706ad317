package talk

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

// words splits s at everything that is no letter, digit or apostrophe.
func words(s string) []word {
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

// named reports whether text calls us by name, and what it says beside that: "hey clank, look up the ferries" and "look up the
// ferries, clank", but not "there was a loud clank in the kitchen". Misheard spellings count where a name is plainly called.
func (c *call) named(text string) (named bool, rest string) {
	ws := words(text)
	first := 0
	for first < len(ws)-1 && slices.Contains(openers, ws[first].text) {
		first++
	}
	for i, w := range ws {
		atFront, atEnd := i == first, i == len(ws)-1
		called := i > 0 && slices.Contains(calls, ws[i-1].text)
		switch n := c.isName(w.text); {
		case n == exactly && (atFront || called || atEnd && (w.before || i > 2) || w.before && w.after):
		case n == nearly && (atFront && (called || w.after && len(ws) > 1) || atEnd && w.before && i > 0):
		default:
			continue
		}
		return true, without(text, ws, i, first)
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

func (c *call) isName(w string) likeness {
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
	for _, n := range c.Manners.Names {
		if strings.EqualFold(n, w) {
			return exactly
		}
	}
	switch {
	case slices.Contains(ourName, w):
		return exactly
	case slices.Contains(misheard, w):
		return nearly
	}
	return not
}

// without is text without the name at i, and without the openers before it.
func without(text string, ws []word, i, first int) string {
	start := ws[i].start
	if i == first {
		start = 0
	} else if slices.Contains(calls, ws[i-1].text) {
		start = ws[i-1].start
	}
	before := strings.TrimRight(text[:start], " ,;:–—-")
	after := strings.TrimLeft(text[ws[i].end:], " ,;:.!–—-")
	if after == "?" {
		after = ""
	}
	return strings.TrimSpace(before + " " + after)
}

// leaveMeOut are ways to ask for that, beside the word itself.
var leaveMeOut = []string{"leave me out", "do not listen to me", "don't listen to me", "don’t listen to me", "stop listening to me"}

// isPrivacy reports whether what is said to us asks to be left out.
func isPrivacy(rest string) bool {
	said := plainWords(rest)
	if slices.Contains(leaveMeOut, strings.Join(said, " ")) {
		return true
	}
	if len(said) > 3 || !slices.Contains(said, "privacy") {
		return false
	}
	return !slices.ContainsFunc(said, func(w string) bool { return slices.Contains([]string{"is", "what", "about", "policy", "whose"}, w) })
}
