package untrusted

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxWrapped is how many bytes of page text [Wrap] lets through at once.
const MaxWrapped = 200_000

// Truncate shortens s to whole lines of together at most limit bytes, or to whole characters where the first line
// alone is longer, and says in a last line how much is left out. The note comes on top of limit.
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

// CleanLine is [Clean] for one line of at most limit characters and an ellipsis, see [ShortenLine].
func CleanLine(s string, limit int) string {
	if most := limit * 16; len(s) > most { // it need not be cleaned whole
		s = strings.ToValidUTF8(s[:most], "")
	}
	return ShortenLine(Clean(s), limit+1)
}

// Shorten returns at most n characters of s. The last of them is an ellipsis where something is left out.
func Shorten(s string, n int) string {
	end, count := 0, 0
	for i := range s {
		switch count++; {
		case count == n:
			end = i
		case count > n:
			return s[:end] + "…"
		}
	}
	return s
}

// ShortenLine is [Shorten] for s on one line, and in valid UTF-8. Unlike [CleanLine] it leaves what s says as it is.
func ShortenLine(s string, n int) string {
	return Shorten(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "), n)
}
