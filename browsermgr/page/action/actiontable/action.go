package actiontable

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Kind names an action. The names are those of the control API's POST /act. Besides there are those of mouse and keyboard
// as somebody uses them who sees the screen alone, and those of a window and its tabs.
type Kind string

// The kinds of [Specs].
const (
	KindClick          Kind = "click"
	KindClickCoords    Kind = "clickCoords"
	KindType           Kind = "type"
	KindPress          Kind = "press"
	KindHover          Kind = "hover"
	KindScrollIntoView Kind = "scrollIntoView"
	KindScroll         Kind = "scroll"
	KindDrag           Kind = "drag"
	KindDragCoords     Kind = "dragCoords"
	KindSelect         Kind = "select"
	KindFill           Kind = "fill"
	KindResize         Kind = "resize"
	KindWait           Kind = "wait"
	KindEvaluate       Kind = "evaluate"
	KindBack           Kind = "back"
	KindForward        Kind = "forward"
	KindReload         Kind = "reload"
	KindClose          Kind = "close"
	KindBatch          Kind = "batch"
	KindPointerMove    Kind = "pointerMove"
	KindPointerDown    Kind = "pointerDown"
	KindPointerUp      Kind = "pointerUp"
	KindWheel          Kind = "wheel"
	KindKeyDown        Kind = "keyDown"
	KindKeyUp          Kind = "keyUp"
	KindInsertText     Kind = "insertText"
	KindNavigate       Kind = "navigate"
	KindTabNew         Kind = "tabNew"
	KindTabSelect      Kind = "tabSelect"
	KindTabClose       Kind = "tabClose"
	KindDialog         Kind = "dialog"
	KindLinks          Kind = "links"
)

// Action is one thing to do in a tab. Kind decides which fields count; the others are ignored. [Specs] says what each of
// them means. Times are milliseconds, coordinates CSS pixels of the viewport; NaN is a coordinate that was not given.
type Action struct {
	Kind     Kind   `json:"kind"`
	Ref      string `json:"ref,omitempty"`
	Selector string `json:"selector,omitempty"` // CSS, first match, open shadow roots included

	DoubleClick bool     `json:"doubleClick,omitempty"`
	Button      string   `json:"button,omitempty"`
	Modifiers   []string `json:"modifiers,omitempty"`
	DelayMs     int      `json:"delayMs,omitempty"`
	X           float64  `json:"x,omitempty"`
	Y           float64  `json:"y,omitempty"`
	EndX        float64  `json:"endX,omitempty"`
	EndY        float64  `json:"endY,omitempty"`
	Path        []string `json:"path,omitempty"`
	ClickCount  int      `json:"clickCount,omitempty"` // DoubleClick is 2
	DeltaX      float64  `json:"deltaX,omitempty"`
	DeltaY      float64  `json:"deltaY,omitempty"`

	Text   string   `json:"text,omitempty"`
	Submit bool     `json:"submit,omitempty"`
	Slowly bool     `json:"slowly,omitempty"`
	Clear  bool     `json:"clear,omitempty"`
	Key    string   `json:"key,omitempty"`
	Count  int      `json:"count,omitempty"` // 0 is once
	Values []string `json:"values,omitempty"`
	Fields []Field  `json:"fields,omitempty"` // those without a ref are left out

	Direction string `json:"direction,omitempty"` // down if empty
	Pixels    int    `json:"pixels,omitempty"`    // most of what is in view if 0

	StartRef      string `json:"startRef,omitempty"`
	StartSelector string `json:"startSelector,omitempty"`
	EndRef        string `json:"endRef,omitempty"`
	EndSelector   string `json:"endSelector,omitempty"`

	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`

	// What a wait waits for is taken in this order, after Text and Selector.
	TimeMs    int    `json:"timeMs,omitempty"`
	TextGone  string `json:"textGone,omitempty"`
	URL       string `json:"url,omitempty"`
	LoadState string `json:"loadState,omitempty"`
	Fn        string `json:"fn,omitempty"`

	// TimeoutMs bounds the action, see [Action.Limit]. An earlier deadline of the context wins.
	TimeoutMs int `json:"timeoutMs,omitempty"`
}

// Field is one entry of a fill: a text, or true, 1, "1" or "true" for a checkbox, radio or switch that is to be checked.
type Field struct {
	Ref   string `json:"ref"`
	Type  string `json:"type,omitempty"`  // checkbox, radio or switch; anything else is text
	Value any    `json:"value,omitempty"` // string, number or bool; nil is the empty text
}

// NamedFields lists the entries of a fill that name an element.
func (a Action) NamedFields() []Field {
	return slices.DeleteFunc(slices.Clone(a.Fields), func(f Field) bool { return strings.TrimSpace(f.Ref) == "" })
}

// actionFields maps the names of fields to their places in an [Action].
var actionFields = sync.OnceValue(func() map[string]int {
	t := reflect.TypeFor[Action]()
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
})

// Value returns a field by its name: a string, bool, int, float64, []string or []Field. It is nil where there is no such
// field.
func (a Action) Value(name string) any {
	i, ok := actionFields()[name]
	if !ok {
		return nil
	}
	return reflect.ValueOf(a).Field(i).Interface()
}

// has reports whether a value is given for the field.
func (a Action) has(p Param) bool { return isGiven(p, a.Value(p.Name)) }

// isGiven reports whether a value says something. A text that is none of the values it may have does not.
func isGiven(p Param, v any) bool {
	switch v := v.(type) {
	case string:
		if p.Enum != nil {
			return slices.Contains(p.Enum, v)
		}
		return v != "" && (p.Type == Verbatim || p.Type == Key || strings.TrimSpace(v) != "")
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0 && !math.IsNaN(v)
	case []string:
		return len(v) > 0
	case []any:
		return len(v) > 0
	case []Field:
		return slices.ContainsFunc(v, func(f Field) bool { return strings.TrimSpace(f.Ref) != "" })
	}
	return false
}
