package browseagent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"clank/browsermgr/page/action/actiontable"
	"clank/sessions/agent"
)

// passwordMask stands for a password wherever people can read it.
const passwordMask = "••••"

// element is what a line of a page state says about the element behind a ref.
type element struct {
	role, name string
	secret     bool // a password field
}

// elementNames are the elements of a page state by ref.
type elementNames map[string]element

var attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ \[([^\]]*)\]`) })

// parseElements reads the elements of a page state. Only what stands where an attribute stands is one: a page may write
// "[ref=e1]" into names and texts.
func parseElements(lines []string) elementNames {
	ns := make(elementNames)
	for _, l := range lines {
		e, attributes := parseElement(l)
		ref := ""
		for m := attribute().FindStringSubmatch(attributes); m != nil; m = attribute().FindStringSubmatch(attributes) {
			attributes = attributes[len(m[0]):]
			if r, ok := strings.CutPrefix(m[1], "ref="); ok {
				ref = r
			}
			e.secret = e.secret || m[1] == "password" || m[1] == "type=password"
		}
		if ref == "" {
			continue
		}
		e.secret = e.secret || (e.role == "textbox" && agent.IsPasswordFieldName(e.name))
		ns[ref] = e
	}
	return ns
}

// parseElement reads role and name of a line such as `  - button "Buy" [ref=e1]`, and returns what follows them. A
// whole key may be in single quotes, as YAML wants it.
func parseElement(line string) (e element, rest string) {
	line, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
	if !ok {
		return e, ""
	}
	if quoted, ok := strings.CutPrefix(line, "'"); ok {
		line = strings.ReplaceAll(quoted, "''", "'")
	}
	end := strings.IndexAny(line, " :")
	if end < 0 {
		return element{role: line}, ""
	}
	e.role, rest = line[:end], line[end:]
	if dec, name := json.NewDecoder(strings.NewReader(rest)), ""; strings.HasPrefix(rest, ` "`) && dec.Decode(&name) == nil {
		e.name, rest = agent.OneLine(name), rest[dec.InputOffset():]
	}
	return e, rest
}

// describe describes the element behind ref for people: `"Sign in"`, or its role if it has no name, or the ref if it is
// not known.
func (ns elementNames) describe(ref string) string {
	e, ok := ns[agent.NormalizeRef(ref)]
	switch {
	case !ok:
		return ref
	case e.name == "":
		return "the " + e.role
	default:
		return agent.Quote(e.name)
	}
}

// show writes out a value of a tool for people.
func (ns elementNames) show(p actiontable.Param, text string) string {
	switch p.Type {
	case actiontable.Ref:
		return ns.describe(text)
	case actiontable.Texts, actiontable.VerbatimTexts:
		return agent.Quote(text)
	default:
		return agent.Shorten(text, 60)
	}
}

// isPassword reports whether ref is a password field.
func (ns elementNames) isPassword(ref string) bool { return ns[agent.NormalizeRef(ref)].secret }

func labelType(a toolArgs, ns elementNames) string {
	ref := a.str("ref")
	text := agent.Quote(a.str("text"))
	if ns.isPassword(ref) {
		text = passwordMask
	}
	label := fmt.Sprintf("type %s into %s", text, ns.describe(ref))
	if a.flag("submit") {
		label += " and press Enter"
	}
	return label
}

func labelClick(a toolArgs, ns elementNames) string {
	verb := "click"
	if a.flag("doubleClick") {
		verb = "double-click"
	}
	if b := a.str("button"); b != "" && b != "left" {
		verb = b + "-" + verb
	}
	return verb + " " + ns.describe(a.str("ref"))
}

func labelWait(a toolArgs, _ elementNames) string {
	for _, w := range []struct{ field, words string }{
		{"text", "wait for "}, {"textGone", "wait until it is gone: "}, {"url", "wait for the address "}, {"loadState", "wait for the page: "},
	} {
		if s := a.str(w.field); s != "" {
			return w.words + agent.Quote(s)
		}
	}
	return fmt.Sprintf("wait %g s", float64(a.num("timeMs"))/1000)
}

func labelTabs(a toolArgs, _ elementNames) string {
	switch a.str("action") {
	case "new":
		return strings.TrimSpace("open a new tab " + agent.ShortURL(a.str("url")))
	case "select":
		return "go to tab " + a.str("tab")
	case "close":
		return strings.TrimSpace("close tab " + a.str("tab"))
	default:
		return "list the tabs"
	}
}

func labelDialog(a toolArgs, _ elementNames) string {
	if a.flag("accept") {
		return "accept the dialog"
	}
	return "dismiss the dialog"
}
