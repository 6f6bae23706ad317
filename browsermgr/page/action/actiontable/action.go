package actiontable

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Kind names an action, as in the control API's POST /act. There are also kinds for mouse and keyboard input of callers
// that only see a picture, and for windows and their tabs.
type Kind string

// The kinds in [Specs].
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
	KindUpload         Kind = "upload"
	KindLinks          Kind = "links"
)

// Action is one action in a tab. Kind decides which fields apply; the others are ignored. [Specs] describes them. Times
// are in milliseconds, coordinates in CSS pixels of the viewport; NaN is a missing coordinate.
type Action struct {
	Kind     Kind   `json:"kind"`
	Ref      string `json:"ref,omitempty"`
	Selector string `json:"selector,omitempty"` // CSS, first match, including open shadow roots

	DoubleClick bool     `json:"doubleClick,omitempty"`
	Button      string   `json:"button,omitempty"`
	Modifiers   []string `json:"modifiers,omitempty"`
	DelayMs     int      `json:"delayMs,omitempty"`
	X           float64  `json:"x,omitempty"`
	Y           float64  `json:"y,omitempty"`
	EndX        float64  `json:"endX,omitempty"`
	EndY        float64  `json:"endY,omitempty"`
	Path        []string `json:"path,omitempty"`
	ClickCount  int      `json:"clickCount,omitempty"` // 2 for DoubleClick
	DeltaX      float64  `json:"deltaX,omitempty"`
	DeltaY      float64  `json:"deltaY,omitempty"`

	Text   string   `json:"text,omitempty"`
	Submit bool     `json:"submit,omitempty"`
	Slowly bool     `json:"slowly,omitempty"`
	Clear  bool     `json:"clear,omitempty"`
	Key    string   `json:"key,omitempty"`
	Count  int      `json:"count,omitempty"` // 0 means once
	Values []string `json:"values,omitempty"`
	Fields []Field  `json:"fields,omitempty"` // those without a ref are ignored

	Direction string `json:"direction,omitempty"` // empty means down
	Pixels    int    `json:"pixels,omitempty"`    // 0 means most of what is visible

	StartRef      string `json:"startRef,omitempty"`
	StartSelector string `json:"startSelector,omitempty"`
	EndRef        string `json:"endRef,omitempty"`
	EndSelector   string `json:"endSelector,omitempty"`

	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`

	// A wait waits for these in this order, after Text and Selector.
	TimeMs    int    `json:"timeMs,omitempty"`
	TextGone  string `json:"textGone,omitempty"`
	URL       string `json:"url,omitempty"`
	LoadState string `json:"loadState,omitempty"`
	Fn        string `json:"fn,omitempty"`

	// TimeoutMs bounds the action; see [Action.Limit]. An earlier deadline of the context applies.
	TimeoutMs int `json:"timeoutMs,omitempty"`
}

// Field is an entry of a fill: a text, or true, 1, "1" or "true" to check a checkbox, radio or switch.
type Field struct {
	Ref   string `json:"ref"`
	Type  string `json:"type,omitempty"`  // checkbox, radio or switch; anything else means text
	Value any    `json:"value,omitempty"` // string, number or bool; nil means empty text
}

// NamedFields returns the entries of a fill that name an element.
func (a Action) NamedFields() []Field {
	return slices.DeleteFunc(slices.Clone(a.Fields), func(f Field) bool { return strings.TrimSpace(f.Ref) == "" })
}

// actionFields maps field names to their indexes in [Action].
var actionFields = sync.OnceValue(func() map[string]int {
	t := reflect.TypeFor[Action]()
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
})

// Value returns a field by its name: a string, bool, int, float64, []string or []Field; nil if there is no such field.
func (a Action) Value(name string) any {
	i, ok := actionFields()[name]
	if !ok {
		return nil
	}
	return reflect.ValueOf(a).Field(i).Interface()
}

// has reports whether the field has a value.
func (a Action) has(p Param) bool { return isGiven(p, a.Value(p.Name)) }

// isGiven reports whether a value is present. A text that is not in Enum counts as absent.
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

// maxInteger is the largest integer that every client can represent exactly (Number.MAX_SAFE_INTEGER).
const maxInteger = 1<<53 - 1

// ScalarText formats a decoded text, number or boolean; ok is false for anything else. Integers are formatted without
// an exponent.
func ScalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") {
			return string(v), true
		}
		f, err := v.Float64()
		if err != nil {
			return string(v), true
		}
		return formatNumber(f), true
	}
	if f, given, ok := ParseNumber(v, false); given && ok {
		return formatNumber(f), true
	}
	return "", false
}

func formatNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) <= maxInteger {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// ParseBool parses a boolean, or one of the texts "true", "1", "yes", "false", "0", "no", ignoring case. A JSON number
// is neither.
func ParseBool(v any) (value, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1", "yes":
			return true, true
		case "false", "0", "no":
			return false, true
		}
	}
	return false, false
}

// ParseNumber parses a finite number. given is false for nil and blank texts. A text must be a sign and digits, with a
// fraction unless whole: no exponent, other base or unit.
func ParseNumber(v any, whole bool) (n float64, given, ok bool) {
	switch v := v.(type) {
	case nil:
		return 0, false, false
	case int:
		return float64(v), true, true
	case int64:
		return float64(v), true, true
	case float64:
		return v, true, !math.IsInf(v, 0) && !math.IsNaN(v)
	case json.Number:
		n, err := v.Float64()
		return n, true, err == nil
	case string:
		text := strings.TrimSpace(v)
		if text == "" {
			return 0, false, false
		}
		if !isDecimal(text, whole) {
			return 0, true, false
		}
		n, err := strconv.ParseFloat(text, 64)
		return n, true, err == nil
	}
	return 0, true, false
}

func isDecimal(text string, whole bool) bool {
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 {
		return false
	}
	before, after, point := strings.Cut(digits, ".")
	if whole && point || before+after == "" {
		return false
	}
	return strings.Trim(before+after, "0123456789") == ""
}

// ParseInteger parses an integer not below least; see [ParseNumber].
func ParseInteger(v any, least float64) (n int, given, ok bool) {
	f, given, ok := ParseNumber(v, true)
	if !given || !ok || f != math.Trunc(f) || f < least || f > maxInteger {
		return 0, given, false
	}
	return int(f), true, true
}

// Limit returns the time limit of the action.
func (a Action) Limit() time.Duration {
	s, ok := a.spec()
	if !ok {
		return interaction.Default
	}
	steps, added := a.Conditions(), time.Duration(0)
	for _, p := range s.Params {
		if p.Effect == AddsTime {
			ms, _ := a.Value(p.Name).(int)
			added += milliseconds(ms, max(a.Count, 1))
		}
		if on, _ := a.Value(p.OnlyIf).(bool); p.PerRune > 0 && (on || p.OnlyIf == "") {
			text, _ := a.Value(p.Name).(string)
			added += time.Duration(utf8.RuneCountInString(text)) * p.PerRune
		}
	}
	if steps == 0 && (added == 0 || a.Kind != KindWait) {
		steps = 1
	}
	return time.Duration(steps)*a.StepLimit() + added
}

// Conditions counts the steps that have the full limit each: the conditions of a wait except time, or the fields of a
// fill.
func (a Action) Conditions() int {
	s, ok := a.spec()
	if !ok {
		return 0
	}
	n := 0
	for _, p := range s.Params {
		switch {
		case p.Effect != HasLimit:
		case p.Type == Entries:
			n += len(a.NamedFields())
		case a.has(p):
			n++
		}
	}
	return n
}

// StepLimit returns the time limit of each condition of a wait, each field of a fill or, for other actions, finding the
// element.
func (a Action) StepLimit() time.Duration {
	limit := interaction
	if s, ok := a.spec(); ok && s.Limit != (Limit{}) {
		limit = s.Limit
	}
	if a.TimeoutMs <= 0 {
		return limit.Default
	}
	return min(max(milliseconds(a.TimeoutMs, 1), shortestLimit), limit.Longest)
}

// spec returns the description of the action, for any surface.
func (a Action) spec() (*Spec, bool) { return Lookup(API|Window, a.Kind) }

// milliseconds returns n milliseconds multiplied by times, at most an hour.
func milliseconds(n, times int) time.Duration {
	ms := max(0, float64(n)*float64(times))
	return time.Duration(min(ms, float64(time.Hour.Milliseconds()))) * time.Millisecond
}

// GuardTime is how long a server watches for navigations after each action.
const GuardTime = 250 * time.Millisecond

// Wait bounds the time until the response to a request of POST /act.
type Wait struct {
	Actions  int           // including those in batches
	Limit    time.Duration // of all actions in sequence
	Explicit bool          // set by the request itself
}

// Total returns the time for all actions and their GuardTime.
func (w Wait) Total() time.Duration { return w.Limit + time.Duration(w.Actions)*GuardTime }

// WaitFor returns how long a server may take for the body of a request of POST /act. Invalid actions count little.
func WaitFor(body map[string]any) Wait {
	var w Wait
	w.add(body, 0)
	return w
}

func (w *Wait) add(body map[string]any, depth int) {
	kind, _ := ScalarText(body["kind"])
	if Kind(kind) == KindBatch {
		entries, _ := body["actions"].([]any)
		for _, entry := range entries {
			if one, ok := entry.(map[string]any); ok && depth < MaxBatchDepth && w.Actions < MaxBatchActions {
				w.add(one, depth+1)
			}
		}
		return
	}
	a := Action{Kind: Kind(kind)}
	if s, ok := Lookup(API, a.Kind); ok {
		values, _ := s.Read(API, body) // the server reports errors
		a = s.Action(values)
	}
	w.Explicit = w.Explicit || a.TimeoutMs > 0 || a.TimeMs > 0
	w.Limit += a.Limit()
	w.Actions++
}
