package discord

import (
	"regexp"
	"strings"
	"sync"
)

// invitationPattern matches addresses that Discord shows as a card to click on even
// where previews are off.
var invitationPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<?\b(?:https?://)?(?:[\w-]+\.)*(?:discord\.(?:gg|gift|new)|discord(?:app)?\.com/(?:invite|gifts?|template|events|activities))/[^\s<>()\x60]*>?`)
})

// dropBidiControls drops the characters that make text read in another order than it is
// written, so that an address can look like another.
func dropBidiControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
}

// RevealLinks returns an answer of a model as people may see it: an answer may repeat
// what a page wanted them to see. A link shows where it leads, an invitation is
// no card, and nothing reads backwards. Code stays as it is, because Discord
// shows it so.
func RevealLinks(text string) string {
	text = dropBidiControls(text)
	var b strings.Builder
	prose := 0 // where the prose began that was not written yet
	flush := func(to int) {
		b.WriteString(invitationPattern().ReplaceAllStringFunc(text[prose:to], func(s string) string {
			return "`" + strings.Trim(s, "<>") + "`"
		}))
		prose = to
	}
	for i := 0; i < len(text); {
		switch text[i] {
		case '\\':
			i += 2
		case '`':
			end := findCodeEnd(text, i)
			if end > i {
				flush(i)
				b.WriteString(text[i:end])
				prose, i = end, end
				continue
			}
			i += countBackticks(text, i)
		case '[':
			label, address, end := parseMaskedLink(text, i)
			if end == 0 {
				i++
				continue
			}
			flush(i)
			text = text[:i] + revealedLink(label, address) + text[end:]
			i++ // the label may hold another
		default:
			i++
		}
	}
	flush(len(text))
	return b.String()
}

func countBackticks(s string, i int) int { return len(s[i:]) - len(strings.TrimLeft(s[i:], "`")) }

// findCodeEnd returns where the code ends that begins with the backticks at i; 0 if it
// does not end.
func findCodeEnd(s string, i int) int {
	n := countBackticks(s, i)
	for j := i + n; j < len(s); {
		at := strings.IndexByte(s[j:], '`')
		if at < 0 {
			return 0
		}
		j += at
		m := countBackticks(s, j)
		if m == n || n >= 3 && m >= 3 {
			return j + m
		}
		j += m
	}
	return 0
}

// parseMaskedLink reads [label](address) at i; end is 0 if there is none.
func parseMaskedLink(s string, i int) (label, address string, end int) {
	deep := 0
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case '[':
			deep++
		case ']':
			if deep--; deep > 0 {
				continue
			}
			if !strings.HasPrefix(s[j+1:], "(") {
				return "", "", 0
			}
			to := closingParen(s, j+1)
			if to == 0 {
				return "", "", 0
			}
			address, _, _ = strings.Cut(strings.TrimSpace(s[j+2:to]), " ")
			return s[i+1 : j], strings.Trim(address, "<>"), to + 1
		}
	}
	return "", "", 0
}

// closingParen returns the index of the parenthesis that closes the one at i, on the same
// line; 0 if there is none.
func closingParen(s string, i int) int {
	deep := 0
	for j := i; j < len(s) && s[j] != '\n'; j++ {
		switch s[j] {
		case '(':
			deep++
		case ')':
			if deep--; deep == 0 {
				return j
			}
		}
	}
	return 0
}

// revealedLink returns a link with its address for everybody to see, without a preview.
func revealedLink(label, address string) string {
	bare := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://"), "/")
	switch strings.TrimSpace(label) {
	case "", address, bare, bare + "/":
		return "<" + address + ">"
	}
	return strings.TrimSpace(label) + " (<" + address + ">)"
}
