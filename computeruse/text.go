package computeruse

import (
	"strings"
	"unicode/utf8"

	"clank/sessions/working"
)

// oneLine joins the lines of s.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens s to at most limit bytes and says so with an ellipsis.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// quote puts s in quotes, on one line and not too long.
func quote(s string) string { return `"` + cut(oneLine(s), 60) + `"` }

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	s = strings.TrimRight(cut(oneLine(s), 300), ".")
	if s == "" {
		return s
	}
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + s[size:] + "."
}

// place is a URL as people read it in passing.
func place(u string) string {
	u = working.Bare(strings.TrimSpace(u))
	u = strings.TrimPrefix(strings.TrimPrefix(u, "https://"), "http://")
	return cut(strings.TrimSuffix(oneLine(u), "/"), 80)
}
