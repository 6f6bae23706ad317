package plain

import (
	"fmt"
	"slices"
	"strings"
)

// doing is what to do next.
type doing struct {
	tool    string
	input   map[string]any
	look    bool   // it only finds the way
	problem string // why the step cannot be done, for the person
}

func use(tool string, input map[string]any) doing { return doing{tool: tool, input: input} }

// lookFirst asks for the page as it is now.
func lookFirst() doing { return doing{tool: "browser_snapshot", input: map[string]any{}, look: true} }

// decide returns how to do a step on the page as it is known.
func decide(s step, p page) doing {
	switch s.act {
	case actOpen:
		return use("browser_open", map[string]any{"url": s.text})
	case actPress:
		return use("browser_press", map[string]any{"key": s.text})
	case actScroll:
		return use("browser_scroll", withNumber(map[string]any{"direction": s.text}, "pixels", s.n))
	case actBack:
		return use("browser_back", map[string]any{})
	case actReload:
		if p.url == "" {
			return lookFirst()
		}
		return use("browser_open", map[string]any{"url": p.url})
	case actWait:
		return wait(s)
	case actLinks:
		return use("browser_links", map[string]any{})
	case actLook:
		return use("browser_snapshot", map[string]any{})
	case actShot:
		return use("browser_screenshot", map[string]any{"show": true})
	case actTabs, actTabNew, actTabSelect, actTabClose:
		return tabs(s)
	case actDialog:
		return dialog(s)
	case actLogin:
		return use("fill_login", map[string]any{"entry": s.text, "submit": true})
	case actClose:
		return use("browser_close", map[string]any{})
	case actRead:
		if s.target == (target{}) {
			return use("browser_extract", map[string]any{})
		}
		return onElement(s, p)
	default:
		return onElement(s, p)
	}
}

// onElement decides on a step that needs an element of the page.
func onElement(s step, p page) doing {
	if p.lines == nil {
		return lookFirst()
	}
	es := p.elements()
	i, why := pick(s, es)
	if i < 0 && !p.fresh {
		return lookFirst() // it may have come since
	}
	if i < 0 && s.act == actRead && s.target.name != "" && s.target.nth == 0 && len(candidates(es, s.target, anything)) == 0 {
		return use("browser_extract", map[string]any{}) // it may be said in the text
	}
	if i < 0 {
		return doing{problem: why}
	}
	return operate(s, es, i)
}

// pick finds the element that a step means.
func pick(s step, es []element) (int, string) {
	switch {
	case s.target.again:
		found := entries(es)
		switch n := s.target.nth; {
		case len(found) == 0:
			return -1, `I do not know what "one" means here: say its name.`
		case n > len(found):
			return -1, fmt.Sprintf("There %s only %d in the lists of the page.", isAre(len(found)), len(found))
		case n < 0:
			return found[len(found)-1], ""
		default:
			return found[n-1], ""
		}
	case s.act == actType || s.act == actSearch:
		return pickField(s, es)
	case s.act == actSelect:
		return seek(es, s.target, func(e element) bool { return slices.Contains(listRoles, e.role) })
	default:
		return seek(es, s.target, anything)
	}
}

func anything(element) bool { return true }

// pickField finds the field to type into; if none was named, the only one.
func pickField(s step, es []element) (int, string) {
	field := func(e element) bool { return slices.Contains(fieldRoles, e.role) }
	t := s.target
	if t == (target{}) {
		t.role = "field"
	}
	i, why := seek(es, t, field)
	if i >= 0 || s.act != actSearch {
		return i, why
	}
	// What to search with is not always called search.
	if i, _ := seek(es, target{role: "field"}, func(e element) bool { return e.role == "searchbox" }); i >= 0 {
		return i, ""
	}
	if i, _ := seek(es, target{role: "field"}, field); i >= 0 {
		return i, ""
	}
	return -1, why
}

// operate does the step on element i.
func operate(s step, es []element, i int) doing {
	ref := es[i].ref
	switch s.act {
	case actType:
		return use("browser_type", map[string]any{"ref": ref, "text": s.text})
	case actSearch:
		return use("browser_type", map[string]any{"ref": ref, "text": s.text, "submit": true})
	case actSelect:
		return use("browser_select", map[string]any{"ref": ref, "values": []string{s.text}})
	case actHover:
		return use("browser_hover", map[string]any{"ref": ref})
	case actRead:
		return use("browser_extract", map[string]any{"ref": ref})
	case actChoose:
		if list := inside(es, i, listRoles...); es[i].role == "option" && list >= 0 && es[list].ref != "" {
			return use("browser_select", map[string]any{"ref": es[list].ref, "values": []string{es[i].name}})
		}
		return click(s, es[i])
	default:
		return click(s, es[i])
	}
}

// click clicks an element. To check a box that is checked already does nothing.
func click(s step, e element) doing {
	if first, _, _ := strings.Cut(strings.ToLower(s.source), " "); e.role == "checkbox" {
		on, off := first == "check" || first == "tick", first == "uncheck" || first == "untick"
		if (on && e.checked) || (off && !e.checked) {
			return use("browser_hover", map[string]any{"ref": e.ref}) // it is as it should be
		}
	}
	input := map[string]any{"ref": e.ref}
	if s.double {
		input["doubleClick"] = true
	}
	if s.right {
		input["button"] = "right"
	}
	return use("browser_click", input)
}

func wait(s step) doing {
	switch {
	case s.text == "":
		return use("browser_wait", map[string]any{"timeMs": s.n})
	case s.gone:
		return use("browser_wait", map[string]any{"textGone": s.text})
	default:
		return use("browser_wait", map[string]any{"text": s.text})
	}
}

func tabs(s step) doing {
	input := map[string]any{"action": map[act]string{actTabs: "list", actTabNew: "new", actTabSelect: "select", actTabClose: "close"}[s.act]}
	if s.text != "" && s.act == actTabNew {
		input["url"] = s.text
	} else if s.text != "" {
		input["tab"] = s.text
	}
	return use("browser_tabs", input)
}

func dialog(s step) doing {
	input := map[string]any{"accept": s.yes}
	if s.text != "" {
		input["promptText"] = s.text
	}
	return use("browser_dialog", input)
}

// withNumber adds n to input under key unless it is 0.
func withNumber(input map[string]any, key string, n int) map[string]any {
	if n != 0 {
		input[key] = n
	}
	return input
}
