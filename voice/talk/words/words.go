// Package words tells what can be told of words without understanding them: whether we are called by name, whether two texts are the
// same speech, and what of an answer can be said aloud.
//
// Stop phrases are not its business but that of package cancel.
package words

import (
	"strings"
	"unicode"
)

// Any reports whether there is more in s than signs.
func Any(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// Plain are the words of s, in small letters.
func Plain(s string) []string {
	ws := split(s)
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = w.text
	}
	return out
}

// Common is the length of the longest sequence of words that both have in that order.
func Common(a, b []string) int {
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

// maxLabel is how many characters a [Label] has of a request.
const maxLabel = 60

// Label is a spoken request in a few words, as people read it in a list of what runs.
func Label(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > maxLabel {
		return "spoken: " + string(r[:maxLabel-1]) + "…"
	}
	return "spoken: " + string(r)
}
