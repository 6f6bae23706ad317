package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"

	"clank/computeruse"
)

// wheelPixels is how many pixels a click of the wheel scrolls.
const wheelPixels = 100

// defaultWheel is the number of wheel clicks of a scroll without an amount.
const defaultWheel = 3

// memberActions returns the actions of a member of the computer toolset, or of an action of a beta tool.
func memberActions(member string, in memberInput) ([]computeruse.Action, error) {
	at, err := in.Coordinate.point()
	if err != nil {
		return nil, err
	}
	if click, ok := clicks[member]; ok {
		click.Kind, click.At, click.Held = computeruse.ActClick, at, heldKeys(in.Text)
		return singleAction(click)
	}
	switch member {
	case "left_click_drag":
		from, err := in.StartCoordinate.point()
		if err != nil {
			return nil, err
		}
		return dragActions(from, at, heldKeys(in.Text))
	case "mouse_move":
		if at == nil {
			return nil, errors.New("where to? there is no coordinate")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActMove, At: at, Held: heldKeys(in.Text)})
	case "left_mouse_down":
		return singleAction(computeruse.Action{Kind: computeruse.ActDown, At: at})
	case "left_mouse_up":
		return singleAction(computeruse.Action{Kind: computeruse.ActUp, At: at})
	case "scroll":
		return scrollActions(in, at, heldKeys(in.Text))
	}
	return sharedActions(member, in)
}

var clicks = map[string]computeruse.Action{
	"left_click":   {Button: computeruse.ButtonLeft, Clicks: 1},
	"double_click": {Button: computeruse.ButtonLeft, Clicks: 2},
	"triple_click": {Button: computeruse.ButtonLeft, Clicks: 3},
	"right_click":  {Button: computeruse.ButtonRight, Clicks: 1},
	"middle_click": {Button: computeruse.ButtonMiddle, Clicks: 1},
}

// errUnknownMember means that the toolset has no such member.
var errUnknownMember = errors.New("there is no such member")

// sharedActions returns the actions that both toolsets have in common.
func sharedActions(member string, in memberInput) ([]computeruse.Action, error) {
	switch member {
	case "key":
		return keyActions(in)
	case "hold_key":
		pressed := keyChords(in.Text)
		if len(pressed) != 1 {
			return nil, errors.New("one key or combination can be held")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActKeys, Keys: pressed[0], For: in.Duration.span()})
	case "type":
		return singleAction(computeruse.Action{Kind: computeruse.ActType, Text: in.Text})
	case "wait":
		return singleAction(computeruse.Action{Kind: computeruse.ActWait, For: in.Duration.span()})
	case "screenshot":
		return singleAction(computeruse.Action{Kind: computeruse.ActScreenshot})
	case "cursor_position":
		return singleAction(computeruse.Action{Kind: computeruse.ActCursor})
	case "zoom":
		region, err := in.Region.region()
		if err != nil {
			return nil, err
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActZoom, Region: region})
	}
	return nil, errUnknownMember
}

func keyActions(in memberInput) ([]computeruse.Action, error) {
	pressed := keyChords(in.Text)
	if len(pressed) == 0 {
		return nil, errors.New("which key? there is no text")
	}
	repeat := in.Repeat.times(maxRepeat)
	if len(pressed) == 1 {
		return singleAction(computeruse.Action{Kind: computeruse.ActKeys, Keys: pressed[0], Repeat: repeat})
	}
	var all []computeruse.Action
	for range max(repeat, 1) {
		for _, chord := range pressed {
			if len(all) == maxRepeat {
				return nil, fmt.Errorf("more than %d key presses at once", maxRepeat)
			}
			all = append(all, computeruse.Action{Kind: computeruse.ActKeys, Keys: chord})
		}
	}
	return all, nil
}

func scrollActions(in memberInput, at *image.Point, holding []string) ([]computeruse.Action, error) {
	clicks := cmp.Or(in.ScrollAmount.times(maxWheel), defaultWheel)
	by := map[string]image.Point{
		"up": image.Pt(0, -wheelPixels), "down": image.Pt(0, wheelPixels), "left": image.Pt(-wheelPixels, 0),
		"right": image.Pt(wheelPixels, 0),
	}[in.ScrollDirection]
	if by == (image.Point{}) {
		return nil, fmt.Errorf("scroll_direction must be up, down, left or right, not %.40q", in.ScrollDirection)
	}
	return singleAction(computeruse.Action{Kind: computeruse.ActScroll, At: at, Scroll: by.Mul(clicks), Held: holding})
}

func dragActions(from, to *image.Point, holding []string) ([]computeruse.Action, error) {
	if from == nil || to == nil {
		return nil, errors.New("a drag needs the points where it begins and where it ends")
	}
	return singleAction(computeruse.Action{Kind: computeruse.ActDrag, Path: []image.Point{*from, *to}, Held: holding})
}

func singleAction(a computeruse.Action) ([]computeruse.Action, error) {
	return []computeruse.Action{a}, nil
}

// browserActions returns the actions of a member of the browser toolset on the page at url.
func browserActions(member string, in memberInput, url string) ([]computeruse.Action, error) {
	at, ref, err := in.Target.place()
	if err != nil {
		return nil, err
	}
	if click, ok := clicks[member]; ok {
		if at == nil && ref == "" {
			return nil, errors.New("where? there is no target")
		}
		click.Kind, click.At, click.Ref, click.Held = computeruse.ActClick, at, ref, heldKeys(in.Modifiers)
		return singleAction(click)
	}
	switch member {
	case "navigate":
		return navigateActions(in.URL, url)
	case "hover", "mouse_move":
		if at == nil && ref == "" {
			return nil, errors.New("where to? there is no target")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActMove, At: at, Ref: ref, Held: heldKeys(in.Modifiers)})
	case "left_mouse_down":
		return singleAction(computeruse.Action{Kind: computeruse.ActDown, At: at, Ref: ref})
	case "left_mouse_up":
		return singleAction(computeruse.Action{Kind: computeruse.ActUp, At: at, Ref: ref})
	case "left_click_drag":
		from, _, err := in.From.place()
		if err != nil {
			return nil, err
		}
		return dragActions(from, at, nil)
	case "scroll":
		all, err := scrollActions(in, at, nil)
		if err == nil {
			all[0].Ref = ref
		}
		return all, err
	case "scroll_to":
		if ref == "" {
			return nil, errors.New("scroll to what? there is no ref")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActReveal, Ref: ref})
	case "form_input":
		if ref == "" {
			return nil, errors.New("which field? there is no ref")
		}
		return singleAction(computeruse.Action{Kind: computeruse.ActFill, Ref: ref, Text: in.value()})
	}
	return sharedActions(member, in)
}

func navigateActions(to, url string) ([]computeruse.Action, error) {
	switch to {
	case "":
		return nil, errors.New("where to? there is no url")
	case "back":
		return singleAction(computeruse.Action{Kind: computeruse.ActBack})
	case "forward":
		return singleAction(computeruse.Action{Kind: computeruse.ActForward})
	case "reload":
		if url == "" {
			return nil, errors.New("there is no page to load again")
		}
		to = url
	}
	return singleAction(computeruse.Action{Kind: computeruse.ActNavigate, URL: to})
}

// browserTool returns the tool of the loop that corresponds to a member of the browser toolset, with its input; "" for
// other members.
func browserTool(member string, in memberInput) (name string, arguments json.RawMessage) {
	switch member {
	case "get_page_text":
		return toolReadText, json.RawMessage("{}")
	case "read_page":
		return toolReadPage, jsonObject(map[string]any{"interactive": in.Filter == "interactive"})
	case "list_tabs":
		return toolListTabs, json.RawMessage("{}")
	case "new_tab":
		return toolOpenTab, jsonObject(map[string]any{"url": in.URL})
	case "switch_tab":
		return toolSelectTab, jsonObject(map[string]any{"tab": in.TabID})
	case "close_tab":
		return toolCloseTab, jsonObject(map[string]any{"tab": in.TabID})
	}
	return "", nil
}

// jsonObject returns the JSON of a value made here, which always marshals.
func jsonObject(v map[string]any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return data
}
