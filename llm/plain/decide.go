package plain

import (
	"fmt"
	"maps"
	"slices"
)

// decision is what to do next.
type decision struct {
	tool    string
	input   inputs
	purpose string // "step" if empty; look: it only finds the way; way: it leads up to the step; part: one of several
	problem string // why the step cannot be done, for the person
}

// lookFirst asks for the page as it is now, after the line with a ref or whole.
func lookFirst(after string) decision {
	in := inputs{}
	if after != "" {
		in["after"] = after
	}
	return decision{tool: "browser_snapshot", input: in, purpose: "look"}
}

// lookAgain looks at a page that may have changed; if it had not, after a moment: menus come with a delay.
func (p page) lookAgain() decision {
	if !p.fresh || p.waited {
		return lookFirst("")
	}
	return decision{tool: "browser_wait", input: inputs{"timeMs": 1000}, purpose: "look"}
}

// maxMore bounds how often a step asks a page to go on.
const maxMore = 20

// decideStep returns how to do a step on the page as it is known.
func decideStep(s step, p page) decision {
	do := decision{tool: s.tool, input: maps.Clone(s.input)}
	if do.input == nil {
		do.input = inputs{}
	}
	if s.on == (target{}) {
		return do
	}
	if p.lines == nil {
		return lookFirst("")
	}
	es := p.elements()
	if len(es) == 0 && !isPage(p.url) {
		return decision{problem: noPage}
	}
	if s.want == wantChoose || s.want == wantSet {
		if do, ok := s.choose(p, es); ok {
			return do
		}
	}
	if s.want == wantOption && s.on.list && p.did(isPart) == 0 {
		if do, ok := s.selectListed(es); ok {
			return do
		}
	}
	s, last := s.current(p, es)
	if !last {
		do.purpose = "part"
	}
	i, why := pickElement(s, es)
	end := -1
	if s.onto != (target{}) && i >= 0 {
		if end, why = findElement(es, s.onto, hasRef); end < 0 {
			i = -1
		}
	}
	scrolls := s.want == wantSeen && len(p.way) > 0
	if i < 0 && !scrolls && (!p.fresh || !p.waited && !p.part) {
		return p.lookAgain() // it may have come since
	}
	fold := slices.IndexFunc(es, func(e element) bool { return e.fold != "" })
	if fold >= 0 && p.more < maxMore && (i < 0 || s.on.nth == -1 || s.on.nth > 0 && fold < i) {
		return lookFirst(es[fold].fold)
	}
	if do, ok := s.approach(p, es, i); ok {
		return do
	}
	switch {
	case p.part && s.on.nth > 0:
		return decision{problem: "the page is too long to count on it: say what it is next to, or in"}
	case i >= 0 && end >= 0:
		maps.Copy(do.input, inputs{"startRef": es[i].ref, "endRef": es[end].ref})
		return do
	case s.tool == "browser_extract" && (i < 0 || s.on.isAround(es[i])):
		return do.readWithoutRef(s, es, i, why)
	case i >= 0:
		return do.onElement(s, es, i)
	default:
		return decision{problem: why}
	}
}

// Words for what has other things in it, on a line or on many.
var (
	lines  = []string{"row", "item", "entry"}
	blocks = []string{"section", "table", "list", "form", "dialog"}
)

// isAround reports whether a target is something with other things in it, of which an element may be one.
func (t target) isAround(e element) bool {
	return !t.wants(e.role) && (slices.Contains(lines, t.role) || slices.Contains(blocks, t.role))
}

// readWithoutRef reads the text of the whole page where that may have what was named. why says why there is no element.
func (d decision) readWithoutRef(s step, es []element, i int, why string) decision {
	found, _ := candidates(es, s.on, hasRef)
	there, meant := candidates(es, s.on, anything)
	switch {
	case i < 0 && len(found) > 0:
		return decision{problem: why}
	case s.on.nth == 0 && meant.nth == 0 && (s.on.name != "" || len(there) > 0):
		return d
	default:
		return decision{problem: why}
	}
}

// onElement does the step on element i.
func (d decision) onElement(s step, es []element, i int) decision {
	e := es[i]
	d.input["ref"] = e.first
	list := ancestorWithRole(es, i, listRoles...)
	switch {
	case s.want == wantOn && e.checked, s.want == wantOff && !e.checked && isBox(e),
		s.want == wantOpen && e.expanded == "true", s.want == wantSorted && sortOf(es, i) == "ascending",
		s.want == wantReversed && sortOf(es, i) == "descending":
		d.tool = "browser_hover" // it is as it should be
	case s.tool == "browser_type" && e.readonly && d.input["text"] == "":
		if j, _ := findElement(es, target{name: "clear", where: "in", near: &s.on}, hasRef); j >= 0 {
			return decision{tool: "browser_click", input: inputs{"ref": es[j].ref}}
		}
	case s.tool == "browser_type" && e.role == "dropdown":
		d.tool, d.input = "browser_select", inputs{"ref": e.ref, "values": []string{fmt.Sprint(s.input["text"])}}
	case s.want == wantOption && e.role == "option" && list >= 0 && es[list].ref != "":
		d.tool, d.input = "browser_select", inputs{"ref": es[list].ref, "values": []string{e.name}}
	}
	return d
}

func isBox(e element) bool { return slices.Contains(roleWords["checkbox"], e.role) }

func hasRef(e element) bool { return e.ref != "" }

// usable says for the tools that cannot be used on everything with a ref what they can be used on.
var usable = map[string]func(element) bool{
	"browser_type": func(e element) bool {
		return e.ref != "" && (slices.Contains(typableRoles, e.role) || slices.Contains(fieldRoles, e.role))
	},
	"browser_select": func(e element) bool { return e.ref != "" && slices.Contains(listRoles, e.role) },
	"browser_scroll": func(e element) bool { return e.first != "" },
}

var typableRoles = []string{"dropdown", "slider", "separator"}

// isCell reports whether an element is a cell that may open a field.
func isCell(e element) bool {
	return e.ref != "" && (e.role == "gridcell" || e.role == "cell" && e.acts)
}

// boxInEntry returns the only box in the entry that a step to tick or choose something names, or -1: people tick a row.
func boxInEntry(es []element, s step, i int) int {
	choice := s.want == wantOption && (i < 0 || slices.Contains([]string{"row", "cell", "gridcell"}, es[i].role))
	if s.on.name == "" && s.on.nth == 0 || !choice && (s.want != wantOn && s.want != wantOff || i >= 0 && isBox(es[i])) {
		return -1
	}
	near := s.on
	if near.role == "checkbox" {
		near = near.withRole("")
	}
	for _, at := range []string{"row", "listitem"} {
		var boxes []int
		found, _ := candidates(es, near, anything)
		for j, e := range es {
			entry := ancestorWithRole(es, j, at)
			inIt := func(k int) bool { return k == entry || ancestorWithRole(es, k, at) == entry }
			if (isBox(e) || e.role == "radio") && e.ref != "" && entry >= 0 && slices.ContainsFunc(found, inIt) {
				boxes = append(boxes, j)
			}
		}
		if len(boxes) == 1 {
			return boxes[0]
		}
	}
	return -1
}

// pickElement finds the element that a step means: its index, or -1 and why there is none.
func pickElement(s step, es []element) (int, string) {
	if s.on.again {
		const none = `I do not know what "one" means here: say its name.`
		return s.on.pick(es, listEntries(es), "in the lists of the page", none)
	}
	fits := usable[s.tool]
	if fits == nil {
		fits = hasRef
	}
	if s.want == wantOn || s.want == wantOff {
		fits = func(e element) bool { return e.ref != "" && e.acts }
	}
	if s.on == (target{role: "field"}) {
		if at := slices.IndexFunc(es, func(e element) bool { return e.active && fits(e) }); at >= 0 {
			return at, ""
		}
	}
	if s.want == wantRemove {
		can := s.removers(es)
		fits = func(e element) bool { return e.ref != "" && can[e.ref] }
	}
	if s.want == wantOpen {
		closed := func(e element) bool { return e.ref != "" && e.expanded != "" }
		if i, _ := findElement(es, s.on, closed); i >= 0 {
			return i, ""
		}
	}
	i, why := findElement(es, s.on, fits)
	if s.tool == "browser_type" && i < 0 {
		if at, _ := findElement(es, s.on, isCell); at >= 0 {
			return at, ""
		}
	}
	if at := boxInEntry(es, s, i); at >= 0 {
		return at, ""
	}
	if i >= 0 || s.want != wantSearch {
		return i, why
	}
	// What to search with is not always called search.
	for _, role := range [][]string{{"searchbox"}, fieldRoles} {
		only := func(e element) bool { return e.ref != "" && slices.Contains(role, e.role) }
		if i, _ := findElement(es, target{role: "field"}, only); i >= 0 {
			return i, ""
		}
	}
	return -1, why
}

// pick returns the one of found that is counted, or the only one. where says where was counted, none what to say if
// there is nothing.
func (t target) pick(es []element, found []int, where, none string) (int, string) {
	switch n := len(found); {
	case n == 0:
		return -1, none
	case t.nth == -1:
		return found[n-1], ""
	case t.nth > n:
		return -1, fmt.Sprintf("I found only %d %s.", n, where)
	case t.nth > 0:
		return found[t.nth-1], ""
	case n > 1:
		return -1, ambiguous(es, found, t)
	default:
		return found[0], ""
	}
}
