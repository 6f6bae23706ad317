package corpus

import (
	"image"
	"strings"

	"clank/internal/test/llmtest"
)

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
