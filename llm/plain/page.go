package plain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// page is the page as the tool results describe it.
type page struct {
	lines      []string // of the state; nil if it is not known
	fresh      bool     // the state was asked for after everything that was done
	url, title string
}

// take brings the page up to date with one result.
func (p *page) take(r result) {
	p.fresh = false
	if r.url != "" {
		p.url = r.url
	}
	if r.title != "" {
		p.title = r.title
	}
	switch r.section {
	case "page":
		p.lines, p.fresh = strings.Split(r.body, "\n"), r.tool == "browser_snapshot"
	case "page changes":
		p.lines = applyDiff(p.lines, r.body)
	case "text", "links", "tabs":
	default:
		if r.tool != "browser_screenshot" {
			p.lines = nil
		}
	}
}

var hunk = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@@ -(\d{1,7}),(\d{1,7}) \+(\d{1,7}),(\d{1,7}) @@$`) })

// applyDiff applies a unified diff without context lines. The result is nil if it
// does not fit.
func applyDiff(lines []string, diff string) []string {
	if lines == nil || diff == "" {
		return lines
	}
	changes := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	out := make([]string, 0, len(lines))
	at := 0 // lines taken over so far
	for i := 0; i < len(changes); {
		var from, del, to, add int
		if !hunk().MatchString(changes[i]) {
			return nil
		}
		if _, err := fmt.Sscanf(changes[i], "@@ -%d,%d +%d,%d @@", &from, &del, &to, &add); err != nil {
			return nil
		}
		if del > 0 {
			from-- // an empty side names the line after which the other stands
		}
		i++
		if from < at || from+del > len(lines) || i+del+add > len(changes) {
			return nil
		}
		out = append(out, lines[at:from]...)
		at = from + del
		for _, l := range changes[i+del : i+del+add] {
			out = append(out, strings.TrimPrefix(l, "+"))
		}
		i += del + add
	}
	return append(out, lines[at:]...)
}

// element is one line of a page state.
type element struct {
	role, name, ref string
	hint            string // placeholder
	text            string // after the colon
	checked         bool
	depth           int
	parent          int // index of the element it is inside of, -1 at the top
}

// elements reads the lines of the state.
func (p page) elements() []element {
	var es []element
	for _, l := range p.lines {
		e, ok := readElement(l)
		if !ok {
			continue
		}
		e.parent = len(es) - 1
		for e.parent >= 0 && es[e.parent].depth >= e.depth {
			e.parent = es[e.parent].parent
		}
		if e.role == "/placeholder" {
			if e.parent >= 0 {
				es[e.parent].hint = e.text
			}
			continue
		}
		es = append(es, e)
	}
	return es
}

var (
	roleWord  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/?[A-Za-z][A-Za-z]*`) })
	attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ \[([^\]]*)\]`) })
)

// readElement reads a line such as `  - button "Buy" [ref=e1]: text`. A whole
// key may be in single quotes, as YAML wants it.
func readElement(line string) (element, bool) {
	trimmed := strings.TrimLeft(line, " ")
	rest, ok := strings.CutPrefix(trimmed, "- ")
	if !ok {
		return element{}, false
	}
	e := element{depth: len(line) - len(trimmed)}
	if quoted, ok := strings.CutPrefix(rest, "'"); ok {
		rest = strings.ReplaceAll(quoted, "''", "'")
	}
	e.role = roleWord().FindString(rest)
	if e.role == "" {
		return element{}, false
	}
	rest = rest[len(e.role):]
	if strings.HasPrefix(rest, ` "`) {
		dec := json.NewDecoder(strings.NewReader(rest))
		if dec.Decode(&e.name) == nil {
			rest = rest[dec.InputOffset():]
		}
	}
	for {
		m := attribute().FindStringSubmatch(rest)
		if m == nil {
			break
		}
		rest = rest[len(m[0]):]
		if ref, ok := strings.CutPrefix(m[1], "ref="); ok {
			e.ref = ref
		}
		e.checked = e.checked || m[1] == "checked"
	}
	if _, text, ok := strings.Cut(rest, ": "); ok {
		e.text = strings.TrimSpace(text)
	}
	return e, true
}

// ancestorWithRole returns the nearest element with one of the roles that es[i] is inside
// of, or -1.
func ancestorWithRole(es []element, i int, roles ...string) int {
	for i = es[i].parent; i >= 0; i = es[i].parent {
		if slices.Contains(roles, es[i].role) {
			return i
		}
	}
	return -1
}
