package outline

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// nodeLine is a parsed line of a snapshot. Text of the page cannot imitate structure: names are JSON strings, and
// brackets count only before the colon.
type nodeLine struct {
	text     string
	role     string
	quoted   string // the name in quotes; "" if there is none
	refStart int    // index of the ref; 0 if there is none
	refEnd   int
	nth      int
	isNew    bool // marked as new
	end      int  // index after the brackets
}

func (l nodeLine) ref() string { return l.text[l.refStart:l.refEnd] }

// name returns the unquoted name.
func (l nodeLine) name() string {
	if l.quoted == "" {
		return ""
	}
	if !strings.Contains(l.quoted, `\`) {
		return l.quoted[1 : len(l.quoted)-1]
	}
	var name string
	_ = json.Unmarshal([]byte(l.quoted), &name) // checked by scanLine
	return name
}

// scanLine parses a line; ok is false if it is not a node.
func scanLine(text string) (l nodeLine, ok bool) {
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
	l.text, l.role = text, text[at:end]
	at = end
	if strings.HasPrefix(text[at:], ` "`) {
		stop := stringEnd(text, at+1)
		if stop < 0 {
			return l, false
		}
		l.quoted = text[at+1 : stop]
		if strings.Contains(l.quoted, `\`) && !json.Valid([]byte(l.quoted)) {
			return l, false
		}
		at = stop
	}
	return l, l.scanAttributes(at)
}

// scanAttributes parses the attributes that begin at an index.
func (l *nodeLine) scanAttributes(at int) bool {
	for strings.HasPrefix(l.text[at:], " [") {
		stop := strings.IndexByte(l.text[at:], ']')
		if stop < 0 {
			return false
		}
		inner := l.text[at+2 : at+stop]
		if strings.HasPrefix(inner, "ref=") {
			l.refStart, l.refEnd = at+len(" [ref="), at+stop
		} else if count, ok := strings.CutPrefix(inner, "nth="); ok {
			parseCount(count, &l.nth)
		} else if inner == "new" {
			l.isNew = true
		}
		at += stop + 1
	}
	l.end = at
	return true
}

// stringEnd returns the index after the JSON string that begins at from, or -1.
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

// cutLines truncates text to at most limit UTF-16 units after a whole line, and adds a line that says so.
func cutLines(text string, limit int) string {
	const mark = "\n\n[...TRUNCATED: raise maxChars, narrow the snapshot with selector, depth or interactive, or go on " +
		"with after=%s]"
	const short = "\n\n[TRUNCATED]"
	tail, room := mark, limit-len(mark)-maxRefChars
	if limit < 2*len(mark) {
		tail, room = short, limit-len(short)
	}
	if room < 1 {
		return "…"
	}
	used, end, last := 0, 0, ""
	for line := range strings.Lines(text) {
		n := utf16Len(strings.TrimSuffix(line, "\n"))
		if used+n > room {
			break
		}
		if l, ok := scanLine(strings.TrimSuffix(line, "\n")); ok && l.refStart > 0 {
			last = l.ref()
		}
		used += n + 1
		end += len(line)
	}
	if last == "" || tail == short {
		tail = strings.Replace(tail, ", or go on with after=%s", "", 1)
	} else {
		tail = fmt.Sprintf(tail, last)
	}
	return strings.TrimSuffix(text[:end], "\n") + tail
}

// maxRefChars is the length of the longest ref.
const maxRefChars = len("f1073741824e1073741824")

// utf16Len returns the length in UTF-16 units, as used in the control API.
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

// ClipText truncates text to at most limit UTF-16 units and reports whether it did; 0 means no limit.
func ClipText(text string, limit int) (string, bool) {
	if limit <= 0 || len(text) <= limit {
		return text, false
	}
	n := 0
	for i, r := range text {
		if n += utf16.RuneLen(r); n > limit {
			return text[:i], true
		}
	}
	return text, false
}
