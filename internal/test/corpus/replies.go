package corpus

import (
	"image"
	"maps"
	"strings"

	"clank/internal/test/llmtest"
)

// anthropicScreenReply returns an answer in the words of Anthropic's toolset for a screen: a call for each thing to do.
func anthropicScreenReply(deeds []modelAction, size image.Point) llmtest.Reply {
	return anthropicReply(deeds, "computer.", "text", "coordinate", "start_coordinate", func(p image.Point) any { return []int{p.X, p.Y} }, size)
}

// anthropicBrowserReply returns the same with the toolset for a page.
func anthropicBrowserReply(deeds []modelAction, size image.Point) llmtest.Reply {
	return anthropicReply(deeds, "browser.", "modifiers", "target", "from", func(p image.Point) any {
		return map[string]any{"type": "coordinate", "x": p.X, "y": p.Y}
	}, size)
}

// anthropicReply returns an answer in the words of a toolset: of a family, with its names for held keys and for where
// something is and a drag begins, and its way to write a point.
func anthropicReply(deeds []modelAction, family, held, at, from string, write func(image.Point) any, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	add := func(member string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: family + member, Arguments: mustJSON(in)})
	}
	inPage := family == "browser."
	for _, d := range deeds {
		on := func(i int) map[string]any { return map[string]any{at: write(d.at[i].pixel(size))} }
		switch {
		case d.kind == actionClick:
			in := on(0)
			if d.held != "" {
				in[held] = anthropicKeys(d.held)
			}
			add(anthropicClick(d), in)
		case d.kind == actionMove && inPage:
			add("hover", on(0))
		case d.kind == actionMove:
			add("mouse_move", on(0))
		case d.kind == actionDrag && len(d.at) == 2:
			in := on(1)
			in[from] = write(d.at[0].pixel(size))
			add("left_click_drag", in)
		case d.kind == actionDrag:
			anthropicDragPath(d, add, on)
		case d.kind == actionScroll:
			in := anthropicScroll(d)
			maps.Copy(in, on(0))
			add("scroll", in)
		case d.kind == actionNavigate && inPage:
			add("navigate", map[string]any{"url": d.text})
		case d.kind == actionBack && inPage:
			add("navigate", map[string]any{"url": "back"})
		case d.kind == actionCloseTab && inPage:
			add("close_tab", map[string]any{"tab_id": ""})
		case d.kind == actionBack: // there is no member for it
			d.kind = actionNavigate
			fallthrough
		default:
			reply.Calls = append(reply.Calls, anthropicCommonCall(d, family))
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

// geminiGrid is how many cells Gemini's grid has either way.
const geminiGrid = 1000

// geminiReply returns an answer in the words of Gemini: a call for each thing to do, with points on a grid.
func geminiReply(deeds []modelAction, _ image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	add := func(name string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: name, Arguments: mustJSON(in)})
	}
	for _, d := range deeds {
		at := func(i int) map[string]any {
			p := d.at[i].pixel(image.Pt(geminiGrid, geminiGrid))
			return map[string]any{"x": p.X, "y": p.Y}
		}
		switch d.kind {
		case actionClick:
			if d.held != "" {
				add("key_down", map[string]any{"key": strings.ToLower(d.held)})
			}
			add(geminiClick(d), at(0))
			if d.held != "" {
				add("key_up", map[string]any{"key": strings.ToLower(d.held)})
			}
		case actionMove:
			add("move", at(0))
		case actionDrag:
			geminiDrag(d, at, add)
		case actionScroll:
			in := at(0)
			in["direction"], in["magnitude_in_pixels"] = "down", d.scrollBy.Y
			if d.scrollBy.Y < 0 {
				in["direction"], in["magnitude_in_pixels"] = "up", -d.scrollBy.Y
			}
			add("scroll", in)
		case actionKeys:
			add("hotkey", map[string]any{"keys": strings.Split(d.text, "+")})
		case actionType:
			add("type", map[string]any{"text": d.text})
		case actionWait:
			add("wait", map[string]any{"seconds": 0.3})
		case actionBack:
			add("go_back", map[string]any{})
		case actionNavigate, actionCloseTab, actionDialog:
			call, _ := d.function()
			reply.Calls = append(reply.Calls, call)
		}
	}
	return reply
}

func geminiClick(d modelAction) string {
	switch {
	case d.button == "right":
		return "right_click"
	case d.times == 2:
		return "double_click"
	}
	return "click"
}

func geminiDrag(d modelAction, at func(i int) map[string]any, add func(string, map[string]any)) {
	if len(d.at) == 2 {
		from, to := at(0), at(1)
		add("drag_and_drop", map[string]any{"start_x": from["x"], "start_y": from["y"], "end_x": to["x"], "end_y": to["y"]})
		return
	}
	for i := range d.at {
		add("move", at(i))
		if i == 0 {
			add("mouse_down", at(i))
		}
	}
	add("mouse_up", at(len(d.at)-1))
}

// openaiReply returns an answer in the words of OpenAI's tool "computer": one call with a batch of actions.
func openaiReply(deeds []modelAction, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	var actions []string
	for _, d := range deeds {
		if call, ok := d.function(); ok {
			reply.Calls = append(reply.Calls, call)
			continue
		}
		actions = append(actions, mustJSON(openaiAction(d, size)))
	}
	if actions != nil {
		reply.Screen = []llmtest.ScreenCall{{Actions: actions}}
	}
	return reply
}

func openaiAction(d modelAction, size image.Point) map[string]any {
	a := map[string]any{"type": string(d.kind)}
	if len(d.at) > 0 {
		at := d.at[0].pixel(size)
		a["x"], a["y"] = at.X, at.Y
	}
	switch d.kind {
	case actionClick:
		a["button"] = "left"
		if d.button != "" {
			a["button"] = d.button
		}
		if d.times == 2 {
			a["type"] = "double_click"
			delete(a, "button")
			a["keys"] = nil
		}
		if d.held != "" {
			a["keys"] = []string{strings.ToUpper(d.held)}
		}
	case actionDrag:
		path := make([]map[string]any, len(d.at))
		for i, place := range d.at {
			at := place.pixel(size)
			path[i] = map[string]any{"x": at.X, "y": at.Y}
		}
		a = map[string]any{"type": "drag", "path": path}
	case actionScroll:
		a["scroll_x"], a["scroll_y"] = d.scrollBy.X, d.scrollBy.Y
	case actionKeys:
		a = map[string]any{"type": "keypress", "keys": strings.Split(strings.ToUpper(strings.TrimPrefix(d.text, "Arrow")), "+")}
	case actionType:
		a["text"] = d.text
	case actionBack:
		a = map[string]any{"type": "click", "button": "back", "x": 1, "y": 1}
	default: // as they are
	}
	return a
}
