package plain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// runForm matches an instruction that is one saved script: "run lamps", or "run the script lamps with search = desk".
var runForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^\s*(?:please\s+)?run\s+(?:the\s+)?(?:script\s+)?` +
		`["“]?([a-z0-9][a-z0-9_-]*)["”]?(?:\s+with\s+(.+?))?\s*[.!]?\s*$`)
})

// script returns the steps that an instruction stands for: those of a saved
// script if it says to run one, else itself.
func (m *Model) script(instruction string) (string, error) {
	found := runForm().FindStringSubmatch(instruction)
	if found == nil || m.scripts == nil {
		return instruction, nil
	}
	return m.scripts(strings.ToLower(found[1]), found[2])
}

// CheckInstruction returns how many steps an instruction has, or says what of it this model would not understand.
func CheckInstruction(instruction string) (steps int, err error) {
	list, err := parseInstruction(instruction, places{})
	return len(list), err
}

// ErrNoName says that nothing can be said by which an element would be found again.
var ErrNoName = errors.New("it has no name by which it could be found again")

// kindWords are the words for roles by which scripts tell what they mean.
var kindWords = byWord(map[string]string{
	"button": "button", "link": "link", "tab": "tab", "option": "option", "checkbox": "checkbox", "switch": "switch",
	"radio": "radio button", "menuitem|menuitemcheckbox|menuitemradio": "menu item", "img": "image", "dialog": "dialog",
	"listitem|treeitem": "item", "textbox|searchbox|spinbutton": "field", "combobox|dropdown|listbox": "list",
	"row":     "row",
	"heading": "heading", "cell|gridcell": "cell", "slider": "slider", "file field": "file field",
})

// maxNth is how far scripts count things of the same name.
const maxNth = 50

// DescribeTarget returns how a person would point at the element with this ref, on a page
// in this state, in a step such as `click %s` or `type "x" into %s`: `the "Add"
// button`, `the 2nd "Add" button`. The step finds that element and no other.
func DescribeTarget(state, ref, step string) (string, error) {
	es := page{lines: strings.Split(state, "\n")}.elements()
	i := slices.IndexFunc(es, func(e element) bool { return e.ref == ref && ref != "" })
	if i < 0 {
		return "", errors.New("it is not on the page as it was seen last")
	}
	finds := func(words string) bool {
		steps, err := parseInstruction(fmt.Sprintf(step, words), places{})
		if err != nil || len(steps) != 1 {
			return false
		}
		at, _ := pickElement(steps[0], es)
		return at == i
	}
	var kinds []string
	for _, k := range []string{kindWords[es[i].role], "field", ""} {
		if !slices.Contains(kinds, k) && (k == "" || slices.Contains(roleWords[k], es[i].role)) {
			kinds = append(kinds, k)
		}
	}
	named := slices.DeleteFunc(es[i].labels(), func(l string) bool { return l == "" })
	for _, label := range append(named, "") {
		for _, kind := range kinds {
			for n := range maxNth + 1 {
				if words := targetPhrase(label, kind, n); words != "" && finds(words) {
					return words, nil
				}
			}
		}
	}
	return "", ErrNoName
}

// targetPhrase returns `the 2nd "label" kind`, or "" if that says too little.
func targetPhrase(label, kind string, n int) string {
	words := []string{"the"}
	if n > 0 {
		words = append(words, strconv.Itoa(n)+[]string{"th", "st", "nd", "rd"}[ordinalSuffix(n)])
	}
	if label == "" && (n == 0 || kind == "") {
		return ""
	}
	if label != "" {
		words = append(words, QuoteText(label))
	}
	if kind != "" {
		words = append(words, kind)
	}
	return strings.Join(words, " ")
}

// ordinalSuffix says which ending a number has when things are counted: 1st, 2nd, 3rd, else th.
func ordinalSuffix(n int) int {
	if n%10 > 3 || n/10%10 == 1 {
		return 0
	}
	return n % 10
}

// QuoteText puts text in quotation marks, so that a step takes it word for word.
// Text that ends with a backslash cannot be put so.
func QuoteText(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// DescribeKey returns the step that presses a key or chord as the browser names it,
// such as `press Control+a`. ok is false if there are no words for it.
func DescribeKey(key string) (step string, ok bool) {
	for _, words := range []string{"press " + key, "press the " + key + " key"} {
		steps, err := parseInstruction(words, places{})
		if err == nil && len(steps) == 1 && steps[0].tool == "browser_press" && steps[0].input["key"] == key {
			return words, true
		}
	}
	return "", false
}
