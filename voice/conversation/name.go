package conversation

import (
	"slices"
	"strings"
	"unicode"

	"clank/internal/untrusted"
)

var (
	// ownNames is how we are called, exactly.
	ownNames = []string{"clank", "clanker", "clanky"}

	// misheardNames are transcriptions that recognisers produce for our name. They count only where someone is addressed.
	misheardNames = []string{
		"klank", "clanc", "clang", "klang", "plank", "blank", "clink", "clunk", "crank", "flank", "planck", "claink",
		"clanks", "clenk", "clanck", "glank",
	}

	// openingWords may stand before a name that is called.
	openingWords = []string{
		"hey", "hi", "hello", "ok", "okay", "oh", "yo", "so", "and", "please", "um", "uh", "well",
		"alright",
	}

	// callingWords are the openers after which a name is certainly called.
	callingWords = []string{"hey", "hi", "hello", "ok", "okay", "yo"}
)

// textWord is a word of an utterance and its position.
type textWord struct {
	text       string // folded
	start, end int    // bytes
	before     bool   // it is the first word, or punctuation is before it
	after      bool   // the same after it
}

// splitWords splits s at everything that is no letter, digit or apostrophe.
func splitWords(s string) []textWord {
	var ws []textWord
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
		ws = append(ws, textWord{text: strings.ToLower(s[start:end]), start: start, end: end, before: sign || len(ws) == 0})
		i = end
	}
	if len(ws) > 0 {
		ws[len(ws)-1].after = true
	}
	return ws
}

// CutName reports whether text addresses us by name, and returns the rest: it does for "hey clank, look up the ferries"
// and "look up the ferries, clank", but not for "there was a loud clank in the kitchen". Misheard spellings count where
// a name is clearly used as an address. more are further names, which may have several words.
func CutName(text string, more []string) (named bool, rest string) {
	ws := splitWords(text)
	first := 0
	for first < len(ws)-1 && slices.Contains(openingWords, ws[first].text) {
		first++
	}
	for i := range ws {
		like, n := matchName(ws[i:], more)
		w, last := ws[i], ws[max(i, i+n-1)]
		atFront, atEnd := i == first, i+n == len(ws)
		called := i > 0 && slices.Contains(callingWords, ws[i-1].text)
		switch {
		case like == exactMatch && (atFront || called || atEnd && (w.before || i > 2) || w.before && last.after):
		case like == nearMatch && (atFront && (called || w.after && len(ws) > 1) || atEnd && w.before && i > 0):
		default:
			continue
		}
		return true, removeName(text, ws, i, n, first)
	}
	return false, text
}

// nameMatch is how well a word matches a name of ours.
type nameMatch int

const (
	noMatch nameMatch = iota
	nearMatch
	exactMatch
)

// matchName returns how well the first n words match a name of ours.
func matchName(ws []textWord, more []string) (like nameMatch, n int) {
	for _, name := range more {
		parts := plainWords(name)
		same := len(parts) > 0 && len(parts) <= len(ws)
		for i := 0; same && i < len(parts); i++ {
			same = ws[i].text == parts[i]
		}
		if same {
			return exactMatch, len(parts)
		}
	}
	w := strings.TrimSuffix(strings.TrimSuffix(ws[0].text, "'s"), "’s")
	switch {
	case slices.Contains(ownNames, w):
		return exactMatch, 1
	case slices.Contains(misheardNames, w):
		return nearMatch, 1
	}
	return noMatch, 0
}

// removeName returns text without the name of n words at i and the openers before it.
func removeName(text string, ws []textWord, i, n, first int) string {
	start := ws[i].start
	if i == first {
		start = 0
	} else if slices.Contains(callingWords, ws[i-1].text) {
		start = ws[i-1].start
	}
	before := strings.TrimRight(text[:start], " ,;:–—-")
	after := strings.TrimLeft(text[ws[i+n-1].end:], " ,;:.!–—-")
	if after == "?" {
		after = ""
	}
	return strings.TrimSpace(before + " " + after)
}

// optOutPhrases are further ways to ask for that.
var optOutPhrases = []string{
	"leave me out", "do not listen to me", "don't listen to me", "don’t listen to me",
	"stop listening to me",
}

// IsOptOutRequest reports whether a text that is addressed to us asks to opt out.
func IsOptOutRequest(rest string) bool {
	said := plainWords(rest)
	if slices.Contains(optOutPhrases, strings.Join(said, " ")) {
		return true
	}
	if len(said) > 3 || !slices.Contains(said, "privacy") {
		return false
	}
	return !slices.ContainsFunc(said, func(w string) bool {
		return slices.Contains([]string{"is", "what", "about", "policy", "whose"}, w)
	})
}

// HasWords reports whether s contains more than punctuation.
func HasWords(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// plainWords returns the words of s, in small letters.
func plainWords(s string) []string {
	ws := splitWords(s)
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = w.text
	}
	return out
}

// commonWords returns the length of the longest sequence of words that both have in that order.
func commonWords(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, w := range a {
		last := 0 // of the row above, one to the left
		for j, v := range b {
			above := row[j+1]
			if w == v {
				row[j+1] = last + 1
			} else {
				row[j+1] = max(row[j], above)
			}
			last = above
		}
	}
	return row[len(b)]
}

// maxLabel is how many characters a [taskLabel] has of a request.
const maxLabel = 60

// taskLabel returns a spoken request in a few words, as people read it in a list of what runs.
func taskLabel(text string) string {
	return "spoken: " + untrusted.ShortenLine(text, maxLabel)
}
