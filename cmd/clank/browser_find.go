package main

import (
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
			{name: "role", kind: kindText, value: "role", help: "their role, such as button"},
			{name: "label", kind: kindText, value: "label", help: "their name, or a part of it if none has exactly this name"},
			{name: "text", kind: kindText, value: "text", help: "text that they show, likewise"},
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
			const message = `no element is like that; "clank browser snapshot" shows what there is`
			return &client.Error{Status: http.StatusNotFound, Message: message}
		},
		printAnswer: func(p *outputPrinter, in *commandInput, answer []byte) error {
			found, err := in.findElements(answer)
			for _, e := range found {
				p.Line("%s", cleanLine(e.Ref))
				if len(found) > 1 {
					p.Message("%s is %s %q", cleanLine(e.Ref), cleanLine(e.Role), cleanText(e.Name))
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

// findElements returns the elements of a snapshot that match the flags, in page order. Text without a ref belongs to
// the closest enclosing element that has one.
func (in *commandInput) findElements(answer []byte) ([]foundElement, error) {
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
	list = slices.DeleteFunc(list, func(e foundElement) bool {
		return in.has("role") && !strings.EqualFold(e.Role, in.text("role"))
	})
	list = closest(list, in.text("label"), func(e foundElement) string { return e.Name })
	return closest(list, in.text("text"), func(e foundElement) string { return e.text }), nil
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
		printAnswer: printActed(done),
	}
}
