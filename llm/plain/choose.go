package plain

import (
	"slices"
	"strings"
)

// optionRoles are the roles of what is chosen in a list, a menu or a group.
var optionRoles = []string{
	"option", "menuitem", "menuitemcheckbox", "menuitemradio", "radio", "checkbox", "treeitem", "tab", "gridcell", "row",
}

func isPart(r result) bool { return r.part }

// led reports whether an act that led up to a step used a tool.
func led(tool string) func(result) bool {
	return func(r result) bool { return r.tool == tool && !r.part }
}

// current returns the step on that of several things which is due, if its name lists them and nothing has all of the
// name; and whether it is the last of them.
func (s step) current(p page, es []element) (one step, last bool) {
	names := listed(s.on.name)
	done := min(p.did(isPart), len(names)-1)
	if !s.on.list || s.tool != "browser_click" {
		return s, true
	}
	one = s
	one.on.name, one.on.whole, one.on.list = names[done], nil, false
	if i, _ := pickElement(s, es); done == 0 && i >= 0 {
		return s, true
	}
	if i, _ := pickElement(one, es); done == 0 && i < 0 {
		return s, true
	}
	return one, done == len(names)-1
}

// selectListed returns the act that selects all options that a step names, if they are those of one list of the page.
func (s step) selectListed(es []element) (decision, bool) {
	list, names := -1, listed(s.on.name)
	for _, name := range names {
		j, _ := findOption(es, target{name: name}, func(int) bool { return true }, true)
		if j < 0 || es[j].role != "option" {
			return decision{}, false
		}
		in := ancestorWithRole(es, j, listRoles...)
		if in < 0 || es[in].ref == "" || list >= 0 && in != list {
			return decision{}, false
		}
		list = in
	}
	return decision{tool: "browser_select", input: inputs{"ref": es[list].ref, "values": names}}, true
}

// approach returns an act that leads up to a step on element i, which may not be there: a closed item of a tree is
// opened by keys, a calendar turned, and a list scrolled.
func (s step) approach(p page, es []element, i int) (decision, bool) {
	switch {
	case i >= 0 && s.want == wantOpen && es[i].expanded == "false" && es[i].role == "treeitem" && len(p.way) == 0:
		return decision{purpose: "way", tool: "browser_press", input: inputs{"key": "ArrowRight", "ref": es[i].ref}}, true
	case i >= 0 && s.want == wantReversed && len(p.way) == 0 &&
		!slices.Contains([]string{"ascending", "descending"}, sortOf(es, i)):
		return decision{purpose: "way", tool: "browser_click", input: inputs{"ref": es[i].ref}}, true
	case i < 0 && s.on.date.day > 0:
		return s.on.date.turn(p, es)
	case i < 0 && s.want == wantSeen && len(p.way) < maxMore && (len(p.way) == 0 || p.way[len(p.way)-1].body != ""):
		like, most, name := -1, 0.0, s.on.name
		if s.on.whole != nil {
			name = s.on.whole.name
		}
		for j, e := range es {
			if n := similarity(normalizeName(e.name), normalizeName(name)); e.ref != "" && n > most {
				like, most = j, n
			}
		}
		in := inputs{"direction": s.kind}
		if like >= 0 {
			in["ref"] = es[like].ref
		}
		return decision{purpose: "way", tool: "browser_scroll", input: in}, true
	default:
		return decision{}, false
	}
}

// sortOf returns how a column is sorted, of which element i is the heading or in it.
func sortOf(es []element, i int) string {
	if in := ancestorWithRole(es, i, "columnheader"); es[i].sort == "" && in >= 0 {
		return es[in].sort
	}
	return es[i].sort
}

// choice is a step that chooses options, as it stands on a page.
type choice struct {
	step
	page  page
	es    []element
	names []target // the options
	done  int      // how many of them have been chosen
}

// choose returns the next act of a step that chooses an option of what it names: in a list of the page, a group or a
// list that has to be opened first. ok is false if the step is to be done as any other.
func (s step) choose(p page, es []element) (do decision, ok bool) {
	i, why := findElement(es, s.on, func(e element) bool { return usable["browser_select"](e) && !e.empty })
	for _, fits := range []func(element) bool{
		func(e element) bool { return e.ref != "" && slices.Contains(interactive, e.role) && !e.empty },
		func(e element) bool { return e.ref != "" && e.acts && !e.empty },
	} {
		if i < 0 {
			all, reason := findElement(es, s.on, fits)
			if i = all; !slices.ContainsFunc(es, usable["browser_select"]) {
				why = reason
			}
		}
	}
	var role string
	if i >= 0 {
		role = es[i].role
	}
	isList := len(p.way) == 0 && (role == "dropdown" || role == "listbox")
	if s.want == wantSet && len(p.way) == 0 && role != "combobox" && role != "button" && !isList {
		return decision{}, false // a text
	}
	c := choice{step: s, page: p, es: es, names: []target{s.option}, done: p.did(isPart)}
	whole := func(e element) bool { return e.ref != "" && slices.ContainsFunc(e.labels(), s.option.exactly) }
	if s.option.list && (c.done > 0 || !slices.ContainsFunc(es, whole)) {
		c.names = nil
		for _, name := range listed(s.option.name) {
			c.names = append(c.names, target{name: name})
		}
	}
	if isList {
		return c.selectIn(i), true
	}
	if len(p.way) == 0 {
		if do, ok := c.take(s.inside(es), false); ok {
			return do, true
		}
	}
	typed := p.did(led("browser_type")) > 0
	isOpen := len(p.way) == 0 && i >= 0 && es[i].expanded == "true"
	if do, ok := c.take(func(j int) bool { return isOpen || p.isNew(es[j]) }, typed); ok {
		return do, true
	}
	switch name := c.name(); {
	case len(p.way) == 0 && i >= 0:
		return c.lead("browser_click", i), true
	case !p.fresh || !p.waited:
		return p.lookAgain(), true
	case i < 0 && len(p.way) == 0:
		return decision{problem: why}, true
	case i < 0: // the list stands in its place
	case p.did(led("browser_click")) <= c.done:
		return c.lead("browser_click", i), true // it has closed
	case name.date.day > 0:
		if do, ok := name.date.turn(p, es); ok {
			return do, true
		}
	case s.want == wantSet && slices.Contains(fieldRoles, role):
		return decision{}, false // no option, but a text
	case slices.Contains(fieldRoles, role) && !es[i].readonly && !typed:
		do := c.lead("browser_type", i)
		do.input["text"] = name.name
		return do, true
	}
	return decision{problem: notFound(es, c.name().withRole("option"), p.isNew)}, true
}

// name returns the option that is next.
func (c choice) name() target { return c.names[min(c.done, len(c.names)-1)] }

// lead returns an act on element i that leads up to the choice.
func (c choice) lead(tool string, i int) decision {
	return decision{purpose: "way", tool: tool, input: inputs{"ref": c.es[i].ref}}
}

// take returns the act that chooses the next option, if it is among the elements for which fits holds. The act has a
// problem if several have its name.
func (c choice) take(fits func(int) bool, exact bool) (decision, bool) {
	j, why := findOption(c.es, c.name(), fits, exact)
	if j < 0 {
		return decision{problem: why}, why != ""
	}
	list := ancestorWithRole(c.es, j, "listbox")
	inList := list >= 0 && c.es[list].ref != "" && c.es[j].role == "option"
	if inList && c.done == 0 && (len(c.page.way) == 0 || len(c.names) > 1 && isMarked(c.es, list)) {
		return c.selectIn(list), true
	}
	do := decision{tool: "browser_click", input: inputs{"ref": c.es[j].ref}}
	if c.done < len(c.names)-1 {
		do.purpose = "part"
	}
	return do, true
}

// selectIn selects the options in a list of the page, and no others: those with the names, or the one that is counted.
func (c choice) selectIn(list int) decision {
	var options, values []string
	for j, e := range c.es {
		if e.role == "option" && isInside(c.es, j, list) {
			options = append(options, e.name)
		}
	}
	n := c.option.nth
	if n < 0 {
		n = len(options)
	}
	if c.option.name == "" && n > 0 && n <= len(options) {
		values = options[n-1 : n]
	} else {
		for _, t := range c.names {
			values = append(values, t.name)
		}
	}
	return decision{tool: "browser_select", input: inputs{"ref": c.es[list].ref, "values": values}}
}

// exactly reports whether a label is the target's name.
func (t target) exactly(label string) bool {
	return label != "" && normalizeName(label) == normalizeName(t.name)
}

// inside reports which elements are in what a step chooses from.
func (s step) inside(es []element) func(int) bool {
	around, _ := s.on.called(es, anything)
	return func(j int) bool {
		return slices.ContainsFunc(around, func(at int) bool { return isInside(es, j, at) })
	}
}

// findOption returns the element that an option's name means, among those for which fits holds: its index, or -1; and
// why, if several have it. Unless the name must be exact, that may be the beginning of a longer one.
func findOption(es []element, t target, fits func(int) bool, exact bool) (int, string) {
	var found []int
	month := shownMonth(es)
	for _, partly := range []bool{false, !exact && t.name != "" && t.date.day == 0} {
		for j, e := range es {
			is := func(label string) bool {
				return t.exactly(label) || t.date.named(label, month) || partly && slices.Contains(optionRoles, e.role) &&
					strings.HasPrefix(normalizeName(label), normalizeName(t.name)+" ")
			}
			named := slices.ContainsFunc(e.labels(), is) || t.name == "" && t.wants(e.role)
			if e.ref != "" && e.acts && fits(j) && named {
				found = append(found, j)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	found = prefer(es, inmost(es, found), func(e element) bool { return slices.Contains(optionRoles, e.role) })
	if found = t.date.thisMonth(drawn(es, found), month); len(found) == 0 {
		return -1, ""
	}
	return t.pick(es, found, "of "+t.words(), "")
}

// isMarked reports whether a list shows that options are selected already: they are to be so no longer.
func isMarked(es []element, list int) bool {
	for j, e := range es {
		if e.selected && isInside(es, j, list) {
			return true
		}
	}
	return false
}
