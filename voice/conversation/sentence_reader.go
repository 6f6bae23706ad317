package conversation

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"clank/internal/i18n"
)

const (
	maxSpokenChars = 700 // characters of an answer that are spoken; the rest is only written
	maxSentence    = 240 // bytes; longer sentences are split at a comma or a space
	maxOpenMarkup  = 600 // bytes of a sentence in which the end of a link or of code is waited for
)

// SentenceReader splits an answer, while it is being written, into sentences that can be spoken, each as soon as it is
// complete. The result does not depend on how the answer is split into pieces. What can only be read (links, code,
// tables, data) is left out, as are thoughts and tool calls that some models write into their answers. The zero value
// is ready.
type SentenceReader struct {
	Locale i18n.Locale // of what is added to it

	rest        string  // is not settled yet
	midLine     bool    // of a line, where no list, table or heading begins
	skipping    skipper // what rest begins inside of; nil: nothing
	spokenChars int     // characters of the sentences so far
	full        bool    // the rest is not spoken
	more        bool
	hidden      bool // thoughts or calls
}

// Write appends a piece and returns the sentences that are complete.
func (r *SentenceReader) Write(piece string) []string {
	r.rest += piece
	return r.read(false)
}

// DropRest forgets a sentence that is not whole, because the answer breaks off.
func (r *SentenceReader) DropRest() { r.rest, r.skipping, r.midLine = "", nil, false }

// HasUnspoken reports whether the answer so far contains something that can only be read.
func (r *SentenceReader) HasUnspoken() bool { return r.more || r.full }

// End ends the answer and returns the remaining sentences. more is set if there is something else to read; if anything
// has to be read, the last sentence says that it is in the chat.
func (r *SentenceReader) End(more bool) []string {
	out := r.read(true)
	r.more = r.more || more || r.hidden && r.spokenChars == 0
	switch {
	case r.full:
		return append(out, r.Locale.T(RestInChat))
	case r.more:
		return append(out, r.Locale.T(AnswerInChat))
	}
	return out
}

// read consumes the part of the rest that is decided.
func (r *SentenceReader) read(ended bool) (out []string) {
	for r.rest != "" {
		n, sayable := r.next(ended)
		if n == 0 {
			return out
		}
		if sayable {
			out = r.appendSpoken(out, r.rest[:n])
		}
		r.rest = r.rest[n:]
	}
	return out
}

// appendSpoken appends a sentence to those to be spoken.
func (r *SentenceReader) appendSpoken(out []string, raw string) []string {
	text, link := stripMarkdown(raw, !r.midLine)
	r.more, r.midLine = r.more || link, true
	if r.full || !HasWords(text) {
		return out
	}
	length := utf8.RuneCountInString(text)
	if r.full = r.spokenChars > 0 && r.spokenChars+length > maxSpokenChars; r.full {
		return out
	}
	r.spokenChars += length
	return append(out, text)
}

// next returns the length of the next part of the rest, and whether it can be spoken; zero if that is not known yet.
func (r *SentenceReader) next(ended bool) (n int, sayable bool) {
	if r.skipping != nil {
		n, over := r.skipping.advance(r.rest, ended)
		if !over {
			return n, false
		}
		if r.skipping = nil; n > 0 {
			return n, false
		}
	}
	if r.rest[0] == '\n' {
		r.midLine = false
		return 1, false
	}
	s, n, known := findSkip(r.rest, !r.midLine, ended)
	switch {
	case s != nil:
		r.skipping = s
		r.more, r.hidden = r.more || !s.hidden(), r.hidden || s.hidden()
		return n, false
	case !known:
		return 0, false
	}
	return r.sentenceEnd(ended), true
}

// sentenceEnd returns where the first sentence of the rest ends: after a full stop, question or exclamation mark
// followed by white space, or before a line break or skipped text, but not inside links and code. Sentences that are
// too long are cut.
func (r *SentenceReader) sentenceEnd(ended bool) int {
	var in markupState
	s := r.rest
	for i, c := range s {
		next := i + max(1, utf8.RuneLen(c))
		if c == utf8.RuneError {
			next = i + 1 // at least
		}
		if i > 0 {
			if c == '\n' {
				return i
			}
			if found, _, known := findSkip(s[i:], false, ended); found != nil {
				return i
			} else if !known {
				return 0
			}
		}
		in.advance(c)
		switch {
		case in.open() && i < maxOpenMarkup:
		case strings.ContainsRune("。！？", c):
			return next
		case i > maxSentence && (c == ',' || c == ';' || unicode.IsSpace(c)):
			return next
		case !strings.ContainsRune(".!?…", c) || next >= len(s) || !unicode.IsSpace(rune(s[next])):
		case c == '.' && (endsWithAbbreviation(s[:i]) || !r.midLine && isListNumber(s[:i])):
		default:
			return next
		}
	}
	if ended {
		return len(s)
	}
	return 0
}

// isListNumber reports whether s is the number of an entry in a list.
func isListNumber(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// markupState follows whether a place in a sentence is inside of a link or of code.
type markupState struct {
	code     bool
	brackets int
	parens   int  // of the address of a link
	closed   bool // a bracket, just now
}

func (p *markupState) open() bool { return p.code || p.brackets > 0 || p.parens > 0 }

func (p *markupState) advance(c rune) {
	closed := p.closed
	p.closed = false
	switch {
	case c == '`':
		p.code = !p.code
	case p.code:
	case c == '(' && (closed || p.parens > 0):
		p.parens++
	case c == ')' && p.parens > 0:
		p.parens--
	case p.parens > 0:
	case c == '[':
		p.brackets++
	case c == ']' && p.brackets > 0:
		p.brackets--
		p.closed = p.brackets == 0
	}
}

// skipper is something in an answer that is not said.
type skipper interface {
	// advance returns how much of rest belongs to the skipped text, and whether it ends there; zero if that is not known
	// yet.
	advance(rest string, ended bool) (n int, over bool)

	// hidden reports whether it is not meant for people.
	hidden() bool
}

// hiddenTags mark what models write that is not meant for people.
var hiddenTags = []string{
	"think", "thinking", "reasoning", "tool_call", "tool_calls", "tool_use", "tool_code", "function", "function_call",
	"function_calls", "invoke",
}

// findSkip returns the text that must be skipped and begins at s, and the length of its opening marks. lineStart is set
// at the start of a line. known is false if s may be the beginning of such marks.
func findSkip(s string, lineStart, ended bool) (found skipper, n int, known bool) {
	switch {
	case strings.HasPrefix(s, "```"):
		return skipUntil{end: "```"}, 3, true
	case s[0] == '`':
		return nil, 0, ended || strings.Trim(s, "`") != ""
	case s[0] == '<':
		return findTagSkip(s[1:], ended)
	case lineStart:
		return findLineSkip(s, ended)
	}
	return nil, 0, true
}

// findTagSkip finds skips as findSkip does, after a "<".
func findTagSkip(s string, ended bool) (found skipper, n int, known bool) {
	known = true
	for _, t := range hiddenTags {
		after, is := strings.CutPrefix(s, t)
		switch {
		case is && after != "" && strings.ContainsAny(after[:1], "> =\n"):
			return skipUntil{end: "</" + t + ">", internal: true}, 1 + len(t), true
		case !ended && strings.HasPrefix(t, s), !ended && is && after == "":
			known = false
		}
	}
	return nil, 0, known
}

// findLineSkip finds, as findSkip does, what begins only at the start of a line: tables and data.
func findLineSkip(s string, ended bool) (found skipper, n int, known bool) {
	text := strings.TrimLeft(s, " \t")
	if text == "" {
		return nil, 0, ended
	}
	indent := len(s) - len(text)
	if text[0] == '|' {
		return skipUntil{end: "\n", exclusive: true}, indent + 1, true
	}
	if text[0] == '<' || text[0] == '`' {
		found, n, known := findSkip(text, false, ended)
		if found != nil {
			n += indent
		}
		return found, n, known
	}
	if text[0] != '{' && text[0] != '[' {
		return nil, 0, true
	}
	after := strings.TrimLeft(text[1:], " \t\n")
	switch {
	case after == "":
		return nil, 0, ended
	case after[0] == '"' || text[0] == '[' && after[0] == '{':
		return &skipJSON{depth: 1}, indent + 1, true
	}
	return nil, 0, true
}

// skipUntil is what continues until some signs.
type skipUntil struct {
	end       string
	exclusive bool // the signs do not belong to it
	internal  bool
}

func (u skipUntil) hidden() bool { return u.internal }

func (u skipUntil) advance(rest string, ended bool) (n int, over bool) {
	at := strings.Index(rest, u.end)
	switch {
	case at >= 0 && u.exclusive:
		return at, true
	case at >= 0:
		return at + len(u.end), true
	case ended:
		return len(rest), true
	}
	return max(0, len(rest)-len(u.end)+1), false
}

type skipJSON struct {
	depth  int
	quoted bool
	escape bool
}

func (*skipJSON) hidden() bool { return false }

func (d *skipJSON) advance(rest string, ended bool) (n int, over bool) {
	for i := range len(rest) {
		switch c := rest[i]; {
		case d.escape:
			d.escape = false
		case d.quoted && c == '\\':
			d.escape = true
		case c == '"':
			d.quoted = !d.quoted
		case d.quoted:
		case c == '{' || c == '[':
			d.depth++
		case c == '}' || c == ']':
			d.depth--
		}
		if d.depth == 0 {
			return i + 1, true
		}
	}
	return len(rest), ended
}

// What is said if there is more to read than to hear.
const (
	AnswerInChat = "I have put it in the chat."
	RestInChat   = "The rest is in the chat."
)

type markdownPatterns struct {
	link, url, tag, head, emphasis, under *regexp.Regexp
}

var markdownRegexps = sync.OnceValue(func() markdownPatterns {
	return markdownPatterns{
		link:     regexp.MustCompile(`!?\[([^\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)`),
		url:      regexp.MustCompile(`<?\bhttps?://[^\s<>]+>?`),
		tag:      regexp.MustCompile(`</?[a-zA-Z@#:][^<>\n]{0,200}>`),
		head:     regexp.MustCompile(`^\s*(#{1,6}\s+|[-*+•]\s+|>\s?|-#\s+)`),
		emphasis: regexp.MustCompile("[*~`|]{1,3}"),
		under:    regexp.MustCompile(`(^|[\s(])_+|_+($|[\s).,!?])`),
	}
})

// stripMarkdown returns a sentence without its marks, and whether a link was among them. lineStart is set if it begins
// a line.
func stripMarkdown(raw string, lineStart bool) (text string, link bool) {
	m := markdownRegexps()
	link = m.link.MatchString(raw) || m.url.MatchString(raw)
	text = m.url.ReplaceAllString(m.link.ReplaceAllString(raw, "$1"), "")
	text = m.tag.ReplaceAllString(text, " ")
	if lineStart {
		text = m.head.ReplaceAllString(text, "")
	}
	text = m.under.ReplaceAllString(m.emphasis.ReplaceAllString(text, ""), "$1$2")
	return strings.TrimSpace(text), link
}

// endsWithAbbreviation reports whether the word before a full stop is one that is written with it.
func endsWithAbbreviation(s string) bool {
	w := s[strings.LastIndexAny(s, " (")+1:]
	if utf8.RuneCountInString(w) <= 1 {
		return true
	}
	for _, a := range []string{
		"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "vs", "e.g", "i.e", "No", "approx", "ca", "z.B",
		"bzw", "Nr",
	} {
		if strings.EqualFold(w, a) {
			return true
		}
	}
	return false
}

// escapeName returns a name that does not change the Markdown around it, and mentions nobody.
func escapeName(name string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(name), " ") {
		if strings.ContainsRune("\\*_~`|<>[]()@#:", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		if r == '@' {
			b.WriteRune('\u200b')
		}
	}
	return b.String()
}
