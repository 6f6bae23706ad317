package minds

import (
	"image"
	"strings"

	"clank/llm/llmtest"
)

// openaiSays is an answer in the words of OpenAI's tool "computer": one call with a batch of actions.
func openaiSays(deeds []deed, size image.Point) llmtest.Reply {
	reply := llmtest.Reply{Usage: usage()}
	var actions []string
	for _, d := range deeds {
		if call, ok := d.function(); ok {
			reply.Calls = append(reply.Calls, call)
			continue
		}
		actions = append(actions, object(openaiAction(d, size)))
	}
	if actions != nil {
		reply.Screen = []llmtest.ScreenCall{{Actions: actions}}
	}
	return reply
}

func openaiAction(d deed, size image.Point) map[string]any {
	a := map[string]any{"type": string(d.kind)}
	if len(d.at) > 0 {
		at := d.at[0].pixel(size)
		a["x"], a["y"] = at.X, at.Y
	}
	switch d.kind {
	case deedClick:
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
	case deedDrag:
		path := make([]map[string]any, len(d.at))
		for i, place := range d.at {
			at := place.pixel(size)
			path[i] = map[string]any{"x": at.X, "y": at.Y}
		}
		a = map[string]any{"type": "drag", "path": path}
	case deedScroll:
		a["scroll_x"], a["scroll_y"] = d.by.X, d.by.Y
	case deedKeys:
		a = map[string]any{"type": "keypress", "keys": strings.Split(strings.ToUpper(strings.TrimPrefix(d.text, "Arrow")), "+")}
	case deedType:
		a["text"] = d.text
	case deedBack:
		a = map[string]any{"type": "click", "button": "back", "x": 1, "y": 1}
	default: // as they are
	}
	return a
}
