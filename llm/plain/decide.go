package plain

import (
	"fmt"
	"slices"
	"strings"
)

// decision is what to do next.
type decision struct {
	tool     string
	input    map[string]any
	lookOnly bool   // it only finds the way
	problem  string // why the step cannot be done, for the person
}

func useTool(tool string, input map[string]any) decision { return decision{tool: tool, input: input} }

// lookFirst asks for the page as it is now.
func lookFirst() decision {
	return decision{tool: "browser_snapshot", input: map[string]any{}, lookOnly: true}
}

// decideStep returns how to do a step on the page as it is known.
func decideStep(s step, p page) decision {
	switch s.act {
	case actOpen:
		return useTool("browser_open", map[string]any{"url": s.text})
	case actPress:
		return useTool("browser_press", map[string]any{"key": s.text})
	case actScroll:
		return useTool("browser_scroll", withNumber(map[string]any{"direction": s.text}, "pixels", s.n))
	case actBack:
		return useTool("browser_back", map[string]any{})
	case actReload:
		if p.url == "" {
			return lookFirst()
		}
		return useTool("browser_open", map[string]any{"url": p.url})
	case actWait:
		return waitStep(s)
	case actLinks:
		return useTool("browser_links", map[string]any{})
	case actLook:
		return useTool("browser_snapshot", map[string]any{})
	case actShot:
		return useTool("browser_screenshot", map[string]any{"show": true})
	case actTabs, actTabNew, actTabSelect, actTabClose:
		return tabStep(s)
	case actDialog:
		return dialogStep(s)
	case actLogin:
		return useTool("fill_login", map[string]any{"entry": s.text, "submit": true})
	case actClose:
		return useTool("browser_close", map[string]any{})
	case actRead:
		if s.target == (target{}) {
			return useTool("browser_extract", map[string]any{})
		}
		return decideOnElement(s, p)
	default:
		return decideOnElement(s, p)
	}
}

// decideOnElement decides on a step that needs an element of the page.
func decideOnElement(s step, p page) decision {
	if p.lines == nil {
		return lookFirst()
	}
	es := p.elements()
	i, why := pickElement(s, es)
	if i < 0 && !p.fresh {
		return lookFirst() // it may have come since
	}
	if i < 0 && s.act == actRead && s.target.name != "" && s.target.nth == 0 && len(candidates(es, s.target, anyElement)) == 0 {
		return useTool("browser_extract", map[string]any{}) // it may be said in the text
	}
	if i < 0 {
		return decision{problem: why}
	}
	return operateElement(s, es, i)
}

// pickElement finds the element that a step means.
func pickElement(s step, es []element) (int, string) {
	switch {
	case s.target.again:
		found := listEntries(es)
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
		return findElement(es, s.target, func(e element) bool { return slices.Contains(listRoles, e.role) })
	default:
		return findElement(es, s.target, anyElement)
	}
}

func anyElement(element) bool { return true }

// pickField finds the field to type into; if none was named, the only one.
func pickField(s step, es []element) (int, string) {
	field := func(e element) bool { return slices.Contains(fieldRoles, e.role) }
	t := s.target
	if t == (target{}) {
		t.role = "field"
	}
	i, why := findElement(es, t, field)
	if i >= 0 || s.act != actSearch {
		return i, why
	}
	// What to search with is not always called search.
	if i, _ := findElement(es, target{role: "field"}, func(e element) bool { return e.role == "searchbox" }); i >= 0 {
		return i, ""
	}
	if i, _ := findElement(es, target{role: "field"}, field); i >= 0 {
		return i, ""
	}
	return -1, why
}

// operateElement does the step on element i.
func operateElement(s step, es []element, i int) decision {
	ref := es[i].ref
	switch s.act {
	case actType:
		return useTool("browser_type", map[string]any{"ref": ref, "text": s.text})
	case actSearch:
		return useTool("browser_type", map[string]any{"ref": ref, "text": s.text, "submit": true})
	case actSelect:
		return useTool("browser_select", map[string]any{"ref": ref, "values": []string{s.text}})
	case actHover:
		return useTool("browser_hover", map[string]any{"ref": ref})
	case actRead:
		return useTool("browser_extract", map[string]any{"ref": ref})
	case actChoose:
		if list := ancestorWithRole(es, i, listRoles...); es[i].role == "option" && list >= 0 && es[list].ref != "" {
			return useTool("browser_select", map[string]any{"ref": es[list].ref, "values": []string{es[i].name}})
		}
		return clickElement(s, es[i])
	default:
		return clickElement(s, es[i])
	}
}

// clickElement clicks an element. To check a box that is checked already does nothing.
func clickElement(s step, e element) decision {
	if first, _, _ := strings.Cut(strings.ToLower(s.source), " "); e.role == "checkbox" {
		on, off := first == "check" || first == "tick", first == "uncheck" || first == "untick"
		if (on && e.checked) || (off && !e.checked) {
			return useTool("browser_hover", map[string]any{"ref": e.ref}) // it is as it should be
		}
	}
	input := map[string]any{"ref": e.ref}
	if s.double {
		input["doubleClick"] = true
	}
	if s.right {
		input["button"] = "right"
	}
	return useTool("browser_click", input)
}

func waitStep(s step) decision {
	switch {
	case s.text == "":
		return useTool("browser_wait", map[string]any{"timeMs": s.n})
	case s.gone:
		return useTool("browser_wait", map[string]any{"textGone": s.text})
	default:
		return useTool("browser_wait", map[string]any{"text": s.text})
	}
}

func tabStep(s step) decision {
	input := map[string]any{"action": map[stepKind]string{actTabs: "list", actTabNew: "new", actTabSelect: "select", actTabClose: "close"}[s.act]}
	if s.text != "" && s.act == actTabNew {
		input["url"] = s.text
	} else if s.text != "" {
		input["tab"] = s.text
	}
	return useTool("browser_tabs", input)
}

func dialogStep(s step) decision {
	input := map[string]any{"accept": s.yes}
	if s.text != "" {
		input["promptText"] = s.text
	}
	return useTool("browser_dialog", input)
}

// withNumber adds n to input under key unless it is 0.
func withNumber(input map[string]any, key string, n int) map[string]any {
	if n != 0 {
		input[key] = n
	}
	return input
}
