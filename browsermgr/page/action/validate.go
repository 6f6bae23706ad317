package action

import (
	"math"
	"slices"
	"strings"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/outline"
)

// maxDelayMs and maxWaitMs are limits of the control API.
const (
	maxDelayMs  = 5000
	maxWaitMs   = 30000
	maxViewport = 8192
)

// maxWheel and maxCount keep one action to what a person does in one go.
const (
	maxWheel = 100_000
	maxCount = 100
)

// Validate reports the first thing that is wrong with the action, as an error that wraps [ErrInvalid].
func (a Action) Validate() error {
	check, ok := validators[a.Kind]
	if !ok {
		return fault.Invalidf("kind is required: one of click, clickCoords, dragCoords, type, press, hover, scrollIntoView, scroll, "+
			"drag, select, fill, resize, wait, evaluate, close, back, forward, reload; got %q", a.Kind)
	}
	if a.DelayMs < 0 {
		return fault.Invalidf("%s delayMs must be a non-negative integer.", a.Kind)
	}
	if a.Ref != "" {
		if _, err := outline.ParseRef(a.Ref); err != nil {
			return err
		}
	}
	return check(a)
}

var validators = map[Kind]func(Action) error{
	KindClick:          checkClick,
	KindClickCoords:    checkClickCoords,
	KindHover:          needElement,
	KindScrollIntoView: needElement,
	KindType:           needElement,
	KindSelect:         checkSelect,
	KindPress:          checkPress,
	KindDrag:           checkDrag,
	KindDragCoords:     checkDragCoords,
	KindFill:           checkFill,
	KindResize:         checkResize,
	KindScroll:         checkScroll,
	KindWait:           checkWait,
	KindEvaluate:       checkEvaluate,
	KindClose:          acceptAny,
	KindBack:           acceptAny,
	KindForward:        acceptAny,
	KindReload:         acceptAny,
	KindPointerMove:    checkPoint,
	KindPointerDown:    checkPoint,
	KindPointerUp:      checkPoint,
	KindWheel:          checkWheel,
	KindKeyDown:        checkPress,
	KindKeyUp:          checkPress,
	KindInsertText:     checkInsert,
}

func acceptAny(Action) error { return nil }

func needElement(a Action) error {
	if a.Ref == "" && a.Selector == "" {
		return fault.Invalidf("%s requires ref or selector", a.Kind)
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
	if a.ClickCount < 0 || a.ClickCount > 3 {
		return fault.Invalidf("clickCoords clickCount must be 1, 2 or 3")
	}
	return checkPoint(a)
}

func checkPoint(a Action) error {
	if !isCoordinate(a.X) || !isCoordinate(a.Y) {
		return fault.Invalidf("%s requires non-negative x and y", a.Kind)
	}
	return checkButton(a)
}

func checkDragCoords(a Action) error {
	if len(a.Path) > 0 {
		if _, err := a.dragPath(); err != nil {
			return err
		}
		return checkButton(a)
	}
	for _, v := range []float64{a.X, a.Y, a.EndX, a.EndY} {
		if !isCoordinate(v) {
			return fault.Invalidf("dragCoords requires non-negative x, y, endX and endY")
		}
	}
	return checkButton(a)
}

func checkWheel(a Action) error {
	for _, v := range []float64{a.DeltaX, a.DeltaY} {
		if math.IsNaN(v) || math.Abs(v) > maxWheel {
			return fault.Invalidf("wheel deltaX and deltaY must not exceed %d", maxWheel)
		}
	}
	if a.DeltaX == 0 && a.DeltaY == 0 {
		return fault.Invalidf("wheel requires deltaX or deltaY")
	}
	return checkPoint(a)
}

func checkInsert(a Action) error {
	if a.Text == "" && !a.Clear {
		return fault.Invalidf("insertText requires text or clear")
	}
	return nil
}

func isCoordinate(v float64) bool { return v >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v) }

func checkButton(a Action) error {
	if a.DelayMs > maxDelayMs {
		return fault.Invalidf("%s delayMs exceeds maximum of %dms", a.Kind, maxDelayMs)
	}
	switch a.Button {
	case "", "left", "right", "middle":
	case "back", "forward":
		// The control API's clicks do not know them; those that count their clicks do.
		if a.Kind == KindClick || a.Kind == KindClickCoords && a.ClickCount == 0 {
			return fault.Invalidf("%s button %q: use left, right or middle", a.Kind, a.Button)
		}
	default:
		return fault.Invalidf("%s button %q: use left, right or middle", a.Kind, a.Button)
	}
	_, err := frame.ModifierBits(a.Modifiers)
	return err
}

func checkSelect(a Action) error {
	if err := needElement(a); err != nil {
		return err
	}
	if len(a.Values) == 0 {
		return fault.Invalidf("select requires values")
	}
	return nil
}

func checkPress(a Action) error {
	if a.Key == "" {
		return fault.Invalidf("%s requires key", a.Kind)
	}
	if a.Count < 0 || a.Count > maxCount {
		return fault.Invalidf("%s count must be between 1 and %d", a.Kind, maxCount)
	}
	_, err := frame.ParseChord(a.Key)
	return err
}

func checkDrag(a Action) error {
	if a.StartRef == "" && a.StartSelector == "" {
		return fault.Invalidf("drag requires startRef or startSelector")
	}
	if a.EndRef == "" && a.EndSelector == "" {
		return fault.Invalidf("drag requires endRef or endSelector")
	}
	for _, ref := range []string{a.StartRef, a.EndRef} {
		if ref == "" {
			continue
		}
		if _, err := outline.ParseRef(ref); err != nil {
			return err
		}
	}
	return nil
}

func checkFill(a Action) error {
	fields := a.fields()
	if len(fields) == 0 {
		return fault.Invalidf("fill requires fields, each with a ref")
	}
	for _, f := range fields {
		if _, err := outline.ParseRef(f.Ref); err != nil {
			return err
		}
	}
	return nil
}

// fields are those of a fill that name an element.
func (a Action) fields() []Field {
	return slices.DeleteFunc(slices.Clone(a.Fields), func(f Field) bool { return strings.TrimSpace(f.Ref) == "" })
}

func checkResize(a Action) error {
	switch {
	case a.Width <= 0 || a.Height <= 0:
		return fault.Invalidf("resize requires positive width and height")
	case a.Width > maxViewport || a.Height > maxViewport:
		return fault.Invalidf("resize width and height must not exceed %d", maxViewport)
	}
	return nil
}

func checkScroll(a Action) error {
	switch a.Direction {
	case "", "up", "down", "left", "right":
	default:
		return fault.Invalidf("scroll direction %q: use up, down, left or right", a.Direction)
	}
	if a.Pixels < 0 {
		return fault.Invalidf("scroll pixels must be a non-negative integer.")
	}
	return nil
}

func checkWait(a Action) error {
	if a.TimeMs < 0 || a.TimeMs > maxWaitMs {
		return fault.Invalidf("wait timeMs must be between 0 and %d", maxWaitMs)
	}
	if a.TimeMs == 0 && a.Conditions() == 0 {
		return fault.Invalidf("wait requires at least one of timeMs, text, textGone, selector, url, loadState, fn")
	}
	return nil
}

func checkEvaluate(a Action) error {
	if strings.TrimSpace(a.Fn) == "" {
		return fault.Invalidf("evaluate requires fn")
	}
	return nil
}

// Conditions counts what a wait waits for besides time.
func (a Action) Conditions() int {
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

// knownLoadState says whether s is a load state that can be waited for.
func knownLoadState(s string) bool {
	return s == "load" || s == "domcontentloaded" || s == "networkidle"
}
