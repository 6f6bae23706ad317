package untrusted

import (
	"strings"
	"unicode"
)

// visible drops what a person does not see but a model reads, and what makes
// the order on screen differ from the order in memory; broken UTF-8 becomes
// U+FFFD, and every kind of line break \n.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case isBreak(r):
			return '\n'
		case r != '\t' && unicode.Is(unicode.Cc, r), isHidden(r):
			return -1
		}
		return r
	}, s)
}

func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// isHidden tells the characters in which text can be smuggled past a person:
// tags, variation selectors beyond the common 16, and bidirectional controls.
// Joiners stay: scripts and emoji need them.
func isHidden(r rune) bool {
	switch {
	case r >= 0xE0000 && r <= 0xE0FFF, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r == 0x200E || r == 0x200F || r == 0x061C || r == 0xFEFF
}
