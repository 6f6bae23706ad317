package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"strings"

	"clank/computeruse"
	"clank/llm"
)

// outputItem is the union of the response items that matter here.
type outputItem struct {
	Type      string                      `json:"type"`
	CallID    string                      `json:"call_id"`
	Name      string                      `json:"name"`
	Arguments json.RawMessage             `json:"arguments"`
	Action    json.RawMessage             `json:"action"`  // preview: one
	Actions   []json.RawMessage           `json:"actions"` // several
	Checks    []computeruse.SafetyWarning `json:"pending_safety_checks"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// openCall is a call of the newest answer, which must be answered.
type openCall struct {
	ID     string                      `json:"id"`
	Screen bool                        `json:"screen,omitempty"` // of the screen, not of a function
	Safety []computeruse.SafetyWarning `json:"safety,omitempty"`
}

// readTurn reads the items of an answer.
func readTurn(items []json.RawMessage) (t computeruse.Turn, open []openCall, err error) {
	var said, thought []string
	for _, raw := range items {
		var o outputItem
		if err := json.Unmarshal(raw, &o); err != nil {
			return t, nil, err
		}
		switch o.Type {
		case "computer_call":
			if o.CallID == "" {
				return t, nil, errors.New("a computer_call without call_id")
			}
			t.Calls = append(t.Calls, computeruse.Call{ID: o.CallID, Actions: o.actions(), Safety: o.Checks})
			open = append(open, openCall{ID: o.CallID, Screen: true, Safety: o.Checks})
		case "function_call":
			if o.CallID == "" {
				return t, nil, errors.New("a function_call without call_id")
			}
			t.Tools = append(t.Tools, o.function())
			open = append(open, openCall{ID: o.CallID})
		case "message":
			for _, c := range o.Content {
				if s := strings.TrimSpace(c.Text + c.Refusal); s != "" {
					said = append(said, s)
				}
			}
		case "reasoning":
			for _, s := range o.Summary {
				thought = append(thought, strings.TrimSpace(s.Text))
			}
		}
	}
	t.Text, t.Reasoning = strings.Join(said, "\n\n"), strings.TrimSpace(strings.Join(thought, "\n\n"))
	return t, open, nil
}

// function returns a function's call; one whose arguments are no object is malformed.
func (o outputItem) function() llm.ToolCall {
	c := llm.ToolCall{ID: o.CallID, Name: o.Name, Input: json.RawMessage("{}")}
	var arguments string
	if json.Unmarshal(o.Arguments, &arguments) != nil {
		arguments = string(o.Arguments)
	}
	arguments = strings.TrimSpace(arguments)
	var object map[string]json.RawMessage
	switch {
	case arguments == "" || arguments == "null":
	case json.Unmarshal([]byte(arguments), &object) == nil:
		c.Input = json.RawMessage(arguments)
	default:
		c.Malformed = arguments
	}
	return c
}

func (o outputItem) actions() []computeruse.Action {
	var all []computeruse.Action
	for _, raw := range o.Actions {
		all = append(all, readAction(raw))
	}
	if len(all) == 0 && len(o.Action) > 0 && string(o.Action) != "null" {
		all = append(all, readAction(o.Action))
	}
	return all
}

// wireAction is an action as the vendor sends it.
type wireAction struct {
	Type    string            `json:"type"`
	Button  string            `json:"button"`
	X       *float64          `json:"x"`
	Y       *float64          `json:"y"`
	ScrollX float64           `json:"scroll_x"`
	ScrollY float64           `json:"scroll_y"`
	Keys    []string          `json:"keys"`
	Text    string            `json:"text"`
	Path    []json.RawMessage `json:"path"`
}

// readAction decodes one action. Invalid or incomplete ones become an unknown action that says so.
func readAction(raw json.RawMessage) computeruse.Action {
	var in wireAction
	if err := json.Unmarshal(raw, &in); err != nil {
		return unknownAction("an action that is not of the agreed form")
	}
	at := in.point()
	switch in.Type {
	case "click", "double_click", "triple_click":
		clicks := map[string]int{"click": 1, "double_click": 2, "triple_click": 3}[in.Type]
		if at == nil {
			return unknownAction(in.Type + " without x and y")
		}
		return computeruse.Action{
			Kind: computeruse.ActClick, At: at, Button: buttonOf(in.Button), Clicks: clicks,
			Held: in.Keys,
		}
	case "move":
		if at == nil {
			return unknownAction("move without x and y")
		}
		return computeruse.Action{Kind: computeruse.ActMove, At: at, Held: in.Keys}
	case "scroll":
		return computeruse.Action{
			Kind: computeruse.ActScroll, At: at,
			Scroll: image.Pt(roundPixels(in.ScrollX), roundPixels(in.ScrollY)), Held: in.Keys,
		}
	case "drag":
		path, err := readPath(in.Path)
		if err != nil {
			return unknownAction("drag with " + err.Error())
		}
		return computeruse.Action{Kind: computeruse.ActDrag, Path: path, Held: in.Keys}
	case "keypress":
		return computeruse.Action{Kind: computeruse.ActKeys, Keys: in.Keys}
	case "type":
		return computeruse.Action{Kind: computeruse.ActType, Text: in.Text}
	case "wait":
		return computeruse.Action{Kind: computeruse.ActWait}
	case "screenshot":
		return computeruse.Action{Kind: computeruse.ActScreenshot}
	}
	return unknownAction(in.Type)
}

func unknownAction(what string) computeruse.Action {
	return computeruse.Action{Kind: computeruse.ActUnknown, Text: what}
}

func (a wireAction) point() *image.Point {
	if a.X == nil || a.Y == nil {
		return nil
	}
	return &image.Point{X: roundPixels(*a.X), Y: roundPixels(*a.Y)}
}

// readPath reads points as {x,y} or [x,y].
func readPath(raw []json.RawMessage) ([]image.Point, error) {
	var path []image.Point
	for i, r := range raw {
		var p wireAction
		var pair []float64
		switch {
		case json.Unmarshal(r, &p) == nil && p.point() != nil:
			path = append(path, *p.point())
		case json.Unmarshal(r, &pair) == nil && len(pair) == 2:
			path = append(path, image.Pt(roundPixels(pair[0]), roundPixels(pair[1])))
		default:
			return nil, fmt.Errorf("a point %d that is not of the agreed form", i+1)
		}
	}
	return path, nil
}

func buttonOf(name string) computeruse.Button {
	switch name = strings.ToLower(name); name {
	case "":
		return computeruse.ButtonLeft
	case "wheel":
		return computeruse.ButtonMiddle
	}
	return computeruse.Button(name)
}

// roundPixels returns a number of pixels, bounded so that it fits.
func roundPixels(v float64) int {
	const most = 1 << 20
	return int(math.Round(math.Max(-most, math.Min(most, v))))
}
