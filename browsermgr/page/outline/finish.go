package outline

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// maxLinks bounds the list of links.
const maxLinks = 100

// FinishOptions configures Finish.
type FinishOptions struct {
	Empty    string // text for a page with nothing to show
	MaxChars int    // maximum length in UTF-16 units; 0 means no limit
	Flat     bool   // the text is a list without structure
	Nth      bool   // distinguish refs of the same role and name with [nth=k]
	After    string // begin after the line with this ref
	Query    string // keep lines that contain all its words, ignoring case
	// Compare marks refs that are not in Before, unless that is nil, as new. With Own, refs are compared as such,
	// otherwise by role, name and position among equals.
	Compare    bool
	Before     map[string]struct{}
	StableRefs bool
}

// FinishedPage is the final text of a snapshot.
type FinishedPage struct {
	Text      string
	Truncated bool
	// Missing reports that no line has the ref of After.
	Missing bool
	// New is the number of marked refs.
	New int
	// Elements identifies the refs of the whole page for a later Before; nil unless compared.
	Elements map[string]struct{}
}

// Finish marks what is new, applies After and Query, adds the links and truncates the text after a whole line.
func Finish(p Page, f FinishOptions) FinishedPage {
	var out FinishedPage
	text := p.Text
	if f.Nth {
		text = markNth(text)
	}
	if f.Compare {
		text, out.Elements = markNew(text, f)
	}
	if f.After != "" {
		rest, ok := linesAfter(text, f.After)
		text, out.Missing = rest, !ok
	}
	if f.Query != "" && text != "" {
		if text = filterLines(text, f.Query); text == "" {
			f.Empty = "(no line matches the query)"
		}
	}
	text = cmp.Or(text, f.Empty)
	text += linkList(p.Links)
	footer := func(n int) string { return fmt.Sprintf("\n\n%d new element(s) since last snapshot", n) }
	if f.Compare && f.Before != nil {
		out.New = countNew(text)
	}
	tail := ""
	if out.New > 0 {
		tail = footer(out.New)
	}
	out.Text = text + tail
	if f.MaxChars > 0 && (p.Stopped || utf16Len(out.Text) > f.MaxChars) {
		out.Truncated = true
		room := f.MaxChars - len(tail)
		if room < footerReserve {
			tail, room = "", f.MaxChars
		}
		if !f.Flat {
			text = shrink(text, room, p.Stopped)
		}
		if p.Stopped || utf16Len(text) > room {
			text = cutLines(text, room)
		}
		out.Text = text
		if out.New = countNew(out.Text); out.New > 0 && tail != "" {
			out.Text += footer(out.New)
		}
	}
	return out
}

// markNth numbers refs of the same role and name, from the second on.
func markNth(text string) string {
	count := map[string]int{}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		l, ok := scanLine(strings.TrimSuffix(line, "\n"))
		if !ok || l.refStart == 0 {
			b.WriteString(line)
			continue
		}
		key := l.role + l.quoted
		n := count[key]
		count[key] = n + 1
		b.WriteString(line[:l.refEnd+1])
		if n > 0 {
			fmt.Fprintf(&b, " [nth=%d]", n)
		}
		b.WriteString(line[l.refEnd+1:])
	}
	return b.String()
}

// footerReserve is the minimum limit for a text that gets a footer.
const footerReserve = 200

// markNew marks the refs that are not in Before. Without Before it only collects the elements.
func markNew(text string, f FinishOptions) (string, map[string]struct{}) {
	elements := map[string]struct{}{}
	if text == "" {
		return text, elements
	}
	count := map[string]int{}
	lines := strings.Split(text, "\n")
	for i, text := range lines {
		l, ok := scanLine(text)
		if !ok || l.refStart == 0 {
			continue
		}
		id := l.ref()
		if !f.StableRefs {
			id = l.role + l.quoted
			n := count[id]
			count[id]++
			if n > 0 {
				id += "#" + strconv.Itoa(n)
			}
		}
		elements[id] = struct{}{}
		if _, known := f.Before[id]; !known && f.Before != nil {
			lines[i] = text[:l.end] + " [new]" + text[l.end:]
		}
	}
	if f.Before == nil {
		return text, elements
	}
	return strings.Join(lines, "\n"), elements
}

func countNew(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if !strings.Contains(line, " [new]") {
			continue
		}
		if l, ok := scanLine(strings.TrimSuffix(line, "\n")); ok && l.isNew {
			n++
		}
	}
	return n
}

// filterLines keeps the lines that contain all words of a query.
func filterLines(text, query string) string {
	words := strings.Fields(strings.ToLower(query))
	var kept []string
lines:
	for line := range strings.SplitSeq(text, "\n") {
		low := strings.ToLower(line)
		for _, word := range words {
			if !strings.Contains(low, word) {
				continue lines
			}
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// linkList returns the list of links to append, each address once.
func linkList(links []Link) string {
	if len(links) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nLinks:")
	seen := map[string]bool{}
	for _, l := range links {
		if seen[l.URL] || len(seen) == maxLinks {
			continue
		}
		seen[l.URL] = true
		fmt.Fprintf(&b, "\n%d. %s -> %s", len(seen), l.Text, l.URL)
	}
	return b.String()
}
