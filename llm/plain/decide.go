package plain

import (
	"fmt"
	"maps"
	"slices"
)

// decision is what to do next.
type decision struct {
	tool     string
	input    inputs
	lookOnly bool   // it only finds the way
	problem  string // why the step cannot be done, for the person
}

// lookFirst asks for the page as it is now, after the line with a ref or whole.
func lookFirst(after string) decision {
	in := inputs{}
	if after != "" {
		in["after"] = after
	}
	return decision{tool: "browser_snapshot", input: in, lookOnly: true}
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
	i, why := pickElement(s, es)
	end := -1
	if s.onto != (target{}) && i >= 0 {
		if end, why = findElement(es, s.onto, hasRef); end < 0 {
			i = -1
		}
	}
	if i < 0 && !p.fresh {
		return lookFirst("") // it may have come since
	}
	fold := slices.IndexFunc(es, func(e element) bool { return e.fold != "" })
	if fold >= 0 && p.more < maxMore && (i < 0 || s.on.nth == -1 || s.on.nth > 0 && fold < i) {
		return lookFirst(es[fold].fold)
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
	case s.want == wantOn && e.checked, s.want == wantOff && !e.checked && isBox(e):
		d.tool = "browser_hover" // it is as it should be
	case s.tool == "browser_type" && e.role == "dropdown":
		d = decision{tool: "browser_select", input: inputs{"ref": e.ref, "values": []string{fmt.Sprint(s.input["text"])}}}
	case s.want == wantOption && e.role == "option" && list >= 0 && es[list].ref != "":
		return decision{tool: "browser_select", input: inputs{"ref": es[list].ref, "values": []string{e.name}}}
	}
	return d
}

func isBox(e element) bool { return slices.Contains(roleWords["checkbox"], e.role) }

func hasRef(e element) bool { return e.ref != "" }

// usable says for the tools that cannot be used on everything with a ref what they can be used on.
var usable = map[string]func(element) bool{
	"browser_type": func(e element) bool {
		return e.ref != "" && (e.role == "dropdown" || e.role == "slider" || slices.Contains(fieldRoles, e.role))
	},
	"browser_select": func(e element) bool { return e.ref != "" && slices.Contains(listRoles, e.role) },
	"browser_scroll": func(e element) bool { return e.first != "" },
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
	i, why := findElement(es, s.on, fits)
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
