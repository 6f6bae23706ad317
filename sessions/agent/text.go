package agent

import (
	"strings"
	"unicode/utf8"
)

// OneLine joins the lines of s.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Truncate shortens s to at most limit bytes and says so with an ellipsis.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// Shorten returns s on one line, cut to at most limit bytes.
func Shorten(s string, limit int) string { return Truncate(OneLine(s), limit) }

// Quote returns s in quotes, shortened and on one line.
func Quote(s string) string { return `"` + Shorten(s, 60) + `"` }

// Sentence returns s shortened and on one line, with a capital letter at the beginning and a full stop at the
// end; "" if s says nothing.
func Sentence(s string) string {
	s = strings.TrimRight(Shorten(s, 300), ".")
	if s == "" {
		return s
	}
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + s[size:] + "."
}

// ShortURL returns a URL as people read it in passing: without scheme and credentials,
// and not too long.
func ShortURL(u string) string {
	u = WithoutCredentials(strings.TrimSpace(u))
	u = strings.TrimPrefix(strings.TrimPrefix(u, "https://"), "http://")
	return Truncate(strings.TrimSuffix(OneLine(u), "/"), 80)
}

// SpeakerName returns the name of whoever spoke, which a model reads in square brackets. It
// cannot look like their end.
func SpeakerName(name string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(Shorten(name, 60))
}
