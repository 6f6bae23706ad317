package plain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// articles lead the words for a thing and say nothing about it.
var (
	articles = append([]string{"the", "a", "an", "this", "that", "my", "on", "at", "over"}, callers...)
	callers  = []string{"named", "called", "labelled", "labeled"}
)

// roleWords are the words for what a thing is, and the roles they stand for.
var roleWords = byWord(map[string][]string{
	"button": {"button", "file field"}, "file|file field|upload": {"file field"}, "link|result": {"link"}, "tab": {"tab"},
	"menu": {"menu", "menuitem", "button"}, "menu item": {"menuitem", "menuitemcheckbox", "menuitemradio"},
	"checkbox": {"checkbox", "menuitemcheckbox", "switch"}, "switch|toggle": {"switch", "checkbox"},
	"radio|radio button": {"radio", "menuitemradio"}, "icon": {"button", "link", "img"},
	"image|picture|chart": {"img", "link"},
	"item":                {"listitem", "option", "menuitem", "treeitem"}, "entry": {"listitem", "link"},
	"option":  {"option"},
	"heading": {"heading"}, "row": {"row"}, "header row": {"header row"},
	"cell": {"cell", "gridcell"}, "slider": {"slider"}, "form": {"form"}, "column": {"columnheader", "button"},
	"star":   {"radio", "button", "img"},
	"dialog": {"dialog", "alertdialog"}, "section": {"region", "group", "article"}, "table": {"table", "grid", "treegrid"},
	"dropdown|drop-down|combobox|menu list": listRoles, "list": append(listRoles, "list"),
	"field|box|input|textbox|text box|text field|input field|bar|area|editor|" +
		"search box|search field|search bar": fieldRoles,
})

// byWord splits keys that are joined by "|".
func byWord[T any](joined map[string]T) map[string]T {
	words := map[string]T{}
	for keys, value := range joined {
		for key := range strings.SplitSeq(keys, "|") {
			words[key] = value
		}
	}
	return words
}

var (
	fieldRoles = []string{"textbox", "searchbox", "combobox", "spinbutton"}
	listRoles  = []string{"combobox", "dropdown", "listbox"}
)

// counted are the kinds that are counted by a number after them: "row 2".
var counted = []string{"row", "item", "entry", "result"}

var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

var ordinalNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:#(\d{1,3})|(\d{1,3})(?:st|nd|rd|th))$`)
})

// target is how a person points at something on the page.
type target struct {
	name  string
	role  string // a word for what it is, see roleWords; may be empty
	nth   int    // counted from 1; -1 is the last; 0 if not said
	again bool   // "one": the same as in an earlier instruction, only with another nth
	same  bool   // "it": what the last step before is on
	where string // "in", "after", "before" or "beside" near; empty if not said
	near  *target
	whole *target // all words as a name, which comes first: "Log in here"; may be nil
	or    *target // what is meant if there is no such thing; may be nil
	list  bool    // the name may be those of several things: "Bold and Italic"
	date  date    // the name is a day of a calendar
}

// relations say where a thing is by another.
var relations = []struct{ words, where string }{
	{"next to", "beside"},
	{"beside", "beside"},
	{"near", "beside"},
	{"right of", "after"},
	{"left of", "before"},
	{"after", "after"},
	{"below", "after"},
	{"under", "after"},
	{"following", "after"},
	{"before", "before"},
	{"above", "before"},
	{"in", "in"},
	{"inside", "in"},
	{"within", "in"},
}

// loose are words that say the same as "in", where none of the relations is said.
var loose = []struct{ words, where string }{{"of", "in"}, {"for", "in"}}

// readTarget reads how a person points at something, such as "the 2nd link", "the box below Amount" or "Delete in the
// Lamp row". ok is false if a part of the words is not understood.
func readTarget(p phrase) (t target, ok bool) {
	if day := p.after(0, articles...); len(day) > 0 {
		if d, ok := day.asDate(); ok {
			return target{name: day.text(), date: d}, true
		}
	}
	whole, wholeOK := readThing(p, false)
	kind, ok := readKind(p)
	for _, words := range [][]struct{ words, where string }{relations, loose} {
		for i := len(p) - 2; i > 0; i-- {
			for _, r := range words {
				n := len(strings.Fields(r.words))
				if i+n >= len(p) || p[i:i+n].lower() != r.words {
					continue
				}
				head := p[:i]
				for head.is(len(head)-1, "to", "the", "that", "is") {
					head = head[:len(head)-1] // "to the right of"
				}
				t, ok := readThing(head, true)
				near, nearOK := readKind(p[i+n:])
				if !ok || !nearOK || t.again || near.again || t.same || near.same {
					continue
				}
				t.where, t.near = r.where, &near
				if wholeOK && !p.quoted() {
					t.whole = &whole
				}
				return t, true
			}
		}
	}
	return kind, ok
}

// readKind reads a target that may be said by its kind alone or first, as "the dropdown" and "the link Privacy", unless
// something is called so.
func readKind(p phrase) (target, bool) {
	named, ok := readThing(p, false)
	if kind, isKind := readThing(p, true); isKind && kind != named && named.name != "" {
		kind.whole = &named
		return kind, true
	}
	return named, ok
}

// readThing reads a target that is not said to be near another. alone says that the word for its kind may stand alone.
func readThing(p phrase, alone bool) (t target, ok bool) {
	p = p.after(0, articles...)
	if last := len(p) - 1; last > 0 && p.is(last, "now") { // "click Pay now"
		if other, ok := readThing(p[:last], alone); ok {
			t.or = &other
		}
	}
	if t.nth = ordinal(p.word(0)); t.nth != 0 && (len(p) > 1 || !unicode.IsUpper(rune(p[0].text[0]))) {
		p = p.after(1, articles...)
	} else if t.nth = 0; p.is(0, "number", "no", "no.", "#") && len(p) > 1 {
		if n, err := strconv.Atoi(p.word(1)); err == nil && n > 0 {
			t.nth, p = n, p.after(2)
		}
	}
	if len(p) == 1 && p.is(0, "one", "ones") && !unicode.IsUpper(rune(p[0].text[0])) {
		t.again = t.nth != 0
		return t, t.again
	}
	if t.same = len(p) == 1 && t.nth == 0 && p.is(0, "it"); t.same {
		return t, true
	}
	p, t.role = takeRole(p, alone || t.nth != 0)
	p = p.after(0, articles...)
	if len(p) == 0 {
		return t, t.role != ""
	}
	if p.quoted() && len(p) > 1 {
		return t, false
	}
	t.name = strings.TrimSpace(p.text())
	t.list = !p.quoted() && len(listed(t.name)) > 1
	if n, err := strconv.Atoi(t.name); err == nil && n > 0 && t.nth == 0 && slices.Contains(counted, t.role) {
		t.whole = &target{name: t.role + " " + t.name} // something may be called so
		t.name, t.nth = "", n
	}
	return t, t.name != "" || t.nth != 0
}

// nameOr returns a target with the first of the names that there is.
func nameOr(name string, others ...string) target {
	t := target{name: name}
	if len(others) > 0 {
		other := nameOr(others[0], others[1:]...)
		t.or = &other
	}
	return t
}

var listMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` (?:and|&|>) `) })

// listed returns the names that a name may list.
func listed(name string) []string { return listMark().Split(name, -1) }

// withRole returns the target as something of a kind.
func (t target) withRole(role string) target {
	t.role = role
	if t.whole != nil {
		whole := t.whole.withRole(role)
		t.whole = &whole
	}
	return t
}

// ordinal returns the number that a word counts, or 0.
func ordinal(word string) int {
	if word == "last" {
		return -1
	}
	if i := slices.Index(ordinals, word); i >= 0 {
		return i + 1
	}
	if m := ordinalNumber().FindStringSubmatch(word); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2])
		return n
	}
	return 0
}

// takeRole takes the words for what a thing is from the end of the phrase ("Search box"), or from its beginning
// before a quoted name (button "Buy"). Alone they remain only if something is counted ("first link").
func takeRole(p phrase, counted bool) (phrase, string) {
	for _, n := range []int{2, 1} {
		if len(p) < n {
			continue
		}
		role, ok := roleOf(p[len(p)-n:])
		if ok && (len(p) > n || counted || n == 2 || p.is(0, "button", "link", "checkbox", "textbox", "field")) {
			if n == 2 && len(p) == 2 && p.is(0, "search") && !counted {
				return p[:1], role // "search box": the field called search
			}
			return p[:len(p)-n], role
		}
	}
	role, ok := roleOf(p[:min(1, len(p))])
	switch {
	case !ok || len(p) < 2:
		return p, ""
	case counted && len(p) > 2 && p.is(1, "of", "for", "with"):
		return p[2:], role // "row of Ada"
	case counted, p[1].quoted, p.is(1, callers...):
		return p[1:], role
	default:
		return p, ""
	}
}

// roleOf returns the words as a key of roleWords.
func roleOf(p phrase) (string, bool) {
	words := p.lower()
	if one, ok := strings.CutSuffix(words, "s"); ok && roleWords[one] != nil {
		words = one
	}
	_, ok := roleWords[words]
	return words, ok && words != ""
}

// wants reports whether an element of this role is what the target's role word means.
func (t target) wants(role string) bool {
	return t.role == "" || slices.Contains(roleWords[t.role], role)
}
