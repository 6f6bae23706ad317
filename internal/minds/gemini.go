package minds

import (
	"image"
	"strings"

	"clank/llm/llmtest"
)

// geminiGrid is how many cells Gemini's grid has either way.
const geminiGrid = 1000

// geminiSays is an answer in the words of Gemini: a call for each thing to do, with points on a grid.
func geminiSays(deeds []deed, _ image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: usage()}
	add := func(name string, in map[string]any) {
		reply.Calls = append(reply.Calls, llmtest.Call{Name: name, Arguments: object(in)})
	}
	for _, d := range deeds {
		at := func(i int) map[string]any {
			p := d.at[i].pixel(image.Pt(geminiGrid, geminiGrid))
			return map[string]any{"x": p.X, "y": p.Y}
		}
		switch d.kind {
		case deedClick:
			if d.held != "" {
				add("key_down", map[string]any{"key": strings.ToLower(d.held)})
			}
			add(geminiClick(d), at(0))
			if d.held != "" {
				add("key_up", map[string]any{"key": strings.ToLower(d.held)})
			}
		case deedMove:
			add("move", at(0))
		case deedDrag:
			geminiDrag(d, at, add)
		case deedScroll:
			in := at(0)
			in["direction"], in["magnitude_in_pixels"] = "down", d.by.Y
			if d.by.Y < 0 {
				in["direction"], in["magnitude_in_pixels"] = "up", -d.by.Y
			}
			add("scroll", in)
		case deedKeys:
			add("hotkey", map[string]any{"keys": strings.Split(d.text, "+")})
		case deedType:
			add("type", map[string]any{"text": d.text})
		case deedWait:
			add("wait", map[string]any{"seconds": 0.3})
		case deedBack:
			add("go_back", map[string]any{})
		case deedNavigate, deedCloseTab, deedDialog:
			call, _ := d.function()
			reply.Calls = append(reply.Calls, call)
		}
	}
	return reply
}

func geminiClick(d deed) string {
	switch {
	case d.button == "right":
		return "right_click"
	case d.times == 2:
		return "double_click"
	}
	return "click"
}

func geminiDrag(d deed, at func(i int) map[string]any, add func(string, map[string]any)) {
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
