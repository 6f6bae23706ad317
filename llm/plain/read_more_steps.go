package plain

import (
	"slices"
	"strconv"
	"strings"
)

// buttons are words that are a step by themselves: people call buttons so.
var buttons = []string{
	"save", "cancel", "undo", "redo", "mute", "unmute", "play", "pause", "zoom", "next", "previous", "increase",
	"decrease", "apply", "finish",
}

// isButton reports whether a phrase is only the name of a button, or one with what it is for: "save the changes".
func isButton(p phrase) bool {
	return p.is(0, buttons...) && len(p) <= 3 && p.lower() != "" && p.last("into") < 0
}

// buttonStep returns the click on the button that has all these words as its name, else the first of them.
func buttonStep(p phrase) step {
	t := nameOr(p.lower(), p.without(fillers...).lower(), p.word(0))
	if p.is(0, "zoom") { // in or out
		t = nameOr(p.lower())
	}
	return step{tool: "browser_click", on: t}
}

// readExpand reads "expand Fruit".
func readExpand(p phrase, _ places) (step, error) {
	s, err := pointAt("browser_click", nil, p.after(1), "say what to expand by its name")
	if !p.is(0, "collapse") {
		s.want = wantOpen
	}
	return s, err
}

// readSort reads "sort by Age", "sort the table by Age descending".
func readSort(p phrase, _ places) (step, error) {
	by := p.last("by")
	if by < 0 {
		return step{}, problem("say by what to sort, such as sort by Price")
	}
	want, name := wantSorted, p[by+1:]
	if n := len(name) - 1; name.is(n, "descending", "ascending") {
		if name.is(n, "descending") {
			want = wantReversed
		}
		name = name[:n]
	}
	s, err := pointAt("browser_click", nil, name, "say by which column to sort")
	s.on, s.want = s.on.withRole("column"), want
	return s, err
}

// readRemove reads "remove News" and "delete the second row": what is called so, or what is called remove in it.
func readRemove(p phrase, _ places) (step, error) {
	s, err := pointAt("browser_click", nil, p.after(1), "say what to remove by its name")
	if err != nil {
		return s, err
	}
	of, verb := s.on, p.word(0)
	other := map[string]string{"remove": "delete", "delete": "remove"}[verb]
	t := &target{name: verb, where: "in", near: &of, or: &target{name: other, where: "in", near: &of}}
	if of.where == "" && of.nth == 0 {
		whole := " " + p.after(1, articles...).text()
		t = &target{name: verb + whole, or: &target{name: other + whole, or: t}}
	}
	s.on, s.option, s.want = *t, of, wantRemove
	return s, nil
}

// removers returns the refs of what may remove what a step names: what is called so, and what is in the entry of that.
func (s step) removers(es []element) map[string]bool {
	found, meant := candidates(es, s.option, anything)
	if one, _ := meant.pick(es, found, "", ""); meant.nth != 0 {
		found = slices.DeleteFunc(slices.Clone(found), func(i int) bool { return i != one })
	}
	of, refs := normalizeName(s.option.name), map[string]bool{}
	for i, e := range es {
		entry := ancestorWithRole(es, i, entryRoles...)
		inIt := func(j int) bool { return j == entry || isInside(es, j, entry) }
		called := func(label string) bool { return of != "" && strings.Contains(normalizeName(label), of) }
		refs[e.ref] = refs[e.ref] || e.acts && (slices.ContainsFunc(e.labels(), called) ||
			entry >= 0 && slices.ContainsFunc(found, inIt))
	}
	return refs
}

// readRate reads "give it 4 stars".
func readRate(p phrase, _ places) (step, error) {
	last := len(p) - 1
	n, err := strconv.Atoi(p.word(last - 1))
	if !p.is(last, "star", "stars") || err != nil || n < 1 {
		return step{}, problem("say how many stars, such as give it 4 stars")
	}
	number := strconv.Itoa(n)
	t := nameOr(number+" stars", number+" star", "rating "+number+" of")
	t.or.or.or = &target{name: "star", role: "star", nth: n}
	return step{tool: "browser_click", on: t}, nil
}

// formats are the names of buttons for what people make text.
var formats = byWord(map[string][]string{
	"bold": {"bold", "strong"}, "italic": {"italic", "emphasis"}, "underlined|underline": {"underline", "underlined"},
})

// readMake reads "make it bold" and "make the text in Body bold": the whole text is selected first.
func readMake(p phrase) ([]step, error) {
	names := formats[p.word(len(p)-1)]
	if names == nil || len(p) < 3 {
		return nil, problem("I can make the text of a field bold, italic or underlined")
	}
	of := p[1:len(p)-1].after(0, "the", "all", "text", "of", "in")
	selected := step{tool: "browser_press", input: inputs{"key": "Control+a"}, on: target{role: "field"}}
	if len(of) > 0 {
		var ok bool
		if selected.on, ok = readTarget(of); !ok {
			return nil, problem("say which field by its name")
		}
	}
	return []step{selected, {tool: "browser_click", on: nameOr(names[0], names[1:]...)}}, nil
}

// selectAll reads "select all the text in Body".
func selectAll(p phrase) (step, bool) {
	rest := p.after(1).without(fillers...)
	if len(rest) < 2 || !rest.is(0, "all") || !rest.is(1, "text") {
		return step{}, false
	}
	s := step{tool: "browser_press", input: inputs{"key": "Control+a"}, on: target{role: "field"}}
	if rest = rest.after(2, "in"); len(rest) == 0 {
		return s, true
	}
	var ok bool
	s.on, ok = readTarget(rest)
	return s, ok
}
