package anthropic

import (
	"cmp"
	"errors"
	"fmt"
	"image"

	"clank/computeruse"
)

// wheelPixels is how many pixels a click of the wheel scrolls.
const wheelPixels = 100

// defaultWheel is how many clicks a scroll is whose amount is not told.
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

// errUnknownMember is a member that there is not.
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
		"up": image.Pt(0, -wheelPixels), "down": image.Pt(0, wheelPixels), "left": image.Pt(-wheelPixels, 0), "right": image.Pt(wheelPixels, 0),
	}[in.ScrollDirection]
	if by == (image.Point{}) {
		return nil, fmt.Errorf("scroll_direction must be up, down, left or right, not %.40q", in.ScrollDirection)
	}
	return singleAction(computeruse.Action{Kind: computeruse.ActScroll, At: at, Scroll: by.Mul(clicks), Held: holding})
}

func dragActions(from, to *image.Point, holding []string) ([]computeruse.Action, error) {
	if from == nil || to == nil {
		return nil, errors.New("a drag needs where it begins and where it ends")
	}
	return singleAction(computeruse.Action{Kind: computeruse.ActDrag, Path: []image.Point{*from, *to}, Held: holding})
}

func singleAction(a computeruse.Action) ([]computeruse.Action, error) {
	return []computeruse.Action{a}, nil
}
