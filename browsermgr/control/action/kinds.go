package action

import (
	"math"

	"clank/browsermgr/control/body"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

func readElement(f *body.Fields, a *action) {
	a.Ref, a.Selector = f.String("ref"), f.String("selector")
}

func readClick(f *body.Fields, a *action) {
	readElement(f, a)
	a.DoubleClick = f.Flag("doubleClick", false)
	a.Button = f.String("button")
	a.Modifiers = f.Strings("modifiers")
	a.DelayMs, _ = f.NonNegative("delayMs")
}

func readClickCoords(f *body.Fields, a *action) {
	a.X, a.Y = coordinate(f, "x"), coordinate(f, "y")
	a.DoubleClick = f.Flag("doubleClick", false)
	a.Button = f.String("button")
	a.DelayMs, _ = f.NonNegative("delayMs")
}

func readDragCoords(f *body.Fields, a *action) {
	a.X, a.Y = coordinate(f, "x"), coordinate(f, "y")
	a.EndX, a.EndY = coordinate(f, "endX"), coordinate(f, "endY")
}

// coordinate is NaN if there is none, which no check accepts.
func coordinate(f *body.Fields, name string) float64 {
	if v, ok := f.Number(name); ok {
		return v
	}
	return math.NaN()
}

func readType(f *body.Fields, a *action) {
	readElement(f, a)
	text, ok := f.Text("text")
	if !ok && (a.Ref != "" || a.Selector != "") {
		f.Fail(fault.Invalidf("type requires text"))
	}
	a.Text = text
	a.Submit, a.Slowly = f.Flag("submit", false), f.Flag("slowly", false)
}

func readPress(f *body.Fields, a *action) {
	if a.Key = f.String("key"); a.Key == "" {
		// The space bar is named by what it writes.
		if key, _ := f.Text("key"); key == " " {
			a.Key = key
		}
	}
	a.DelayMs, _ = f.NonNegative("delayMs")
}

func readScroll(f *body.Fields, a *action) {
	a.Direction = f.String("direction")
	a.Pixels, _ = f.NonNegative("pixels")
}

func readDrag(f *body.Fields, a *action) {
	a.StartRef, a.StartSelector = f.String("startRef"), f.String("startSelector")
	a.EndRef, a.EndSelector = f.String("endRef"), f.String("endSelector")
}

func readSelect(f *body.Fields, a *action) {
	readElement(f, a)
	a.Values = f.Texts("values")
}

func readFill(f *body.Fields, a *action) {
	entries, _ := f.Objects("fields")
	for _, entry := range entries {
		field := page.Field{Ref: entry.String("ref"), Type: entry.String("type"), Value: ""}
		if field.Ref == "" {
			continue
		}
		if field.Type == "" {
			field.Type = "text"
		}
		if text, ok := entry.Text("value"); ok {
			field.Value = text
		}
		if on, ok := entry.Raw("value").(bool); ok {
			field.Value = on
		}
		a.Fields = append(a.Fields, field)
	}
}

func readResize(f *body.Fields, a *action) {
	a.Width, a.Height = size(f, "width"), size(f, "height")
}

// size is a whole number; Validate says which it may be.
func size(f *body.Fields, name string) int {
	n, _ := f.Integer(name)
	return n
}

func readWait(f *body.Fields, a *action) {
	ms, given := f.NonNegative("timeMs")
	a.TimeMs = ms
	a.Text, a.TextGone = f.String("text"), f.String("textGone")
	a.Selector, a.URL, a.Fn = f.String("selector"), f.String("url"), f.String("fn")
	a.LoadState = f.String("loadState")
	a.idle = given && ms == 0 && a.Conditions() == 0
}

func readEvaluate(f *body.Fields, a *action) {
	a.Fn, a.Ref = f.String("fn"), f.String("ref")
}
