package conversation

import (
	"strings"
	"unicode"

	"clank/internal/untrusted"
)

// HasWords reports whether there is more in s than signs.
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
