package plain

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// interactive are the roles of what can be operated.
var interactive = []string{
	"button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio",
	"searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem",
}

var refForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@?((?:f\d+)?e\d+)$`) })

// findElement looks on the page for what a target means among the elements for which
// fits holds. It returns the element's index; or -1 and why there is none, for
// the person.
func findElement(es []element, t target, fits func(element) bool) (int, string) {
	if m := refForm().FindStringSubmatch(t.name); m != nil && t.nth == 0 {
		for i, e := range es {
			if e.ref == m[1] {
				return i, ""
			}
		}
	}
	found := candidates(es, t, fits)
	switch {
	case len(found) == 0:
		return -1, notFound(es, t, fits)
	case t.nth == -1:
		return found[len(found)-1], ""
	case t.nth > len(found):
		return -1, fmt.Sprintf("There %s only %d of %s.", isAre(len(found)), len(found), t.words())
	case t.nth > 0:
		return found[t.nth-1], ""
	case len(found) > 1:
		return -1, ambiguous(es, found, t)
	default:
		return found[0], ""
	}
}

// candidates returns the elements that a target may mean, in the order of the
// page: those with exactly that name if there are any, else those whose name
// differs in case, else those whose name contains the words.
func candidates(es []element, t target, fits func(element) bool) []int {
	name := normalizeName(t.name)
	for _, same := range []func(string) bool{
		func(s string) bool { return s == t.name },
		func(s string) bool { return normalizeName(s) == name },
		func(s string) bool { return strings.Contains(normalizeName(s), name) },
	} {
		var found []int
		for i, e := range es {
			if e.ref != "" && fits(e) && slices.ContainsFunc(e.labels(), same) && (t.name != "" || t.wants(e.role)) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return narrowByRole(es, found, t)
		}
	}
	return nil
}

// narrowByRole leaves of several candidates those with the role that was said, and
// those that can be operated, if there are such.
func narrowByRole(es []element, found []int, t target) []int {
	for _, better := range []func(element) bool{
		func(e element) bool { return t.wants(e.role) },
		func(e element) bool { return slices.Contains(interactive, e.role) },
	} {
		var some []int
		for _, i := range found {
			if better(es[i]) {
				some = append(some, i)
			}
		}
		if len(some) > 0 {
			found = some
		}
	}
	return found
}

// labels returns the names by which an element can be called.
func (e element) labels() []string {
	if e.name == "" && e.hint == "" && !slices.Contains(fieldRoles, e.role) {
		return []string{e.text}
	}
	if e.hint == "" {
		return []string{e.name}
	}
	return []string{e.name, e.hint}
}

// normalizeName brings a name to the form in which it is compared: lower case, single
// spaces, no punctuation at its ends.
func normalizeName(s string) string {
	return strings.Trim(strings.Join(strings.Fields(strings.ToLower(s)), " "), " .:…!?*")
}

// words describes the target for people.
func (t target) words() string {
	switch {
	case t.name == "":
		return "the " + t.role
	case t.role == "":
		return fmt.Sprintf("%q", t.name)
	default:
		return fmt.Sprintf("the %s %q", t.role, t.name)
	}
}

// describe names an element for people.
func (e element) describe() string {
	for _, l := range e.labels() {
		if l != "" {
			return fmt.Sprintf("%s %q", e.role, shorten(l, 60))
		}
	}
	return fmt.Sprintf("%s without a name (%s)", e.role, e.ref)
}

// maxListed bounds how many elements are named to a person.
const maxListed = 8

// notFound says that nothing fits, and names what would.
func notFound(es []element, t target, fits func(element) bool) string {
	var names []string
	for _, e := range es {
		if e.ref == "" || !fits(e) || !slices.Contains(interactive, e.role) || (e.name == "" && e.hint == "") || e.role == "option" {
			continue
		}
		if d := e.describe(); !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("I did not find %s on the page, nor anything of that kind.", t.words())
	}
	more := ""
	if len(names) > maxListed {
		more = fmt.Sprintf(", and %d more", len(names)-maxListed)
		names = names[:maxListed]
	}
	return fmt.Sprintf("I did not find %s on the page. There is: %s%s.", t.words(), strings.Join(names, ", "), more)
}

// ambiguous says which elements fit alike.
func ambiguous(es []element, found []int, t target) string {
	var names []string
	for _, i := range found[:min(len(found), maxListed)] {
		d := es[i].describe()
		if near := surroundings(es, i); near != "" {
			d += " in " + near
		}
		names = append(names, d)
	}
	example := t.name
	if example == "" {
		example = es[found[0]].name
	}
	return fmt.Sprintf("%d things on the page fit %s: %s. Say which one, such as: the 2nd %q.", len(found), t.words(), strings.Join(names, ", "), example)
}

// surroundings names what an element is inside of, or what comes before it there.
func surroundings(es []element, i int) string {
	p := ancestorWithRole(es, i, "listitem", "article", "row", "region", "form", "dialog", "navigation")
	if p < 0 {
		return ""
	}
	if es[p].name != "" {
		return fmt.Sprintf("%q", shorten(es[p].name, 40))
	}
	for j := p + 1; j < i; j++ {
		if es[j].name != "" {
			return fmt.Sprintf("%q", shorten(es[j].name, 40))
		}
	}
	return ""
}

// resolveAgain returns what "the second one" means: the target of an earlier instruction, with another number;
// otherwise the entries of the page's list.
func resolveAgain(t target, before []string, known places) target {
	for _, instruction := range slices.Backward(before) {
		steps, err := parseInstruction(instruction, known)
		if err != nil {
			continue
		}
		for _, s := range slices.Backward(steps) {
			if (s.act == actClick || s.act == actHover) && !s.target.again {
				s.target.nth = t.nth
				return s.target
			}
		}
	}
	return t
}

// listEntries returns what is linked, or can be pressed, in each entry of the page's
// lists: the first such element of each.
func listEntries(es []element) []int {
	var found []int
	taken := map[int]bool{}
	for i, e := range es {
		p := ancestorWithRole(es, i, "listitem", "article", "row")
		if p < 0 || taken[p] || e.ref == "" || (e.role != "link" && e.role != "button") || ancestorWithRole(es, i, "navigation", "banner", "contentinfo") >= 0 {
			continue
		}
		taken[p] = true
		found = append(found, i)
	}
	return found
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// shorten cuts s to n runes.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
