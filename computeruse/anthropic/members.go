package anthropic

import (
	"errors"
	"fmt"
	"image"

	"clank/computeruse"
)

// wheel is how many pixels a click of the wheel scrolls.
const wheel = 100

// defaultWheel is how many clicks a scroll is whose amount is not told.
const defaultWheel = 3

// actions is what a member of the computer toolset, or an action of a beta
// tool, does.
func actions(member string, in input) ([]computeruse.Action, error) {
	at, err := in.Coordinate.point()
	if err != nil {
		return nil, err
	}
	a, err := pointing(member, computeruse.Action{At: at, Held: held(in.Text)})
	if err != nil || a != nil {
		return a, err
	}
	switch member {
	case "left_click_drag":
		from, err := in.StartCoordinate.point()
		if err != nil {
			return nil, err
		}
		return drag(from, at, held(in.Text))
	case "mouse_move":
		if at == nil {
			return nil, errors.New("where to? there is no coordinate")
		}
		return one(computeruse.Action{Kind: computeruse.ActMove, At: at, Held: held(in.Text)})
	case "left_mouse_down":
		return one(computeruse.Action{Kind: computeruse.ActDown, At: at})
	case "left_mouse_up":
		return one(computeruse.Action{Kind: computeruse.ActUp, At: at})
	case "scroll":
		return scroll(in, at, held(in.Text))
	}
	return common(member, in)
}

// pointing is the family of clicks, on what where names; nil for others.
func pointing(member string, where computeruse.Action) ([]computeruse.Action, error) {
	where.Kind = computeruse.ActClick
	switch member {
	case "left_click":
		where.Button, where.Clicks = computeruse.ButtonLeft, 1
	case "double_click":
		where.Button, where.Clicks = computeruse.ButtonLeft, 2
	case "triple_click":
		where.Button, where.Clicks = computeruse.ButtonLeft, 3
	case "right_click":
		where.Button, where.Clicks = computeruse.ButtonRight, 1
	case "middle_click":
		where.Button, where.Clicks = computeruse.ButtonMiddle, 1
	default:
		return nil, nil
	}
	return one(where)
}

// errNoMember is a member that there is not.
var errNoMember = errors.New("there is no such member")

// common is what both toolsets have alike.
func common(member string, in input) ([]computeruse.Action, error) {
	switch member {
	case "key":
		return keys(in)
	case "hold_key":
		pressed := chords(in.Text)
		if len(pressed) != 1 {
			return nil, errors.New("one key or combination can be held")
		}
		return one(computeruse.Action{Kind: computeruse.ActKeys, Keys: pressed[0], For: in.Duration.span()})
	case "type":
		return one(computeruse.Action{Kind: computeruse.ActType, Text: in.Text})
	case "wait":
		return one(computeruse.Action{Kind: computeruse.ActWait, For: in.Duration.span()})
	case "screenshot":
		return one(computeruse.Action{Kind: computeruse.ActScreenshot})
	case "cursor_position":
		return one(computeruse.Action{Kind: computeruse.ActCursor})
	case "zoom":
		region, err := in.Region.region()
		if err != nil {
			return nil, err
		}
		return one(computeruse.Action{Kind: computeruse.ActZoom, Region: region})
	}
	return nil, errNoMember
}

func keys(in input) ([]computeruse.Action, error) {
	pressed := chords(in.Text)
	if len(pressed) == 0 {
		return nil, errors.New("which key? there is no text")
	}
	repeat := in.Repeat.times(maxRepeat)
	if len(pressed) == 1 {
		return one(computeruse.Action{Kind: computeruse.ActKeys, Keys: pressed[0], Repeat: repeat})
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

func scroll(in input, at *image.Point, holding []string) ([]computeruse.Action, error) {
	clicks := in.ScrollAmount.times(maxWheel)
	if clicks == 0 {
		clicks = defaultWheel
	}
	by := map[string]image.Point{
		"up": image.Pt(0, -wheel), "down": image.Pt(0, wheel), "left": image.Pt(-wheel, 0), "right": image.Pt(wheel, 0),
	}[in.ScrollDirection]
	if by == (image.Point{}) {
		return nil, fmt.Errorf("scroll_direction must be up, down, left or right, not %.40q", in.ScrollDirection)
	}
	return one(computeruse.Action{Kind: computeruse.ActScroll, At: at, Scroll: by.Mul(clicks), Held: holding})
}

func drag(from, to *image.Point, holding []string) ([]computeruse.Action, error) {
	if from == nil || to == nil {
		return nil, errors.New("a drag needs where it begins and where it ends")
	}
	return one(computeruse.Action{Kind: computeruse.ActDrag, Path: []image.Point{*from, *to}, Held: holding})
}

func one(a computeruse.Action) ([]computeruse.Action, error) { return []computeruse.Action{a}, nil }
