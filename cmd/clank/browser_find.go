package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/control/client"
	"clank/browsermgr/page/action/actiontable"
)

// findCommand returns the command that searches the whole page for elements and prints their refs.
func findCommand() browserCommand {
	return browserCommand{
		name: "find", short: "print the refs of the elements with this role, label or text, one per line",
		options: []browserOption{
			{name: "role", kind: kindText, value: "role", help: "their role, such as button, or a kind of it if none has " +
				"exactly this role"},
			{name: "label", kind: kindText, value: "label", help: "their name, or a part of it if none has exactly this name"},
			{name: "text", kind: kindText, value: "text", help: "text that they show, or a part of it"},
			tabOption, timeoutOption,
		},
		examples: []string{`find --role button --label "Sign in"`, `click "$(clank browser find --role link --text Help)"`},
		buildRequest: func(in *commandInput) (controlRequest, error) {
			if in.text("role")+in.text("label")+in.text("text") == "" {
				return controlRequest{}, usagef("--role or --label or --text is needed")
			}
			return in.getRequest("/snapshot", "maxChars", "0", "interactive", "false", "compact", "false", "depth", "1000"), nil
		},
		checkAnswer: func(in *commandInput, answer []byte) error {
			if err := checkSnapshot(in, answer); err != nil {
				return err
			}
			if found, err := in.findElements(answer); err != nil || len(found) > 0 {
				return err
			}
			return in.notFound(answer)
		},
		printAnswer: func(p *outputPrinter, in *commandInput, answer []byte) error {
			found, err := in.findElements(answer)
			for _, e := range found {
				p.Line("%s", cleanLine(e.Ref))
				if len(found) > 1 || !e.hasRole(in.text("role")) {
					p.Message("%s is %s", cleanLine(e.Ref), e.describe())
				}
			}
			return err
		},
		trimForJSON: func(in *commandInput, answer []byte) any {
			found, _ := in.findElements(answer)
			return map[string]any{"elements": append([]foundElement{}, found...)}
		},
	}
}

// foundElement is an element with a ref.
type foundElement struct {
	Ref  string `json:"ref"`
	Role string `json:"role"`
	Name string `json:"name"`
	text string // from its snapshot line
}

// snapshotLinePattern splits a line of a snapshot: indentation, role, quoted name, states and text.
var snapshotLinePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^( *)- (\S+?)(?: ("(?:[^"\\]|\\.)*"))?((?: \[[^]]*\])*)(?::(?: (.*))?)?$`)
})

var refStatePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[ref=([^]]+)\]`) })

// elementsOf returns the elements of a snapshot, in page order. Text without a ref belongs to the closest enclosing
// element that has one.
func elementsOf(answer []byte) ([]foundElement, error) {
	snap, err := decodeAnswer[client.Snapshot](answer)
	if err != nil {
		return nil, err
	}
	var list []foundElement
	var around []int // for each level the index of the enclosing element, or -1
	for line := range strings.Lines(snap.Text) {
		part := snapshotLinePattern().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if part == nil {
			continue
		}
		around = around[:min(len(part[1])/2, len(around))]
		owner := -1
		if len(around) > 0 {
			owner = around[len(around)-1]
		}
		var name string
		_ = json.Unmarshal([]byte(part[3]), &name) // a line may have no name
		if ref := refStatePattern().FindStringSubmatch(part[4]); ref != nil {
			owner = len(list)
			list = append(list, foundElement{Ref: ref[1], Role: part[2], Name: name})
		}
		around = append(around, owner)
		if owner >= 0 {
			list[owner].text += " " + name + " " + part[5]
		}
	}
	return list, nil
}

// findElements returns the elements of a snapshot that match the flags, in page order. Kinds of the wanted role count
// if no element that has it matches.
func (in *commandInput) findElements(answer []byte) ([]foundElement, error) {
	all, err := elementsOf(answer)
	for _, fits := range []func(foundElement, string) bool{foundElement.hasRole, foundElement.isKindOf} {
		var list []foundElement
		for _, e := range all {
			if fits(e, in.text("role")) {
				list = append(list, e)
			}
		}
		list = closest(list, in.text("label"), func(e foundElement) string { return e.Name })
		list = closest(list, in.text("text"), func(e foundElement) string { return e.text })
		if len(list) > 0 {
			return list, err
		}
	}
	return nil, err
}

// hasRole reports whether the element has a role. An empty role fits every element.
func (e foundElement) hasRole(role string) bool { return role == "" || strings.EqualFold(e.Role, role) }

// isKindOf reports whether the element's role is the wanted one, a kind of it, or another name for it.
func (e foundElement) isKindOf(role string) bool {
	return e.hasRole(role) || slices.Contains(strings.Fields(superclassRoles[strings.ToLower(e.Role)]),
		strings.ToLower(role))
}

// superclassRoles lists the roles of which a role is a kind, as far as these stand in snapshots (WAI-ARIA 1.3,
// superclass roles), and other names of it.
var superclassRoles = map[string]string{
	"searchbox": "textbox", "switch": "checkbox", "menuitemcheckbox": "menuitem", "menuitemradio": "menuitem",
	"treeitem": "listitem option", "gridcell": "cell", "columnheader": "cell gridcell", "rowheader": "cell gridcell",
	"grid": "table", "treegrid": "grid tree table", "alertdialog": "dialog alert", "menubar": "menu", "feed": "list",
	"article": "document", "toolbar": "group", "timer": "status", "img": "image",
}

// describe returns the role and name of an element, for people.
func (e foundElement) describe() string {
	return fmt.Sprintf("%s %q", cleanLine(e.Role), cleanText(e.Name))
}

// maxSimilar bounds how many elements an error names.
const maxSimilar = 5

// notFound says what was looked for in vain, and names the elements that are similar: those with the wanted role and a
// word of the wanted text, then those with one of both.
func (in *commandInput) notFound(answer []byte) error {
	role, label, text := in.text("role"), in.text("label"), in.text("text")
	wanted := "no " + cmp.Or(role, "element")
	if label != "" {
		wanted += fmt.Sprintf(" labeled %q", label)
	}
	if text != "" {
		wanted += fmt.Sprintf(" with the text %q", text)
	}
	all, err := elementsOf(answer)
	if err != nil {
		return err
	}
	var similar, roles []string
	for _, common := range []int{2, 1} {
		for _, e := range all {
			if !slices.Contains(roles, e.Role) {
				roles = append(roles, e.Role)
			}
			score := 0
			if role != "" && e.isKindOf(role) {
				score++
			}
			if sharesWord(e.Name+" "+e.text, label+" "+text) {
				score++
			}
			if score == common && len(similar) < maxSimilar {
				similar = append(similar, cleanLine(e.Ref)+" is "+e.describe())
			}
		}
	}
	advice := `"clank browser snapshot" shows what there is`
	if len(similar) > 0 {
		advice = "similar: " + strings.Join(similar, ", ")
	} else if role != "" && len(roles) > 0 {
		advice = "the roles on it are " + cleanLine(strings.Join(roles, ", "))
	}
	return &client.Error{Status: http.StatusNotFound, Message: fmt.Sprintf("%s is on this page; %s", wanted, advice)}
}

// sharesWord reports whether a text contains a word of the wanted one, unless the word is very short.
func sharesWord(text, wanted string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(strings.Fields(strings.ToLower(wanted)), func(word string) bool {
		return len(word) > 2 && strings.Contains(text, word)
	})
}

// closest returns the elements that exactly match the wanted text or, if there are none, those that contain it. Case
// and white space are ignored.
func closest(list []foundElement, wanted string, of func(foundElement) string) []foundElement {
	wanted = strings.ToLower(cleanLine(wanted))
	var exact, partly []foundElement
	for _, e := range list {
		switch text := strings.ToLower(cleanLine(of(e))); {
		case text == wanted:
			exact = append(exact, e)
			fallthrough
		case strings.Contains(text, wanted):
			partly = append(partly, e)
		}
	}
	if len(exact) > 0 && wanted != "" {
		return exact
	}
	return partly
}

// getCommands returns the commands that read properties of an element with a script.
func getCommands() []browserCommand {
	get := func(what, args, short, example, script string) browserCommand {
		return browserCommand{
			name: "get " + what, args: args, short: short, examples: []string{example},
			options: []browserOption{tabOption, timeoutOption},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				name, err := json.Marshal(in.arg(1))
				fn := strings.ReplaceAll(script, "NAME", string(name))
				return in.actRequest(string(actiontable.KindEvaluate), map[string]any{"ref": in.arg(0), "fn": fn}), err
			},
			checkAnswer: func(in *commandInput, answer []byte) error {
				if err := checkNoDialog(in, answer); err != nil {
					return err
				}
				a, err := decodeAnswer[struct{ Result *string }](answer)
				if err == nil && a.Result == nil {
					err = fmt.Errorf("%s has no %s", in.arg(0), strings.TrimSpace(what+" "+in.arg(1)))
				}
				return err
			},
			printAnswer: printTyped(func(p *outputPrinter, a struct{ Result string }) { p.Line("%s", cleanText(a.Result)) }),
		}
	}
	return []browserCommand{
		get("text", "<ref>", "the text that an element shows", "get text e4", "(el) => el.innerText ?? el.textContent"),
		get("value", "<ref>", "what a field holds; a line for each option of a list that is chosen", "get value e5",
			`(el) => el.selectedOptions ? Array.from(el.selectedOptions, (o) => o.value).join("\n") : `+
				`typeof el.value === "string" ? el.value : el.isContentEditable ? el.innerText : null`),
		get("attribute", "<ref> <name>", "an attribute of an element, as it stands in the page", "get attribute e6 href",
			"(el) => el.getAttribute(NAME)"),
	}
}

// checkCommand returns a command that checks or unchecks a box.
func checkCommand(name, short, done string, checked bool) browserCommand {
	return browserCommand{
		name: name, args: "<ref>", short: short, options: []browserOption{tabOption, timeoutOption},
		buildRequest: func(in *commandInput) (controlRequest, error) {
			field := map[string]any{"ref": in.arg(0), "type": "checkbox", "value": checked}
			return in.actRequest(string(actiontable.KindFill), map[string]any{"fields": []any{field}}), nil
		},
		checkAnswer: checkDone, printAnswer: printActed(done),
	}
}
