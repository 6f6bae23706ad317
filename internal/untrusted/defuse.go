package untrusted

import (
	"slices"
	"strings"
)

// fetchingElements are the HTML elements that make a program which renders HTML, as
// many do within Markdown, fetch an address or run something.
var fetchingElements = []string{
	"img", "image", "picture", "source", "video", "audio", "track", "iframe", "frame", "embed", "object", "link", "script", "style", "svg",
	"base", "meta", "input", "form", "body", "table", "td",
}

// directives are the words that some programs obey in double brackets.
var directives = []string{
	"media", "audio", "image", "video", "file", "attach", "voice", "tts", "sticker", "reply", "react", "embed", "include", "send", "button",
}

// defuse takes the force from what is fetched or attached by being shown:
// ![ becomes !\[, <img &lt;img, [[media [\[media.
func defuse(s string) string {
	if !strings.ContainsAny(s, "[<") {
		return s
	}
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '!' && strings.HasPrefix(s[i+1:], "["):
			b.WriteString(s[done:i+1] + `\`)
			done = i + 1
		case c == '<' && beginsWithName(strings.TrimPrefix(s[i+1:], "/"), fetchingElements, true):
			b.WriteString(s[done:i] + "&lt;")
			done = i + 1
		case c == '[' && strings.HasPrefix(s[i+1:], "[") && beginsWithName(strings.TrimLeft(s[i+2:], " \t"), directives, false):
			b.WriteString(s[done:i+1] + `\`)
			done = i + 1
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// beginsWithName reports whether s begins with one of these words, in any case; if whole,
// with nothing after it that would make it another word.
func beginsWithName(s string, words []string, whole bool) bool {
	const longest = 8
	n := 0
	for n < len(s) && n <= longest && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return (n == len(w) || !whole && n > len(w)) && strings.EqualFold(s[:len(w)], w)
	})
}
