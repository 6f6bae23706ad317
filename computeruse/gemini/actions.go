package gemini

import (
	"fmt"
	"image"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/computeruse"
)

// vendorActions are the vendor's own, of both generations, as the loop's. They follow the guide to computer use with
// generateContent.
var vendorActions = map[string]func(a *actionArgs) []computeruse.Action{
	"click":         clickAction(computeruse.ButtonLeft, 1),
	"double_click":  clickAction(computeruse.ButtonLeft, 2),
	"triple_click":  clickAction(computeruse.ButtonLeft, 3),
	"middle_click":  clickAction(computeruse.ButtonMiddle, 1),
	"right_click":   clickAction(computeruse.ButtonRight, 1),
	"mouse_down":    pointerAction(computeruse.ActDown),
	"mouse_up":      pointerAction(computeruse.ActUp),
	"move":          moveAction,
	"type":          func(a *actionArgs) []computeruse.Action { return typeAction(a, false) },
	"drag_and_drop": dragAction,
	"wait":          func(a *actionArgs) []computeruse.Action { return waitAction(a.number("seconds", 1)) },
	"press_key":     func(a *actionArgs) []computeruse.Action { return chordAction(computeruse.ActKeys, a.keys("key")) },
	"key_down": func(a *actionArgs) []computeruse.Action {
		return chordAction(computeruse.ActKeyDown, a.keys("key"))
	},
	"key_up": func(a *actionArgs) []computeruse.Action {
		return chordAction(computeruse.ActKeyUp, a.keys("key"))
	},
	"hotkey": func(a *actionArgs) []computeruse.Action {
		return chordAction(computeruse.ActKeys, a.keys("keys"))
	},
	"take_screenshot": simpleAction(computeruse.ActScreenshot),
	"scroll": func(a *actionArgs) []computeruse.Action {
		return scrollPixels(a, a.optional("x", "y"), a.number("magnitude_in_pixels", 300), 1, 1)
	},
	"go_back":    simpleAction(computeruse.ActBack),
	"go_forward": simpleAction(computeruse.ActForward),
	"navigate":   navigateAction,

	"open_web_browser": simpleAction(computeruse.ActScreenshot), // it is open
	"wait_5_seconds":   func(*actionArgs) []computeruse.Action { return waitAction(5) },
	"search": func(*actionArgs) []computeruse.Action {
		return unknownAction("search: navigate to a search engine instead")
	},
	"click_at":     clickAction(computeruse.ButtonLeft, 1),
	"hover_at":     moveAction,
	"type_text_at": typeAt,
	"key_combination": func(a *actionArgs) []computeruse.Action {
		return chordAction(computeruse.ActKeys, a.keys("keys"))
	},
	"scroll_document": func(a *actionArgs) []computeruse.Action { return scrollCells(a, nil) },
	"scroll_at":       func(a *actionArgs) []computeruse.Action { return scrollCells(a, a.point("x", "y")) },
}

// decodeAction decodes one of the vendor's actions on a picture of the given size. Invalid arguments give an unknown
// action that says why.
func decodeAction(name string, values map[string]any, size image.Point) []computeruse.Action {
	a := &actionArgs{values: values, size: size}
	done := vendorActions[name](a)
	if a.wrong != "" {
		return unknownAction(name + ": " + a.wrong)
	}
	return done
}

func unknownAction(what string) []computeruse.Action {
	return []computeruse.Action{{Kind: computeruse.ActUnknown, Text: what}}
}

func simpleAction(kind computeruse.ActionKind) func(*actionArgs) []computeruse.Action {
	return func(*actionArgs) []computeruse.Action { return []computeruse.Action{{Kind: kind}} }
}

func clickAction(b computeruse.Button, times int) func(*actionArgs) []computeruse.Action {
	return func(a *actionArgs) []computeruse.Action {
		return []computeruse.Action{{
			Kind: computeruse.ActClick, At: a.point("x", "y"), Grid: vendorGrid, Button: b,
			Clicks: times,
		}}
	}
}

func pointerAction(kind computeruse.ActionKind) func(*actionArgs) []computeruse.Action {
	return func(a *actionArgs) []computeruse.Action {
		at := a.optional("x", "y")
		return []computeruse.Action{{Kind: kind, At: at, Grid: gridOf(at), Button: computeruse.ButtonLeft}}
	}
}

func moveAction(a *actionArgs) []computeruse.Action {
	return []computeruse.Action{{Kind: computeruse.ActMove, At: a.point("x", "y"), Grid: vendorGrid}}
}

func typeAction(a *actionArgs, byDefault bool) []computeruse.Action {
	return []computeruse.Action{{
		Kind: computeruse.ActType, Text: a.text("text"),
		Enter: a.flag("press_enter", byDefault), Clear: a.flag("clear_before_typing", byDefault),
	}}
}

func typeAt(a *actionArgs) []computeruse.Action {
	return append(clickAction(computeruse.ButtonLeft, 1)(a), typeAction(a, true)...)
}

func dragAction(a *actionArgs) []computeruse.Action {
	from, to := [2]string{"start_x", "start_y"}, [2]string{"end_x", "end_y"}
	if _, older := a.values["destination_x"]; older {
		from, to = [2]string{"x", "y"}, [2]string{"destination_x", "destination_y"}
	}
	start, end := a.point(from[0], from[1]), a.point(to[0], to[1])
	if start == nil || end == nil {
		return nil
	}
	return []computeruse.Action{{
		Kind: computeruse.ActDrag, Path: []image.Point{*start, *end}, Grid: vendorGrid,
		Button: computeruse.ButtonLeft,
	}}
}

func waitAction(seconds float64) []computeruse.Action {
	return []computeruse.Action{
		{Kind: computeruse.ActWait, For: time.Duration(min(max(seconds, 0), 60) * float64(time.Second))},
	}
}

func chordAction(kind computeruse.ActionKind, keys []string) []computeruse.Action {
	return []computeruse.Action{{Kind: kind, Keys: keys}}
}

func navigateAction(a *actionArgs) []computeruse.Action {
	return []computeruse.Action{{Kind: computeruse.ActNavigate, URL: a.text("url")}}
}

// scrollCells scrolls as Gemini 2.5 does, by cells of the grid.
func scrollCells(a *actionArgs, at *image.Point) []computeruse.Action {
	return scrollPixels(a, at, a.number("magnitude", 800), float64(a.size.X)/gridCells, float64(a.size.Y)/gridCells)
}

// maxScroll bounds one scroll, in pixels of the picture.
const maxScroll = 20_000

// scrollPixels goes by amount, which counts in units of perX or perY pixels.
func scrollPixels(a *actionArgs, at *image.Point, amount, perX, perY float64) []computeruse.Action {
	by := func(per float64) int { return int(math.Round(min(max(amount*per, -maxScroll), maxScroll))) }
	var way image.Point
	switch direction := strings.ToLower(a.text("direction")); direction {
	case "up":
		way.Y = -by(perY)
	case "down":
		way.Y = by(perY)
	case "left":
		way.X = -by(perX)
	case "right":
		way.X = by(perX)
	default:
		a.fail("direction is %q, not up, down, left or right", direction)
	}
	return []computeruse.Action{{Kind: computeruse.ActScroll, At: at, Grid: gridOf(at), Scroll: way}}
}

// actionArgs are the arguments of one action; wrong says what is wrong with the first invalid one.
type actionArgs struct {
	values map[string]any
	size   image.Point
	wrong  string
}

func (a *actionArgs) fail(format string, v ...any) {
	if a.wrong == "" {
		a.wrong = fmt.Sprintf(format, v...)
	}
}

// gridCells is how many the vendor's grid has either way.
const gridCells = 1000

// vendorGrid is the vendor's coordinate grid.
var vendorGrid = image.Pt(gridCells, gridCells)

// gridOf returns the grid of a point, if there is a point.
func gridOf(at *image.Point) image.Point {
	if at == nil {
		return image.Point{}
	}
	return vendorGrid
}

// point returns a cell of the grid, the nearest one if the coordinates are outside.
func (a *actionArgs) point(x, y string) *image.Point {
	if a.size == (image.Point{}) {
		a.fail("there is no picture to count on")
		return nil
	}
	cell := func(name string) int {
		if a.values[name] == nil {
			a.fail("%s is missing", name)
		}
		return int(min(max(a.number(name, 0), 0), gridCells-1))
	}
	at := image.Pt(cell(x), cell(y))
	return &at
}

// optional returns a place if one is given.
func (a *actionArgs) optional(x, y string) *image.Point {
	if a.values[x] == nil && a.values[y] == nil {
		return nil
	}
	return a.point(x, y)
}

func (a *actionArgs) number(name string, missing float64) float64 {
	n := missing
	switch v := a.values[name].(type) {
	case nil:
	case float64:
		n = v
	case string:
		parsed, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			a.fail("%s is not a number", name)
		}
		n = parsed
	default:
		a.fail("%s is not a number", name)
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		a.fail("%s is not a number", name)
		return missing
	}
	return n
}

func (a *actionArgs) text(name string) string {
	s, ok := a.values[name].(string)
	if !ok {
		a.fail("%s is not a text", name)
	}
	return s
}

func (a *actionArgs) flag(name string, missing bool) bool {
	switch v := a.values[name].(type) {
	case nil:
		return missing
	case bool:
		return v
	case string:
		if on, err := strconv.ParseBool(v); err == nil {
			return on
		}
	}
	a.fail("%s is neither true nor false", name)
	return missing
}

// keys returns the keys of one chord: from a list of keys, or one text with "+" between them.
func (a *actionArgs) keys(name string) []string {
	var keys []string
	switch v := a.values[name].(type) {
	case string:
		keys = splitChord(v)
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				a.fail("%s has an entry that is not a text", name)
			}
			keys = append(keys, splitChord(s)...)
		}
	}
	if len(keys) == 0 {
		a.fail("%s names no key", name)
	}
	return keys
}

// splitChord splits a chord; a "+" at the end is the key itself.
func splitChord(chord string) []string {
	switch chord {
	case " ":
		return []string{"Space"}
	case "+":
		return []string{"+"}
	}
	var keys []string
	head, plus := strings.CutSuffix(chord, "++")
	for key := range strings.SplitSeq(head, "+") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
	}
	if plus {
		keys = append(keys, "+")
	}
	return keys
}
