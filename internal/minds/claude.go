package minds

import (
	"image"
	"strings"

	"clank/llm/llmtest"
)

// claudeScreen is an answer in the words of Anthropic's toolset for a screen: a call for each thing to do.
func claudeScreen(deeds []deed, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: usage()}
	add := func(member string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: "computer." + member, Arguments: object(in)})
	}
	for _, d := range deeds {
		point := func(i int) []int { at := d.at[i].pixel(size); return []int{at.X, at.Y} }
		switch d.kind {
		case deedClick:
			in := map[string]any{"coordinate": point(0)}
			if d.held != "" {
				in["text"] = claudeKeys(d.held)
			}
			add(claudeClick(d), in)
		case deedMove:
			add("mouse_move", map[string]any{"coordinate": point(0)})
		case deedDrag:
			if len(d.at) == 2 {
				add("left_click_drag", map[string]any{"start_coordinate": point(0), "coordinate": point(1)})
				continue
			}
			claudePath(d, add, func(i int) map[string]any { return map[string]any{"coordinate": point(i)} })
		case deedScroll:
			in := claudeScroll(d)
			in["coordinate"] = point(0)
			add("scroll", in)
		case deedBack: // there is no member for it
			d.kind = deedNavigate
			call, _ := d.function()
			reply.Calls = append(reply.Calls, call)
		default:
			reply.Calls = append(reply.Calls, claudeCommon(d, "computer."))
		}
	}
	return reply
}

// claudeBrowser is the same with the toolset for a page.
func claudeBrowser(deeds []deed, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: usage()}
	add := func(member string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: "browser." + member, Arguments: object(in)})
	}
	for _, d := range deeds {
		point := func(i int) map[string]any {
			at := d.at[i].pixel(size)
			return map[string]any{"type": "coordinate", "x": at.X, "y": at.Y}
		}
		switch d.kind {
		case deedClick:
			in := map[string]any{"target": point(0)}
			if d.held != "" {
				in["modifiers"] = claudeKeys(d.held)
			}
			add(claudeClick(d), in)
		case deedMove:
			add("hover", map[string]any{"target": point(0)})
		case deedDrag:
			if len(d.at) == 2 {
				add("left_click_drag", map[string]any{"from": point(0), "target": point(1)})
				continue
			}
			claudePath(d, add, func(i int) map[string]any { return map[string]any{"target": point(i)} })
		case deedScroll:
			in := claudeScroll(d)
			in["target"] = point(0)
			add("scroll", in)
		case deedNavigate:
			add("navigate", map[string]any{"url": d.text})
		case deedBack:
			add("navigate", map[string]any{"url": "back"})
		case deedCloseTab:
			add("close_tab", map[string]any{"tab_id": ""})
		default:
			reply.Calls = append(reply.Calls, claudeCommon(d, "browser."))
		}
	}
	return reply
}

func claudeClick(d deed) string {
	switch {
	case d.button == "right":
		return "right_click"
	case d.times == 2:
		return "double_click"
	}
	return "left_click"
}

// claudePath is a drag over several points, which no member does at once.
func claudePath(d deed, add func(member string, in map[string]any), on func(i int) map[string]any) {
	for i := range d.at {
		add("mouse_move", on(i))
		if i == 0 {
			add("left_mouse_down", on(i))
		}
	}
	add("left_mouse_up", on(len(d.at)-1))
}

func claudeScroll(d deed) map[string]any {
	way, clicks := "down", d.by.Y
	if clicks < 0 {
		way, clicks = "up", -clicks
	}
	return map[string]any{"scroll_direction": way, "scroll_amount": min((clicks+99)/100, 50)}
}

// claudeCommon is what both toolsets have alike, and the loop's own tools.
func claudeCommon(d deed, family string) llmtest.Call {
	switch d.kind {
	case deedKeys:
		return llmtest.Call{Name: family + "key", Arguments: object(map[string]any{"text": claudeKeys(d.text)})}
	case deedType:
		return llmtest.Call{Name: family + "type", Arguments: object(map[string]any{"text": d.text})}
	case deedWait:
		return llmtest.Call{Name: family + "wait", Arguments: object(map[string]any{"duration": 0.3})}
	default:
		call, _ := d.function()
		return call
	}
}

func claudeKeys(keys string) string {
	return strings.NewReplacer("Control", "ctrl", "Arrow", "", "Enter", "Return").Replace(keys)
}
