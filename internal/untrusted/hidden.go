package untrusted

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRun is the number of consecutive hidden characters that are written out; further ones are counted.
const maxRun = 8

// normalizeLines converts all line breaks to \n, and invalid UTF-8 to U+FFFD.
func normalizeLines(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsAny(s, "\r\v\f\u0085\u2028\u2029") {
		return s
	}
	return lineBreaks.Replace(s)
}

var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// showHidden writes hidden characters, and those that change the display order, as \u{202E}. Characters that normal
// writing needs are kept: see [neededLength]. A soft hyphen within a word is dropped.
func showHidden(s string) string {
	at := nextHidden(s, 0)
	if at == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 64)
	done, run := 0, 0
	for ; at < len(s); at = nextHidden(s, at) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if at > done {
			b.WriteString(hiddenCount(run))
			run = 0
		}
		b.WriteString(s[done:at])
		keep := neededLength(s, at, r, size)
		switch {
		case keep > 0:
			b.WriteString(hiddenCount(run) + s[at:at+keep])
			size, run = keep, 0
		case r == softHyphen && hyphenates(s, at, size):
		default:
			if run++; run <= maxRun {
				// At least four digits, so that they are not read as letters of a marker.
				fmt.Fprintf(&b, `\u{%04X}`, r)
			}
		}
		at += size
		done = at
	}
	b.WriteString(hiddenCount(run))
	b.WriteString(s[done:])
	return b.String()
}

// hiddenCount returns a note about hidden characters of a run that were not written out.
func hiddenCount(run int) string {
	if run <= maxRun {
		return ""
	}
	return fmt.Sprintf("[%d more hidden characters]", run-maxRun)
}

// nextHidden returns the index of the first hidden character of s at or after at; the length of s if there is none.
func nextHidden(s string, at int) int {
	for at < len(s) {
		if c := s[at]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return at
			}
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if isHidden(r) {
			return at
		}
		at += size
	}
	return at
}

// isHidden reports whether a character shows nothing or only changes the display order. Private-use characters are
// not hidden: pages use them for icons.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0xA0:
		return r < ' ' || r >= 0x7f
	case r < 0x2000:
		// soft hyphen, combining grapheme joiner, Arabic letter mark, fillers, Khmer vowels, Mongolian selectors
		switch r {
		case softHyphen, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5:
			return true
		}
		return r >= 0x180B && r <= 0x180F
	case r < 0x2070: // zero-width characters, marks, embeddings, isolates, invisible operators
		return r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060
	case r < 0xFE00:
		return r == 0x2800 || r == 0x3164
	case r < 0xFFFC:
		return r <= 0xFE0F || r == 0xFEFF || r == 0xFFA0 || r >= 0xFFF0
	}
	return r >= 0x1D173 && r <= 0x1D17A || r >= 0x1BCA0 && r <= 0x1BCA3 || r >= 0xE0000 && r <= 0xE0FFF
}

const softHyphen = 0xAD

// hyphenates reports whether the soft hyphen at s[at:] has its normal use: within a word, with two letters on either
// side. Dropping it gives the text that a person sees.
func hyphenates(s string, at, size int) bool {
	r1, n := utf8.DecodeLastRuneInString(s[:at])
	r2, _ := utf8.DecodeLastRuneInString(s[:at-n])
	l1, n := utf8.DecodeRuneInString(s[at+size:])
	l2, _ := utf8.DecodeRuneInString(s[at+size+n:])
	return isLetter(r1) && isLetter(r2) && isLetter(l1) && isLetter(l2)
}

func isLetter(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.L, unicode.M) && !isHidden(r)
}
