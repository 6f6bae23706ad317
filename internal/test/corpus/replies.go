package corpus

import (
	"image"
	"maps"
	"strings"

	"clank/internal/test/llmtest"
)

// anthropicScreenReply returns an answer with calls of Anthropic's screen toolset, one per action.
func anthropicScreenReply(actions []modelAction, size image.Point) llmtest.Reply {
	return anthropicReply(actions, "computer.", "text", "coordinate", "start_coordinate",
		func(p image.Point) any { return []int{p.X, p.Y} }, size)
}

// anthropicBrowserReply is the same with the toolset for a page.
func anthropicBrowserReply(actions []modelAction, size image.Point) llmtest.Reply {
	return anthropicReply(actions, "browser.", "modifiers", "target", "from", func(p image.Point) any {
		return map[string]any{"type": "coordinate", "x": p.X, "y": p.Y}
	}, size)
}

// anthropicReply returns an answer with calls of a toolset: family is its name; held, at and from are its names for
// held keys, positions and the start of a drag; write formats a point.
func anthropicReply(actions []modelAction, family, held, at, from string, write func(image.Point) any,
	size image.Point,
) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	add := func(member string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: family + member, Arguments: mustJSON(in)})
	}
	inPage := family == "browser."
	for _, a := range actions {
		on := func(i int) map[string]any { return map[string]any{at: write(a.at[i].pixel(size))} }
		switch {
		case a.kind == actionClick:
			in := on(0)
			if a.held != "" {
				in[held] = anthropicKeys(a.held)
			}
			add(anthropicClick(a), in)
		case a.kind == actionMove && inPage:
			add("hover", on(0))
		case a.kind == actionMove:
			add("mouse_move", on(0))
		case a.kind == actionDrag && len(a.at) == 2:
			in := on(1)
			in[from] = write(a.at[0].pixel(size))
			add("left_click_drag", in)
		case a.kind == actionDrag:
			anthropicDragPath(a, add, on)
		case a.kind == actionScroll:
			in := anthropicScroll(a)
			maps.Copy(in, on(0))
			add("scroll", in)
		case a.kind == actionNavigate && inPage:
			add("navigate", map[string]any{"url": a.text})
		case a.kind == actionBack && inPage:
			add("navigate", map[string]any{"url": "back"})
		case a.kind == actionCloseTab && inPage:
			add("close_tab", map[string]any{"tab_id": ""})
		case a.kind == actionBack: // the toolset has no call for it
			a.kind = actionNavigate
			fallthrough
		default:
			reply.Calls = append(reply.Calls, anthropicCommonCall(a, family))
		}
	}
	return reply
}

func anthropicClick(a modelAction) string {
	switch {
	case a.button == "right":
		return "right_click"
	case a.times == 2:
		return "double_click"
	}
	return "left_click"
}

// anthropicDragPath adds a drag over several points, which takes several calls.
func anthropicDragPath(a modelAction, add func(member string, in map[string]any), on func(i int) map[string]any) {
	for i := range a.at {
		add("mouse_move", on(i))
		if i == 0 {
			add("left_mouse_down", on(i))
		}
	}
	add("left_mouse_up", on(len(a.at)-1))
}

func anthropicScroll(a modelAction) map[string]any {
	way, clicks := "down", a.scrollBy.Y
	if clicks < 0 {
		way, clicks = "up", -clicks
	}
	return map[string]any{"scroll_direction": way, "scroll_amount": min((clicks+99)/100, 50)}
}

// anthropicCommonCall returns the call for an action that both toolsets have, or a call of one of the loop's own
// tools.
func anthropicCommonCall(a modelAction, family string) llmtest.Call {
	switch a.kind {
	case actionKeys:
		return llmtest.Call{Name: family + "key", Arguments: mustJSON(map[string]any{"text": anthropicKeys(a.text)})}
	case actionType:
		return llmtest.Call{Name: family + "type", Arguments: mustJSON(map[string]any{"text": a.text})}
	case actionWait:
		return llmtest.Call{Name: family + "wait", Arguments: mustJSON(map[string]any{"duration": 0.3})}
	default:
		call, _ := a.function()
		return call
	}
}

func anthropicKeys(keys string) string {
	return strings.NewReplacer("Control", "ctrl", "Arrow", "", "Enter", "Return").Replace(keys)
}

// geminiGrid is the number of cells of Gemini's coordinate grid in each direction.
const geminiGrid = 1000

// geminiReply returns an answer in Gemini's format: a call for each action, with points on a grid.
func geminiReply(actions []modelAction, _ image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	add := func(name string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: name, Arguments: mustJSON(in)})
	}
	for _, a := range actions {
		at := func(i int) map[string]any {
			p := a.at[i].pixel(image.Pt(geminiGrid, geminiGrid))
			return map[string]any{"x": p.X, "y": p.Y}
		}
		switch a.kind {
		case actionClick:
			if a.held != "" {
				add("key_down", map[string]any{"key": strings.ToLower(a.held)})
			}
			add(geminiClick(a), at(0))
			if a.held != "" {
				add("key_up", map[string]any{"key": strings.ToLower(a.held)})
			}
		case actionMove:
			add("move", at(0))
		case actionDrag:
			geminiDrag(a, at, add)
		case actionScroll:
			in := at(0)
			in["direction"], in["magnitude_in_pixels"] = "down", a.scrollBy.Y
			if a.scrollBy.Y < 0 {
				in["direction"], in["magnitude_in_pixels"] = "up", -a.scrollBy.Y
			}
			add("scroll", in)
		case actionKeys:
			add("hotkey", map[string]any{"keys": strings.Split(a.text, "+")})
		case actionType:
			add("type", map[string]any{"text": a.text})
		case actionWait:
			add("wait", map[string]any{"seconds": 0.3})
		case actionBack:
			add("go_back", map[string]any{})
		case actionNavigate, actionCloseTab, actionDialog:
			call, _ := a.function()
			reply.Calls = append(reply.Calls, call)
		}
	}
	return reply
}

func geminiClick(a modelAction) string {
	switch {
	case a.button == "right":
		return "right_click"
	case a.times == 2:
		return "double_click"
	}
	return "click"
}

func geminiDrag(a modelAction, at func(i int) map[string]any, add func(string, map[string]any)) {
	if len(a.at) == 2 {
		from, to := at(0), at(1)
		add("drag_and_drop", map[string]any{"start_x": from["x"], "start_y": from["y"], "end_x": to["x"], "end_y": to["y"]})
		return
	}
	for i := range a.at {
		add("move", at(i))
		if i == 0 {
			add("mouse_down", at(i))
		}
	}
	add("mouse_up", at(len(a.at)-1))
}

// openaiReply returns an answer in the format of OpenAI's tool "computer": one call with a batch of actions.
func openaiReply(actions []modelAction, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: fixedUsage()}
	var batch []string
	for _, a := range actions {
		if call, ok := a.function(); ok {
			reply.Calls = append(reply.Calls, call)
			continue
		}
		batch = append(batch, mustJSON(openaiAction(a, size)))
	}
	if batch != nil {
		reply.Screen = []llmtest.ScreenCall{{Actions: batch}}
	}
	return reply
}

func openaiAction(a modelAction, size image.Point) map[string]any {
	fields := map[string]any{"type": string(a.kind)}
	if len(a.at) > 0 {
		at := a.at[0].pixel(size)
		fields["x"], fields["y"] = at.X, at.Y
	}
	switch a.kind {
	case actionClick:
		fields["button"] = "left"
		if a.button != "" {
			fields["button"] = a.button
		}
		if a.times == 2 {
			fields["type"] = "double_click"
			delete(fields, "button")
			fields["keys"] = nil
		}
		if a.held != "" {
			fields["keys"] = []string{strings.ToUpper(a.held)}
		}
	case actionDrag:
		path := make([]map[string]any, len(a.at))
		for i, place := range a.at {
			at := place.pixel(size)
			path[i] = map[string]any{"x": at.X, "y": at.Y}
		}
		fields = map[string]any{"type": "drag", "path": path}
	case actionScroll:
		fields["scroll_x"], fields["scroll_y"] = a.scrollBy.X, a.scrollBy.Y
	case actionKeys:
		fields = map[string]any{
			"type": "keypress",
			"keys": strings.Split(strings.ToUpper(strings.TrimPrefix(a.text, "Arrow")), "+"),
		}
	case actionType:
		fields["text"] = a.text
	case actionBack:
		fields = map[string]any{"type": "click", "button": "back", "x": 1, "y": 1}
	default: // as they are
	}
	return fields
}
