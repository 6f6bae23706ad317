package control

import (
	"math"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

func readElement(f *RequestFields, a *actRequest) {
	a.Ref, a.Selector = f.String("ref"), f.String("selector")
}

func readClick(f *RequestFields, a *actRequest) {
	readElement(f, a)
	a.DoubleClick = f.Flag("doubleClick", false)
	a.Button = f.String("button")
	a.Modifiers = f.Strings("modifiers")
	a.DelayMs, _ = f.NonNegative("delayMs")
}

func readClickCoords(f *RequestFields, a *actRequest) {
	a.X, a.Y = readCoordinate(f, "x"), readCoordinate(f, "y")
	a.DoubleClick = f.Flag("doubleClick", false)
	a.Button = f.String("button")
	a.DelayMs, _ = f.NonNegative("delayMs")
}

func readDragCoords(f *RequestFields, a *actRequest) {
	a.X, a.Y = readCoordinate(f, "x"), readCoordinate(f, "y")
	a.EndX, a.EndY = readCoordinate(f, "endX"), readCoordinate(f, "endY")
}

// readCoordinate is NaN if there is none, which no check accepts.
func readCoordinate(f *RequestFields, name string) float64 {
	if v, ok := f.Number(name); ok {
		return v
	}
	return math.NaN()
}

func readType(f *RequestFields, a *actRequest) {
	readElement(f, a)
	text, ok := f.Text("text")
	if !ok && (a.Ref != "" || a.Selector != "") {
		f.Fail(fault.Invalidf("type requires text"))
	}
	a.Text = text
	a.Submit, a.Slowly = f.Flag("submit", false), f.Flag("slowly", false)
}

func readPress(f *RequestFields, a *actRequest) {
	if a.Key = f.String("key"); a.Key == "" {
		// The space bar is named by what it writes.
		if key, _ := f.Text("key"); key == " " {
			a.Key = key
		}
	}
	a.DelayMs, _ = f.NonNegative("delayMs")
}

func readScroll(f *RequestFields, a *actRequest) {
	a.Direction = f.String("direction")
	a.Pixels, _ = f.NonNegative("pixels")
}

func readDrag(f *RequestFields, a *actRequest) {
	a.StartRef, a.StartSelector = f.String("startRef"), f.String("startSelector")
	a.EndRef, a.EndSelector = f.String("endRef"), f.String("endSelector")
}

func readSelect(f *RequestFields, a *actRequest) {
	readElement(f, a)
	a.Values = f.Texts("values")
}

func readFill(f *RequestFields, a *actRequest) {
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

func readResize(f *RequestFields, a *actRequest) {
	a.Width, a.Height = readSize(f, "width"), readSize(f, "height")
}

// readSize is a whole number; Validate says which it may be.
func readSize(f *RequestFields, name string) int {
	n, _ := f.Integer(name)
	return n
}

func readWait(f *RequestFields, a *actRequest) {
	ms, given := f.NonNegative("timeMs")
	a.TimeMs = ms
	a.Text, a.TextGone = f.String("text"), f.String("textGone")
	a.Selector, a.URL, a.Fn = f.String("selector"), f.String("url"), f.String("fn")
	a.LoadState = f.String("loadState")
	a.noWait = given && ms == 0 && a.Conditions() == 0
}

func readEvaluate(f *RequestFields, a *actRequest) {
	a.Fn, a.Ref = f.String("fn"), f.String("ref")
}
