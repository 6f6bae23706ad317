package words

import "strings"

// skip is something in an answer that is not said.
type skip interface {
	// pass is how much of rest belongs to it, and whether that is the end of it; zero if that cannot be known yet.
	pass(rest string, ended bool) (n int, over bool)

	// hidden reports whether it is not meant for people.
	hidden() bool
}

// tags mark what models write that is not meant for people.
var tags = []string{
	"think", "thinking", "reasoning", "tool_call", "tool_calls", "tool_use", "tool_code", "function", "function_call", "function_calls", "invoke",
}

// opens tells what is not said and begins where s does: it, and the length of the signs that begin it. lineStart is set at the start of
// a line. known is false if s may be the beginning of such a sign.
func opens(s string, lineStart, ended bool) (found skip, n int, known bool) {
	switch {
	case strings.HasPrefix(s, "```"):
		return until{end: "```"}, 3, true
	case s[0] == '`':
		return nil, 0, ended || strings.Trim(s, "`") != ""
	case s[0] == '<':
		return openTag(s[1:], ended)
	case lineStart:
		return openLine(s, ended)
	}
	return nil, 0, true
}

// openTag is opens behind a "<".
func openTag(s string, ended bool) (found skip, n int, known bool) {
	known = true
	for _, t := range tags {
		after, is := strings.CutPrefix(s, t)
		switch {
		case is && after != "" && strings.ContainsAny(after[:1], "> =\n"):
			return until{end: "</" + t + ">", aside: true}, 1 + len(t), true
		case !ended && strings.HasPrefix(t, s), !ended && is && after == "":
			known = false
		}
	}
	return nil, 0, known
}

// openLine is opens for what begins only at the start of a line: tables and data.
func openLine(s string, ended bool) (found skip, n int, known bool) {
	text := strings.TrimLeft(s, " \t")
	if text == "" {
		return nil, 0, ended
	}
	indent := len(s) - len(text)
	if text[0] == '|' {
		return until{end: "\n", before: true}, indent + 1, true
	}
	if text[0] == '<' || text[0] == '`' {
		found, n, known := opens(text, false, ended)
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
		return &data{depth: 1}, indent + 1, true
	}
	return nil, 0, true
}

// until is what goes on until some signs.
type until struct {
	end    string
	before bool // the signs do not belong to it
	aside  bool
}

func (u until) hidden() bool { return u.aside }

func (u until) pass(rest string, ended bool) (n int, over bool) {
	at := strings.Index(rest, u.end)
	switch {
	case at >= 0 && u.before:
		return at, true
	case at >= 0:
		return at + len(u.end), true
	case ended:
		return len(rest), true
	}
	return max(0, len(rest)-len(u.end)+1), false
}

// data is JSON.
type data struct {
	depth  int
	quoted bool
	escape bool
}

func (*data) hidden() bool { return false }

func (d *data) pass(rest string, ended bool) (n int, over bool) {
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
