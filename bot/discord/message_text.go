package discord

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"

	"clank/internal/untrusted"
)

// MaxMessageLength is the maximum length of a message, as [MessageLength] counts.
const MaxMessageLength = 2000

// MessageLength returns the length of s in UTF-16 units, which is at least what Discord counts.
func MessageLength(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// SplitMessage splits text into messages of at most limit characters, at line ends, else sentence ends, else spaces. A
// code block stays in one message if it fits; else each part becomes a block of its own. Only the space at the splits
// is lost.
func SplitMessage(text string, limit int) []string {
	var s splitter
	s.limit = limit
	for _, u := range splitUnits(strings.ToValidUTF8(text, "\uFFFD")) {
		s.add(u)
	}
	s.flush()
	return s.parts
}

// textUnit is a line, or a whole code block with its fences.
type textUnit struct {
	text  string
	fence string // the opening fence line, if it is a code block
}

func splitUnits(text string) []textUnit {
	var us []textUnit
	var block []string
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case block == nil && fence && strings.Count(line, "```") == 1:
			block = []string{line}
		case block != nil:
			block = append(block, line)
			if strings.Contains(line, "```") {
				us = append(us, textUnit{text: strings.Join(block, "\n"), fence: block[0]})
				block = nil
			}
		default:
			us = append(us, textUnit{text: line})
		}
	}
	if block != nil { // never closed: Discord shows it as a block to the end
		block = append(block, "```")
		us = append(us, textUnit{text: strings.Join(block, "\n"), fence: block[0]})
	}
	return us
}

type splitter struct {
	limit int
	parts []string
	now   strings.Builder
	size  int
	any   bool // unit is set, possibly to an empty line
}

func (s *splitter) add(u textUnit) {
	n := MessageLength(u.text)
	if s.any && s.size+1+n <= s.limit {
		s.now.WriteString("\n" + u.text)
		s.size += 1 + n
		return
	}
	if n <= s.limit {
		s.flush()
		s.now.WriteString(u.text)
		s.size, s.any = n, true
		return
	}
	if u.fence != "" {
		s.addBlock(u)
		return
	}
	s.flush()
	head, rest := cutLine(u.text, s.limit)
	s.emit(head)
	s.add(textUnit{text: rest})
}

// addBlock splits a block that is too long into several.
func (s *splitter) addBlock(u textUnit) {
	lines := strings.Split(u.text, "\n")
	open, last := lines[0], len(lines)-1
	if strings.TrimSpace(lines[last]) != "```" {
		last++ // there is code on the line that ends the block
	}
	body := strings.Join(lines[1:last], "\n")
	if MessageLength(open) > 40 { // a strange fence: not worth repeating
		body, open = open[3:]+"\n"+body, "```"
	}
	// No run of three backticks may be left, so that the parts contain no blocks.
	room := s.limit - MessageLength(open) - len("\n\n```")
	for _, part := range SplitMessage(strings.ReplaceAll(body, "``", "`\u200b`"), room) {
		s.flush()
		block := open + "\n" + part + "\n```"
		s.now.WriteString(block)
		s.size, s.any = MessageLength(block), true
	}
}

func (s *splitter) flush() {
	s.emit(strings.Trim(s.now.String(), "\n"))
	s.now.Reset()
	s.size, s.any = 0, false
}

// emit keeps a part, unless it is space alone, which Discord refuses.
func (s *splitter) emit(part string) {
	if strings.TrimSpace(part) != "" {
		s.parts = append(s.parts, part)
	}
}

// cutLine splits off at most limit characters of a line, at the end of a sentence if there is one in the last two
// thirds, else at a space, else between two characters.
func cutLine(line string, limit int) (head, rest string) {
	end := prefixLength(line, limit)
	at := 0
	for _, mark := range []string{". ", "! ", "? ", "。", "！", "？"} {
		if i := strings.LastIndex(line[:end], mark); i >= 0 {
			at = max(at, i+len(strings.TrimRight(mark, " ")))
		}
	}
	if at < end/3 {
		at = strings.LastIndex(line[:end], " ")
	}
	if at < end/3 {
		at = end
	}
	return strings.TrimRight(line[:at], " "), strings.TrimLeft(line[at:], " ")
}

// prefixLength returns the length in bytes of the longest front of s that has at most limit
// characters, at least one rune.
func prefixLength(s string, limit int) int {
	n := 0
	for i, r := range s {
		n += max(1, utf16.RuneLen(r))
		if n > limit && i > 0 {
			return i
		}
	}
	return len(s)
}

var markdownChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[\\\\*_~`|<>\\[\\]()#@:]") })

// EscapeLine returns s as one line of text that Discord shows unchanged, without markup, links, invitation cards
// or mentions, and in the order in which it is written, cut to at most n characters before escaping.
func EscapeLine(s string, n int) string {
	s = markdownChars().ReplaceAllString(untrusted.ShortenLine(dropBidiControls(s), n), `\$0`)
	return invitationPattern().ReplaceAllStringFunc(s, func(found string) string {
		return strings.ReplaceAll(found, "/", `\/`)
	})
}

// invitationPattern matches addresses that Discord shows as a card to click on even
// where previews are off.
var invitationPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)<?\b(?:https?://)?(?:[\w-]+\.)*(?:discord\.(?:gg|gift|new)|discord(?:app)?\.com/(?:invite|gifts?|template|events|activities))/[^\s<>()\x60]*>?`)
})

// dropBidiControls removes the characters that change the reading order of text and can disguise an address.
func dropBidiControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
}

// RevealLinks returns a model's answer in a safe form for people, because it may repeat what a page wanted them to see:
// links show their targets, invitations get no card, and no text runs backwards. Code is unchanged, because Discord
// shows it verbatim. If brackets nest so deeply that finding links takes long, the remaining ones are shown as
// brackets.
func RevealLinks(text string) string {
	text = dropBidiControls(text)
	left := maxLinkWork
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
		case '[', ']':
			if left <= 0 {
				flush(i)
				b.WriteByte('\\')
			}
			if left <= 0 || text[i] == ']' {
				i++
				continue
			}
			label, address, end, ok := parseMaskedLink(text, i)
			left -= end - i
			if !ok {
				i++
				continue
			}
			flush(i)
			left -= len(text) / copiesPerWork
			text = text[:i] + revealedLink(label, address) + text[end:] // again: the label may be or contain a link
		default:
			i++
		}
	}
	flush(len(text))
	return b.String()
}

const (
	maxLinkWork   = 16 << 20 // bytes that are read to find the ends of links, in one text
	copiesPerWork = 16       // bytes are copied in the time in which one is read
)

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

// parseMaskedLink parses [label](address) at i. end is where it ends, or, if there is none, how far was parsed.
func parseMaskedLink(s string, i int) (label, address string, end int, ok bool) {
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
				return "", "", j + 1, false
			}
			to, closed := closingParen(s, j+1)
			if !closed {
				return "", "", to, false
			}
			address, _, _ = strings.Cut(strings.TrimSpace(s[j+2:to]), " ")
			return s[i+1 : j], strings.Trim(address, "<>"), to + 1, true
		}
	}
	return "", "", len(s), false
}

// closingParen returns the index of the parenthesis that closes the one at i, on the same line; if there is none, the
// end of that line.
func closingParen(s string, i int) (at int, closed bool) {
	deep := 0
	for at = i; at < len(s) && s[at] != '\n'; at++ {
		switch s[at] {
		case '(':
			deep++
		case ')':
			if deep--; deep == 0 {
				return at, true
			}
		}
	}
	return at, false
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
