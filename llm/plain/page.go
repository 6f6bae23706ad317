package plain

import (
	"cmp"
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
	more       int      // how often the state was asked to go on
	part       bool     // what came before was left out of the conversation
	url, title string
	step       int             // the step that is being done
	way        []result        // the acts that led up to it
	waited     bool            // what it needs was waited for
	old        map[string]bool // the refs that were there before these acts; nil if they are not known
}

// note takes note of an act that led up to a step.
func (p *page) note(r result) {
	if r.step != p.step || !r.look {
		*p = p.forStep(-1)
		p.step = r.step
	}
	switch {
	case !r.look || r.tool == "browser_snapshot":
		return
	case r.tool == "browser_wait":
		p.waited = true
		return
	}
	if len(p.way) == 0 {
		p.old = map[string]bool{}
		for _, e := range p.elements() {
			p.old[e.ref] = true
		}
	}
	p.way = append(p.way, r)
}

// did returns how many of the acts that led up to the step are such.
func (p page) did(such func(result) bool) (n int) {
	for _, r := range p.way {
		if such(r) {
			n++
		}
	}
	return n
}

// forStep returns the page without what led up to another step.
func (p page) forStep(i int) page {
	if p.step != i {
		p.way, p.old, p.waited = nil, nil, false
	}
	return p
}

// isNew reports whether an element came with what led up to the step.
func (p page) isNew(e element) bool { return e.ref != "" && p.old != nil && !p.old[e.ref] }

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
		p.addState(r.after(), strings.Split(r.body, "\n"))
		p.fresh = r.tool == "browser_snapshot"
	case "page changes":
		if p.lines = applyDiff(p.lines, r.body); p.more > 0 && r.body != "" {
			p.lines = nil // the changes are those of a shorter state
		}
	case "text", "links", "tabs":
	default:
		if r.tool != "browser_screenshot" {
			p.lines = nil
		}
	}
}

// after returns the ref after which a snapshot was asked to begin; empty if it was asked for whole.
func (r result) after() string {
	var in struct{ After string }
	_ = json.Unmarshal([]byte(r.input), &in) // other tools have other inputs
	return in.After
}

// addState adds a state, or what follows the line with a ref, in place of the first fold.
func (p *page) addState(after string, lines []string) {
	if after == "" {
		p.lines, p.more, p.part = lines, 0, false
		return
	}
	p.part = p.part || p.lines == nil
	at := slices.IndexFunc(p.lines, func(l string) bool { e, ok := readElement(l); return ok && e.ref == after })
	fold := slices.IndexFunc(p.lines, func(l string) bool { return foldAfter(l) != "" })
	if at++; at == 0 || at > fold {
		at = max(fold, 0)
	}
	p.lines, p.more = append(slices.Clone(p.lines[:at]), lines...), p.more+1
}

var foldForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?: *- text: … (?:at least )?\d+ more \w+ like these: take a snapshot|` +
		`\[\.\.\.TRUNCATED:.* go on)` +
		` with after=((?:f\d+)?e\d+)\]?$`)
})

// hiddenCharacter matches a hidden character as package untrusted writes it. It is no JSON.
var hiddenCharacter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\u\{[0-9A-F]+\}`) })

// foldAfter returns the ref after which a snapshot shows what a line stands for; empty for other lines.
func foldAfter(line string) string {
	if !strings.Contains(line, " with after=") {
		return ""
	}
	if m := foldForm().FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// applyDiff applies a unified diff without context lines. The result is nil if it does not fit.
func applyDiff(lines []string, diff string) []string {
	if lines == nil || diff == "" {
		return lines
	}
	changes := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	out := make([]string, 0, len(lines))
	at := 0 // lines taken over so far
	for i := 0; i < len(changes); {
		var from, del, to, add int
		if _, err := fmt.Sscanf(changes[i], "@@ -%d,%d +%d,%d @@", &from, &del, &to, &add); err != nil {
			return nil
		}
		if del > 0 {
			from-- // an empty side names the line after which the other stands
		}
		i++
		if del < 0 || add < 0 || from < at || from+del > len(lines) || i+del+add > len(changes) {
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
	first           string // its ref, or the first one in it
	hint            string // placeholder
	text            string // after the colon
	in              string // what it is in, where the lines do not show it
	beside          string // the text that stands at what has no name of its own
	fold            string // the ref after which what is left out here follows
	expanded, sort  string // states, empty if it has none
	checked, active bool
	selected        bool
	readonly, empty bool // empty: a list without options
	pointer         bool // people see that it can be clicked
	acts            bool // it can be operated
	depth           int
	parent          int // index of the element it is inside of, -1 at the top
}

// elements reads the lines of the state.
func (p page) elements() []element {
	var es []element
	seen := map[string]bool{}
	for _, l := range p.lines {
		e, ok := readElement(l)
		if e.fold = foldAfter(l); e.fold == "" && !ok || seen[e.ref] {
			continue // what follows a ref begins with the lines that it is below
		}
		seen[e.ref] = e.ref != ""
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
		if list := e.parent; e.role == "option" && list >= 0 {
			if es[list].role == "group" {
				list = max(0, es[list].parent)
			}
			if es[list].role == "combobox" {
				es[list].role = "dropdown" // nothing can be typed into it
			}
		}
		if in := e.parent; in >= 0 && e.role == "text" && es[in].acts && es[in].name+es[in].text == "" {
			es[in].text = e.text // as in "listitem: Lamp"
		}
		es = append(es, e)
		for i := len(es) - 1; i >= 0 && e.ref != "" && es[i].first == ""; i = es[i].parent {
			es[i].first = e.ref
		}
	}
	for i := range es {
		es[i].empty = es[i].role == "listbox" && (i+1 == len(es) || es[i+1].parent != i)
		if row := es[i].parent; es[i].role == "columnheader" && row >= 0 && es[row].role == "row" {
			es[row].role = "header row"
		}
		if es[i].acts && es[i].name == "" && es[i].hint == "" {
			es[i].beside = textBeside(es, i)
		}
	}
	return es
}

// textBeside returns the text that stands right before a field or list, or right at a box to tick, in the same row.
func textBeside(es []element, i int) string {
	around := func(step int) string {
		for j := i + step; j >= 0 && j < len(es); j += step {
			e := es[j]
			if e.acts || strings.HasPrefix(e.role, "/") {
				return ""
			}
			if text := cmp.Or(e.name, e.text); text != "" {
				if ancestorWithRole(es, i, "row", "listitem") != ancestorWithRole(es, j, "row", "listitem") {
					return ""
				}
				return text
			}
		}
		return ""
	}
	switch role := es[i].role; {
	case isBox(es[i]) || role == "radio":
		if i+1 < len(es) && es[i+1].parent == es[i].parent {
			return cmp.Or(around(1), around(-1))
		}
		return around(-1)
	case role == "slider", role == "file field", slices.Contains(fieldRoles, role), slices.Contains(listRoles, role):
		if i+1 < len(es) && es[i+1].parent == es[i].parent {
			return cmp.Or(around(-1), around(1)) // a placeholder may be drawn behind it
		}
		return around(-1)
	default:
		return ""
	}
}

// withTextBeside returns the elements with the text at them as a name, where they have none.
func withTextBeside(es []element) []element {
	es = slices.Clone(es)
	for i := range es {
		es[i].hint = cmp.Or(es[i].hint, es[i].beside)
	}
	return es
}

var (
	roleWord  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/?[A-Za-z][A-Za-z]*`) })
	attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ \[([^\]]*)\]`) })
)

// readElement reads a line such as `  - button "Buy" [disabled] [ref=e1] [in "Lamp"]: text`. A whole key may be in
// single quotes, as YAML wants it, and a text in double ones, if it could be taken for something else.
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
		err := dec.Decode(&e.name)
		if err != nil {
			rest = hiddenCharacter().ReplaceAllString(rest, "")
			dec = json.NewDecoder(strings.NewReader(rest))
			err = dec.Decode(&e.name)
		}
		if err == nil {
			rest = rest[dec.InputOffset():]
		}
	}
	e.acts = slices.Contains(interactive, e.role)
	for m := attribute().FindStringSubmatch(rest); m != nil; m = attribute().FindStringSubmatch(rest) {
		rest = rest[len(m[0]):]
		e.readAttribute(m[1])
	}
	if _, text, ok := strings.Cut(rest, ": "); ok {
		e.text = strings.TrimSpace(text)
		_ = json.Unmarshal([]byte(e.text), &e.text) // most texts are not quoted
	}
	return e, true
}

// readAttribute reads what stands in brackets. What follows the ref are reasons why it can be operated.
func (e *element) readAttribute(a string) {
	key, value, _ := strings.Cut(a, "=")
	around, isIn := strings.CutPrefix(a, "in ")
	switch {
	case key == "ref":
		e.ref = value
	case isIn:
		_ = json.Unmarshal([]byte(around), &e.in) // always quoted
	case a == "checked":
		e.checked = true
	case a == "selected":
		e.selected = true
	case a == "readonly":
		e.readonly = true
	case a == "active":
		e.active = true
	case key == "expanded":
		e.expanded = cmp.Or(value, "true")
	case key == "sort":
		e.sort = value
	case a == "file":
		e.role, e.acts = "file field", true
	case e.ref == "" || key == "nth" || a == "new":
	default:
		e.acts = true
		e.pointer = strings.Contains(a, "cursor:pointer")
		if strings.Contains(a, "contenteditable") && e.role == "generic" {
			e.role = "textbox"
		}
	}
}

// ancestorWithRole returns the nearest element with one of the roles that es[i] is inside of, or -1.
func ancestorWithRole(es []element, i int, roles ...string) int {
	for i = es[i].parent; i >= 0; i = es[i].parent {
		if slices.Contains(roles, es[i].role) {
			return i
		}
	}
	return -1
}

// isInside reports whether es[i] is inside of es[outer].
func isInside(es []element, i, outer int) bool {
	for i = es[i].parent; i > outer; i = es[i].parent {
	}
	return i == outer
}
