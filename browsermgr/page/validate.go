package page

import (
	"math"
	"strings"
)

// maxDelayMs and maxWaitMs are limits of the control API.
const (
	maxDelayMs  = 5000
	maxWaitMs   = 30000
	maxViewport = 8192
)

// Validate reports the first thing that is wrong with the action, as an error that wraps [ErrInvalid].
func (a Action) Validate() error {
	check, ok := checks[a.Kind]
	if !ok {
		return invalidf("kind is required: one of click, clickCoords, type, press, hover, scrollIntoView, scroll, drag, select, "+
			"fill, resize, wait, evaluate, back, forward, reload; got %q", a.Kind)
	}
	if a.DelayMs < 0 {
		return invalidf("%s delayMs must be a non-negative integer.", a.Kind)
	}
	if a.Ref != "" {
		if _, err := parseRef(a.Ref); err != nil {
			return err
		}
	}
	return check(a)
}

var checks = map[Kind]func(Action) error{
	KindClick:          checkClick,
	KindClickCoords:    checkClickCoords,
	KindHover:          needElement,
	KindScrollIntoView: needElement,
	KindType:           needElement,
	KindSelect:         checkSelect,
	KindPress:          checkPress,
	KindDrag:           checkDrag,
	KindFill:           checkFill,
	KindResize:         checkResize,
	KindScroll:         checkScroll,
	KindWait:           checkWait,
	KindEvaluate:       checkEvaluate,
	KindBack:           func(Action) error { return nil },
	KindForward:        func(Action) error { return nil },
	KindReload:         func(Action) error { return nil },
}

func needElement(a Action) error {
	if a.Ref == "" && a.Selector == "" {
		return invalidf("%s requires ref or selector", a.Kind)
	}
	return nil
}

func checkClick(a Action) error {
	if err := needElement(a); err != nil {
		return err
	}
	return checkButton(a)
}

func checkClickCoords(a Action) error {
	if !coordinate(a.X) || !coordinate(a.Y) {
		return invalidf("clickCoords requires non-negative x and y")
	}
	return checkButton(a)
}

func coordinate(v float64) bool { return v >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v) }

func checkButton(a Action) error {
	if a.DelayMs > maxDelayMs {
		return invalidf("%s delayMs exceeds maximum of %dms", a.Kind, maxDelayMs)
	}
	switch a.Button {
	case "", "left", "right", "middle":
	default:
		return invalidf("%s button %q: use left, right or middle", a.Kind, a.Button)
	}
	_, err := modifierBits(a.Modifiers)
	return err
}

func checkSelect(a Action) error {
	if err := needElement(a); err != nil {
		return err
	}
	if len(a.Values) == 0 {
		return invalidf("select requires values")
	}
	return nil
}

func checkPress(a Action) error {
	if a.Key == "" {
		return invalidf("press requires key")
	}
	_, err := parseChord(a.Key)
	return err
}

func checkDrag(a Action) error {
	if a.StartRef == "" && a.StartSelector == "" {
		return invalidf("drag requires startRef or startSelector")
	}
	if a.EndRef == "" && a.EndSelector == "" {
		return invalidf("drag requires endRef or endSelector")
	}
	for _, ref := range []string{a.StartRef, a.EndRef} {
		if ref == "" {
			continue
		}
		if _, err := parseRef(ref); err != nil {
			return err
		}
	}
	return nil
}

func checkFill(a Action) error {
	if len(a.Fields) == 0 {
		return invalidf("fill requires fields")
	}
	for _, f := range a.Fields {
		if _, err := parseRef(f.Ref); err != nil {
			return err
		}
	}
	return nil
}

func checkResize(a Action) error {
	switch {
	case a.Width <= 0 || a.Height <= 0:
		return invalidf("resize requires positive width and height")
	case a.Width > maxViewport || a.Height > maxViewport:
		return invalidf("resize width and height must not exceed %d", maxViewport)
	}
	return nil
}

func checkScroll(a Action) error {
	switch a.Direction {
	case "", "up", "down", "left", "right":
	default:
		return invalidf("scroll direction %q: use up, down, left or right", a.Direction)
	}
	if a.Pixels < 0 {
		return invalidf("scroll pixels must be a non-negative integer.")
	}
	return nil
}

func checkWait(a Action) error {
	if a.TimeMs < 0 || a.TimeMs > maxWaitMs {
		return invalidf("wait timeMs must be between 0 and %d", maxWaitMs)
	}
	if a.TimeMs == 0 && a.conditions() == 0 {
		return invalidf("wait requires at least one of timeMs, text, textGone, selector, url, loadState, fn")
	}
	return nil
}

func checkEvaluate(a Action) error {
	if strings.TrimSpace(a.Fn) == "" {
		return invalidf("evaluate requires fn")
	}
	return nil
}

// conditions counts what a wait waits for besides time.
func (a Action) conditions() int {
	n := 0
	for _, given := range []bool{
		a.Text != "", a.TextGone != "", a.Selector != "", a.URL != "", knownLoadState(a.LoadState), strings.TrimSpace(a.Fn) != "",
	} {
		if given {
			n++
		}
	}
	return n
}

func knownLoadState(s string) bool {
	return s == "load" || s == "domcontentloaded" || s == "networkidle"
}
