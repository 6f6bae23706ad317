package corpus

import (
	"image"
	"strings"

	"clank/internal/test/llmtest"
)

// anthropicScreenReply returns an answer in the words of Anthropic's toolset for a screen: a call for each thing to do.
func anthropicScreenReply(deeds []modelAction, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	add := func(member string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: "computer." + member, Arguments: mustJSON(in)})
	}
	for _, d := range deeds {
		point := func(i int) []int { at := d.at[i].pixel(size); return []int{at.X, at.Y} }
		switch d.kind {
		case actionClick:
			in := map[string]any{"coordinate": point(0)}
			if d.held != "" {
				in["text"] = anthropicKeys(d.held)
			}
			add(anthropicClick(d), in)
		case actionMove:
			add("mouse_move", map[string]any{"coordinate": point(0)})
		case actionDrag:
			if len(d.at) == 2 {
				add("left_click_drag", map[string]any{"start_coordinate": point(0), "coordinate": point(1)})
				continue
			}
			anthropicDragPath(d, add, func(i int) map[string]any { return map[string]any{"coordinate": point(i)} })
		case actionScroll:
			in := anthropicScroll(d)
			in["coordinate"] = point(0)
			add("scroll", in)
		case actionBack: // there is no member for it
			d.kind = actionNavigate
			call, _ := d.function()
			reply.Calls = append(reply.Calls, call)
		default:
			reply.Calls = append(reply.Calls, anthropicCommonCall(d, "computer."))
		}
	}
	return reply
}

// anthropicBrowserReply returns the same with the toolset for a page.
func anthropicBrowserReply(deeds []modelAction, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	add := func(member string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: "browser." + member, Arguments: mustJSON(in)})
	}
	for _, d := range deeds {
		point := func(i int) map[string]any {
			at := d.at[i].pixel(size)
			return map[string]any{"type": "coordinate", "x": at.X, "y": at.Y}
		}
		switch d.kind {
		case actionClick:
			in := map[string]any{"target": point(0)}
			if d.held != "" {
				in["modifiers"] = anthropicKeys(d.held)
			}
			add(anthropicClick(d), in)
		case actionMove:
			add("hover", map[string]any{"target": point(0)})
		case actionDrag:
			if len(d.at) == 2 {
				add("left_click_drag", map[string]any{"from": point(0), "target": point(1)})
				continue
			}
			anthropicDragPath(d, add, func(i int) map[string]any { return map[string]any{"target": point(i)} })
		case actionScroll:
			in := anthropicScroll(d)
			in["target"] = point(0)
			add("scroll", in)
		case actionNavigate:
			add("navigate", map[string]any{"url": d.text})
		case actionBack:
			add("navigate", map[string]any{"url": "back"})
		case actionCloseTab:
			add("close_tab", map[string]any{"tab_id": ""})
		default:
			reply.Calls = append(reply.Calls, anthropicCommonCall(d, "browser."))
		}
	}
	return reply
}

func anthropicClick(d modelAction) string {
	switch {
	case d.button == "right":
		return "right_click"
	case d.times == 2:
		return "double_click"
	}
	return "left_click"
}

// anthropicDragPath adds a drag over several points, which no member does at once.
func anthropicDragPath(d modelAction, add func(member string, in map[string]any), on func(i int) map[string]any) {
	for i := range d.at {
		add("mouse_move", on(i))
		if i == 0 {
			add("left_mouse_down", on(i))
		}
	}
	add("left_mouse_up", on(len(d.at)-1))
}

func anthropicScroll(d modelAction) map[string]any {
	way, clicks := "down", d.scrollBy.Y
	if clicks < 0 {
		way, clicks = "up", -clicks
	}
	return map[string]any{"scroll_direction": way, "scroll_amount": min((clicks+99)/100, 50)}
}

// anthropicCommonCall returns the call of an action that both toolsets have in common, or of one of the loop's
// own tools.
func anthropicCommonCall(d modelAction, family string) llmtest.Call {
	switch d.kind {
	case actionKeys:
		return llmtest.Call{Name: family + "key", Arguments: mustJSON(map[string]any{"text": anthropicKeys(d.text)})}
	case actionType:
		return llmtest.Call{Name: family + "type", Arguments: mustJSON(map[string]any{"text": d.text})}
	case actionWait:
		return llmtest.Call{Name: family + "wait", Arguments: mustJSON(map[string]any{"duration": 0.3})}
	default:
		call, _ := d.function()
		return call
	}
}

func anthropicKeys(keys string) string {
	return strings.NewReplacer("Control", "ctrl", "Arrow", "", "Enter", "Return").Replace(keys)
}
