package words

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// What is said where there is more to read than to hear.
const (
	InChat   = "I have put it in the chat."
	RestChat = "The rest is in the chat."
)

const maxSpoken = 700 // characters of an answer that are said; the rest is to be read

type marks struct {
	fence, link, url, head, emphasis, under, table *regexp.Regexp
}

var markdown = sync.OnceValue(func() marks {
	return marks{
		fence:    regexp.MustCompile("(?s)```.*?(```|$)"),
		link:     regexp.MustCompile(`!?\[([^\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)`),
		url:      regexp.MustCompile(`<?\bhttps?://[^\s<>]+>?`),
		head:     regexp.MustCompile(`(?m)^\s*(#{1,6}\s+|[-*+•]\s+|>\s?|-#\s+)`),
		emphasis: regexp.MustCompile("[*~`|]{1,3}"),
		under:    regexp.MustCompile(`(^|[\s(])_+|_+($|[\s).,!?])`),
		table:    regexp.MustCompile(`(?m)^\s*\|.*\|\s*$\n?`),
	}
})

// Spoken is the part of an answer that can be said, sentence by sentence. more is set if there is something that can only
// be read: a link, code, a table, or what is too long to be listened to.
func Spoken(answer string) (sentences []string, more bool) {
	m := markdown()
	text := answer
	for _, only := range []*regexp.Regexp{m.fence, m.table} {
		text = only.ReplaceAllString(text, " ")
	}
	text = m.link.ReplaceAllString(text, "$1")
	text = m.url.ReplaceAllString(text, "")
	more = m.fence.MatchString(answer) || m.table.MatchString(answer) || m.link.MatchString(answer) || m.url.MatchString(answer)
	text = m.head.ReplaceAllString(text, "")
	text = m.under.ReplaceAllString(m.emphasis.ReplaceAllString(text, ""), "$1$2")
	length := 0
	for _, s := range sentencesOf(text) {
		length += utf8.RuneCountInString(s)
		if length > maxSpoken && len(sentences) > 0 {
			return append(sentences, RestChat), true
		}
		sentences = append(sentences, s)
	}
	if more {
		sentences = append(sentences, InChat)
	}
	return sentences, more
}

// sentencesOf cuts text into sentences: after a full stop, question or exclamation mark that white space follows, and at line breaks.
// What is too long for one breath is cut at a comma or a space.
func sentencesOf(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		rest := strings.TrimSpace(line)
		for rest != "" {
			n := sentenceEnd(rest)
			if s := strings.TrimSpace(rest[:n]); Any(s) {
				out = append(out, s)
			}
			rest = strings.TrimSpace(rest[n:])
		}
	}
	return out
}

const maxSentence = 240 // bytes

// sentenceEnd is where the first sentence of s ends.
func sentenceEnd(s string) int {
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch {
		case strings.ContainsRune("。！？", r):
			return next
		case i > maxSentence && (r == ',' || r == ';' || unicode.IsSpace(r)):
			return next
		case !strings.ContainsRune(".!?…", r) || next >= len(s) || !unicode.IsSpace(rune(s[next])):
		case r == '.' && abbreviated(s[:i]):
		default:
			return next
		}
	}
	return len(s)
}

// abbreviated reports whether the word before a full stop is one that is written with it.
func abbreviated(s string) bool {
	w := s[strings.LastIndexAny(s, " (")+1:]
	if utf8.RuneCountInString(w) <= 1 {
		return true
	}
	for _, a := range []string{"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "vs", "e.g", "i.e", "No", "approx", "ca", "z.B", "bzw", "Nr"} {
		if strings.EqualFold(w, a) {
			return true
		}
	}
	return false
}

// Sentence makes an error or a reason a sentence.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	r, n := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(r)) + s[n:]
	if strings.ContainsAny(s[len(s)-1:], ".!?)") {
		return s
	}
	return s + "."
}

// Name is a name that changes nothing in the Markdown around it, and calls nobody.
func Name(name string) string {
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
