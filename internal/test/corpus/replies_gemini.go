package corpus

import (
	"image"
	"strings"

	"clank/internal/test/llmtest"
)

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
