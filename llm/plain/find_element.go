package plain

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// interactive are the roles of what can be operated.
var interactive = []string{
	"button", "checkbox", "combobox", "dropdown", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio",
	"option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem",
}

var refForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@?((?:f\d+)?e\d+)$`) })

// findElement looks on the page for what a target means among the elements for which fits holds. It returns the
// element's index; or -1 and why there is none, for the person.
func findElement(es []element, t target, fits func(element) bool) (int, string) {
	if m := refForm().FindStringSubmatch(t.name); m != nil && t.nth == 0 {
		if i := slices.IndexFunc(es, func(e element) bool { return e.ref == m[1] }); i >= 0 {
			return i, ""
		}
	}
	found, meant := candidates(es, t, fits)
	es = withTextBeside(es)
	if len(found) == 0 {
		found, meant = candidates(es, t, fits)
	}
	if len(found) > 0 {
		return meant.pick(es, found, "of "+t.words(), "")
	}
	if t.where != "" {
		if near, _ := t.near.called(es, anything); len(near) > 0 {
			return -1, notFound(es, t, fits)
		} else if t.near.role != "" || t.whole == nil {
			return -1, notFound(es, *t.near, anything)
		}
		return -1, notFound(es, *t.whole, fits)
	}
	return -1, notFound(es, t, fits)
}

func anything(element) bool { return true }

// maxNear bounds how many things of one name count as what others are near.
const maxNear = 100

// candidates returns the elements that a target may mean, in the order of the page; those before another from there up;
// and the target as its words were meant.
func candidates(es []element, t target, fits func(element) bool) ([]int, target) {
	found, t := t.called(es, fits)
	found = prefer(es, found, func(e element) bool { return e.acts })
	found = inmost(es, found)
	// The label of a radio button is not meant where the button is called so itself.
	found = prefer(es, found, func(e element) bool { return t.role != "" || slices.Contains(interactive, e.role) })
	if found = drawn(es, found); t.where == "" {
		return found, t
	}
	near, meant := t.near.called(es, anything)
	near = near[:min(len(near), maxNear)]
	if meant.nth != 0 {
		i, _ := meant.pick(es, near, "", "")
		near = slices.DeleteFunc(near, func(at int) bool { return at != i })
	}
	if t.where == "in" || t.where == "beside" {
		if inside := within(es, found, near, meant); t.where == "in" || len(inside) == 1 {
			return inside, t
		} else if len(inside) > 1 {
			return prefer(es, inside, func(e element) bool { return slices.Contains(names(es, near), e.beside) }), t
		}
	}
	// The label of a field is not meant where the field is called so itself.
	near = prefer(es, near, func(e element) bool { return e.acts && e.role != "link" })
	return t.nextTo(found, near), t
}

// names returns what the elements at these places are called.
func names(es []element, at []int) []string {
	var all []string
	for _, i := range at {
		all = append(all, cmp.Or(es[i].name, es[i].text))
	}
	return all
}

// called returns what is called by all words of the target, if there is such a thing, else what it means; and which of
// the two was meant.
func (t target) called(es []element, fits func(element) bool) ([]int, target) {
	if t.whole != nil {
		if found := named(es, *t.whole, fits); len(found) > 0 {
			return found, *t.whole
		}
	}
	found := named(es, t, fits)
	if len(found) == 0 && t.or != nil {
		return t.or.called(es, fits)
	}
	return found, t
}

// named returns the elements with the target's name and kind: those with exactly that name if there are any, else those
// whose name differs in case, else those whose name contains the words. Without a name everything of that kind counts.
func named(es []element, t target, fits func(element) bool) []int {
	name, month := normalizeName(t.name), date{}
	if t.date.day > 0 {
		month = shownMonth(es)
	}
	for _, same := range []func(string) bool{
		func(s string) bool { return s == t.name || t.name == "" },
		func(s string) bool { return normalizeName(s) == name },
		func(s string) bool { return t.date.named(s, month) },
		func(s string) bool {
			return t.date.day == 0 && strings.Contains(" "+normalizeName(s)+" ", " "+name+" ")
		},
		func(s string) bool { return t.date.day == 0 && strings.Contains(normalizeName(s), name) },
	} {
		var found []int
		for i, e := range es {
			if fits(e) && slices.ContainsFunc(e.labels(), same) && (t.name != "" || t.wants(e.role)) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			found = t.date.thisMonth(found, month)
			return prefer(es, found, func(e element) bool { return t.wants(e.role) })
		}
	}
	return nil
}

// inmost returns those of found that have none of the same name in them: a heading with a button that is all of it.
func inmost(es []element, found []int) []int {
	return slices.DeleteFunc(slices.Clone(found), func(outer int) bool {
		return slices.ContainsFunc(found, func(i int) bool {
			return i != outer && isInside(es, i, outer) && normalizeName(es[i].name) == normalizeName(es[outer].name)
		})
	})
}

// drawn returns found without the options of lists that are drawn by other elements, which people click.
func drawn(es []element, found []int) []int {
	clicked := func(e element) bool {
		return slices.ContainsFunc(found, func(i int) bool { return es[i].role == "option" && es[i].name == e.name })
	}
	var twins []int
	for i, e := range es {
		if e.role == "generic" && e.ref != "" && e.pointer && clicked(e) {
			twins = append(twins, i)
		}
	}
	if len(twins) > 0 {
		return twins
	}
	return found
}

// prefer returns those of found that are better, or all if none is.
func prefer(es []element, found []int, better func(element) bool) []int {
	var some []int
	for _, i := range found {
		if better(es[i]) {
			some = append(some, i)
		}
	}
	if len(some) == 0 {
		return found
	}
	return some
}

var (
	entryRoles    = []string{"row", "listitem", "article", "treeitem", "option", "dialog", "alertdialog", "form"}
	landmarkRoles = []string{"main", "banner", "contentinfo"}
)

// within returns those of found that are in the same entry, or the same group, as one of near; or that are said to be.
func within(es []element, found, near []int, t target) []int {
	var inside []int
	for _, i := range found {
		if t.name != "" && strings.Contains(normalizeName(es[i].in), normalizeName(t.name)) {
			inside = append(inside, i)
		}
	}
	if len(inside) > 0 {
		return inside
	}
	for _, at := range near {
		before := len(inside)
		for c := at; c >= 0 && len(inside) == before && !slices.Contains(landmarkRoles, es[c].role); c = es[c].parent {
			for _, i := range found {
				if i != at && isInside(es, i, c) && !slices.Contains(inside, i) {
					inside = append(inside, i)
				}
			}
			if slices.Contains(entryRoles, es[c].role) {
				break
			}
		}
	}
	slices.Sort(inside)
	return inside
}

// nextTo returns those of found that come after one of near, or before it: the next one, or all if they are counted.
func (t target) nextTo(found, near []int) []int {
	found = slices.Clone(found)
	if t.where == "before" {
		slices.Reverse(found)
	}
	var next []int
	for _, at := range near {
		for _, i := range found {
			if i == at || (i < at) != (t.where == "before") {
				continue
			}
			if !slices.Contains(next, i) {
				next = append(next, i)
			}
			if t.nth == 0 {
				break
			}
		}
	}
	return next
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
// spaces, straight quotes, no punctuation at its ends.
func normalizeName(s string) string {
	return strings.Trim(straightQuotes.Replace(strings.Join(strings.Fields(strings.ToLower(s)), " ")), " .:…!?*")
}

var straightQuotes = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`)

// words describes the target for people.
func (t target) words() string {
	words := fmt.Sprintf("%q", t.name)
	switch {
	case t.name == "":
		words = "the " + t.role
	case t.role != "":
		words = fmt.Sprintf("the %s %q", t.role, t.name)
	}
	if t.where != "" {
		words += " " + t.where + " " + t.near.words()
	}
	return words
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

// notFound says that nothing fits, and names what would, the most similar first.
func notFound(es []element, t target, fits func(element) bool) string {
	names, likeness := []string(nil), map[string]float64{}
	for _, e := range es {
		score := 0.0
		for _, l := range e.labels() {
			score = max(score, similarity(normalizeName(l), normalizeName(t.name)))
		}
		d := e.describe()
		_, known := likeness[d]
		other := t.name == "" && !t.wants(e.role) || e.role == "option" && score < 0.5 && t.role != "option"
		if known || other || !fits(e) || !e.acts {
			continue
		}
		if t.role != "" && t.wants(e.role) {
			score += 0.25
		}
		names, likeness[d] = append(names, d), score
	}
	isThere := func(e element) bool { return t.wants(e.role) }
	switch {
	case len(names) == 0 && t.name == "" && slices.ContainsFunc(es, isThere):
		return fmt.Sprintf("I found %s, but that cannot be done with it. Name what stands in it.", t.words())
	case len(names) == 0:
		return fmt.Sprintf("I did not find %s on the page, nor anything of that kind.", t.words())
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(likeness[b], likeness[a]) })
	more := ""
	if len(names) > maxListed {
		more = fmt.Sprintf(", and %d more", len(names)-maxListed)
		names = names[:maxListed]
	}
	return fmt.Sprintf("I did not find %s on the page. There is: %s%s.", t.words(), strings.Join(names, ", "), more)
}

// similarity compares two names by their pairs of letters (Dice): 1 if they are alike, 0 if they share nothing.
func similarity(a, b string) float64 {
	pairs, common, total := map[[2]rune]int{}, 0, 0
	for i, s := range []string{a, b} {
		letters := []rune(" " + s + " ")
		for at := range len(letters) - 1 {
			pair := [2]rune{letters[at], letters[at+1]}
			total++
			switch {
			case i == 0:
				pairs[pair]++
			case pairs[pair] > 0:
				pairs[pair]--
				common++
			}
		}
	}
	return 2 * float64(common) / float64(total)
}

// ambiguous says which elements fit alike, and what to say instead.
func ambiguous(es []element, found []int, t target) string {
	var names []string
	for _, i := range found[:min(len(found), maxListed)] {
		d := es[i].describe()
		if near := surroundings(es, i); near != "" {
			d += " in " + near
		}
		names = append(names, d)
	}
	example := targetPhrase(t.name, t.role, 2)
	if t.where != "" {
		example += " " + t.where + " " + t.near.words()
	}
	const said = "%d things on the page fit %s: %s. Say which one, such as: %s."
	return fmt.Sprintf(said, len(found), t.words(), strings.Join(names, ", "), example)
}

// surroundings names what an element is inside of, or what comes before it there.
func surroundings(es []element, i int) string {
	if es[i].in != "" {
		return fmt.Sprintf("%q", shorten(es[i].in, 40))
	}
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
func resolveAgain(t target, before []round, known places) target {
	for _, r := range slices.Backward(before) {
		steps, err := parseInstruction(r.instruction, known)
		if err != nil {
			continue
		}
		for _, s := range slices.Backward(steps) {
			if (s.tool == "browser_click" || s.tool == "browser_hover") && !s.on.again {
				s.on.nth = t.nth
				return s.on
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
		if p < 0 || taken[p] || e.ref == "" || (e.role != "link" && e.role != "button") ||
			ancestorWithRole(es, i, "navigation", "banner", "contentinfo") >= 0 {
			continue
		}
		taken[p] = true
		found = append(found, i)
	}
	return found
}

// shorten cuts s to n runes.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
