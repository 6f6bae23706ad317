// Package wording makes written text fit to be spoken: without Markdown, addresses, code and pictures made of characters,
// and in sentences, so that the first can be heard while the others are still on their way. It does not translate, shorten what is
// meant, or know who speaks.
package wording

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

var (
	fence    = regexp.MustCompile("(?s)```.*?(```|$)")
	code     = regexp.MustCompile("`([^`\n]*)`")
	image    = regexp.MustCompile(`!\[([^\]\n]*)\]\([^)\s]*[^)\n]*\)`)
	link     = regexp.MustCompile(`\[([^\]\n]+)\]\([^)\n]*\)`)
	address  = regexp.MustCompile(`<?\bhttps?://[^\s<>)\]]+>?`)
	discord  = regexp.MustCompile(`<(?:@[!&]?|#|a?:(\w+):)\d+>`)
	heading  = regexp.MustCompile(`(?m)^[ \t]{0,3}#{1,6}[ \t]+`)
	quote    = regexp.MustCompile(`(?m)^[ \t]*>+[ \t]?`)
	bullet   = regexp.MustCompile(`(?m)^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+`)
	rule     = regexp.MustCompile(`(?m)^[ \t]*(?:[-*_][ \t]*){3,}$`)
	tableBar = regexp.MustCompile(`(?m)^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t:|-]*)?$`)
	strong   = regexp.MustCompile(`(\*\*\*|\*\*|__|~~|\|\|)`)
	tilt     = regexp.MustCompile(`(^|[\s("'])([*_])([^*_\n]+)[*_]($|[\s)"'.,;:!?])`)
	token    = regexp.MustCompile(`\b(?:[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[A-Za-z0-9_-]{32,})\b`)
	tag      = regexp.MustCompile(`</?[a-zA-Z][^<>\n]{0,200}>`)
	emojiTag = regexp.MustCompile(`:[a-z0-9_+-]{2,32}:`)
)

// Spoken is what of a text is to be said. Links keep their words, a bare address becomes the name of its site, code of several lines
// and what is no speech (keys, identifiers, emoji) is left out. Nothing that is left can be read as an instruction by
// a synthesiser.
func Spoken(text string) string {
	text = strings.ToValidUTF8(text, "")
	text = fence.ReplaceAllString(text, "\n")
	text = image.ReplaceAllString(text, "$1")
	text = link.ReplaceAllString(text, "$1")
	text = address.ReplaceAllStringFunc(text, site)
	text = discord.ReplaceAllString(text, " ")
	text = code.ReplaceAllString(text, "$1")
	text = tag.ReplaceAllString(text, " ")
	for _, r := range []*regexp.Regexp{rule, tableBar} {
		text = r.ReplaceAllString(text, "")
	}
	for _, r := range []*regexp.Regexp{quote, heading, bullet} {
		text = r.ReplaceAllString(text, "")
	}
	text = strong.ReplaceAllString(text, "")
	text = tilt.ReplaceAllString(text, "$1$3$4")
	text = emojiTag.ReplaceAllString(text, " ")
	text = token.ReplaceAllStringFunc(text, func(s string) string {
		if strings.ContainsAny(s, "0123456789") {
			return " "
		}
		return s
	})
	text = strings.Map(sayable, text)
	return lines(text)
}

// site is what is said of an address: its host.
func site(s string) string {
	s = strings.Trim(s, "<>")
	end := strings.TrimRight(s, ".,;:!?'\"")
	u, err := url.Parse(end)
	if err != nil || u.Hostname() == "" {
		return " "
	}
	return strings.TrimPrefix(u.Hostname(), "www.") + s[len(end):]
}

// sayable keeps letters, numbers and the marks that change how something is said.
func sayable(r rune) rune {
	switch {
	case r == '\n', unicode.IsLetter(r), unicode.IsMark(r) && r != '\ufe0f' && r != '\u20e3', unicode.IsNumber(r):
		return r
	case unicode.IsSpace(r):
		return ' '
	case strings.ContainsRune(".,;:!?'\"()%&+-/@=…’‘“”„–—。、，！？；：「」『』¿¡·", r), unicode.Is(unicode.Sc, r):
		return r
	case r == '°', r == '×', r == '½':
		return r
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return -1
	}
	return ' '
}

// lines joins lines into one text: one that ends without a mark gets a full stop, so that it is no run-on.
func lines(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if !strings.ContainsFunc(line, isWord) {
			continue
		}
		if !strings.ContainsRune(".!?:;,…。！？", lastRune(line)) {
			line += "."
		}
		out = append(out, line)
	}
	if len(out) == 1 {
		return strings.TrimSuffix(out[0], ":")
	}
	return strings.Join(out, " ")
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func lastRune(s string) rune {
	r := []rune(s)
	return r[len(r)-1]
}
