package conversation

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// What is said where there is more to read than to hear.
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

// stripMarkdown returns a sentence without its marks, and whether a link was among them. lineStart is set if it begins a line.
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
	for _, a := range []string{"Mr", "Mrs", "Ms", "Dr", "Prof", "St", "vs", "e.g", "i.e", "No", "approx", "ca", "z.B", "bzw", "Nr"} {
		if strings.EqualFold(w, a) {
			return true
		}
	}
	return false
}

// AsSentence makes an error or a reason a sentence.
func AsSentence(s string) string {
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

// escapeName returns a name that changes nothing in the Markdown around it, and calls nobody.
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
