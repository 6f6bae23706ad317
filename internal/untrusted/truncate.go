package untrusted

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxWrapped is how many bytes of page text [Wrap] lets through at once.
const MaxWrapped = 200_000

// Truncate shortens s to whole lines of together at most limit bytes, or to whole
// characters where the first line alone is longer, and says in a last line how
// much is left out. The note comes on top of limit.
func Truncate(s string, limit int) string {
	if limit < 0 || len(s) <= limit {
		return s
	}
	at := strings.LastIndexByte(s[:limit+1], '\n')
	if at <= 0 {
		for at = limit; at > 0 && !utf8.RuneStart(s[at]); at-- {
		}
	}
	return fmt.Sprintf("%s\n[TRUNCATED: %d of %d bytes shown]", s[:at], at, len(s))
}

// CleanLine is [Clean] for one line of at most limit runes: line breaks become
// spaces, and what is cut is told by an ellipsis.
func CleanLine(s string, limit int) string {
	if most := limit * 16; len(s) > most { // it need not be cleaned whole
		s = strings.ToValidUTF8(s[:most], "")
	}
	s = strings.Join(strings.Fields(Clean(s)), " ")
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
