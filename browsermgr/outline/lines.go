package outline

import (
	"encoding/json"
	"strings"
)

// line is one line of a snapshot taken apart. Page text cannot pass for structure: names are JSON strings, and
// brackets count only before the colon.
type line struct {
	role     string
	name     string
	refStart int // of the ref inside the line; 0 if it has none
	refEnd   int
}

func (l line) ref(text string) string { return text[l.refStart:l.refEnd] }

// scanLine takes a line apart; ok is false for lines that are not nodes.
func scanLine(text string) (l line, ok bool) {
	at := len(text) - len(strings.TrimLeft(text, " "))
	if !strings.HasPrefix(text[at:], "- ") {
		return l, false
	}
	at += 2
	end := at
	for end < len(text) && (text[end] >= 'a' && text[end] <= 'z' || text[end] >= 'A' && text[end] <= 'Z') {
		end++
	}
	if end == at {
		return l, false
	}
	l.role = text[at:end]
	at = end
	if strings.HasPrefix(text[at:], ` "`) {
		stop := stringEnd(text, at+1)
		if stop < 0 || json.Unmarshal([]byte(text[at+1:stop]), &l.name) != nil {
			return l, false
		}
		at = stop
	}
	for strings.HasPrefix(text[at:], " [") {
		stop := strings.IndexByte(text[at:], ']')
		if stop < 0 {
			return l, false
		}
		if strings.HasPrefix(text[at:], " [ref=") {
			l.refStart, l.refEnd = at+len(" [ref="), at+stop
		}
		at += stop + 1
	}
	return l, true
}

// stringEnd returns the index after the JSON string that starts at from, or -1.
func stringEnd(s string, from int) int {
	for i := from + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// cut shortens text to at most limit UTF-16 units on a whole line and says so in a last line.
func cut(text string, limit int) string {
	const mark = "\n\n[...TRUNCATED: raise maxChars, or narrow the snapshot with selector, depth or interactive]"
	const short = "\n\n[TRUNCATED]"
	tail := mark
	if limit < 2*len(mark) {
		tail = short
	}
	if limit < len(tail)+1 {
		return "…"
	}
	used, end := 0, 0
	for line := range strings.Lines(text) {
		n := utf16Len(strings.TrimSuffix(line, "\n"))
		if used+n > limit-len(tail) {
			break
		}
		used += n + 1
		end += len(line)
	}
	return strings.TrimSuffix(text[:end], "\n") + tail
}

// utf16Len counts UTF-16 units, the measure of the control API.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
