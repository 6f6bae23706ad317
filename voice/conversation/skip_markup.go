package conversation

import "strings"

// skipper is something in an answer that is not said.
type skipper interface {
	// advance is how much of rest belongs to it, and whether that is the end of it; zero if that cannot be known yet.
	advance(rest string, ended bool) (n int, over bool)

	// hidden reports whether it is not meant for people.
	hidden() bool
}

// hiddenTags mark what models write that is not meant for people.
var hiddenTags = []string{
	"think", "thinking", "reasoning", "tool_call", "tool_calls", "tool_use", "tool_code", "function", "function_call", "function_calls", "invoke",
}

// findSkip tells what is not said and begins where s does: it, and the length of the signs that begin it. lineStart is set at the start of
// a line. known is false if s may be the beginning of such a sign.
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

// skipUntil is what goes on until some signs.
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

// skipJSON is JSON.
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
