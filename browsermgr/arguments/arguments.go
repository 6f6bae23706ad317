// Package arguments reads what a model or a client gives for an action on a page into the page's own form: numbers and
// truths may be written as strings and the other way round, names and what is required are checked. It does not act.
package arguments

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"clank/browsermgr/page"
)

// Values are the arguments of an action, each of the type of its field.
type Values map[string]any

// fieldType says how a field is read.
type fieldType int

const (
	text fieldType = iota
	truth
	whole  // a whole number
	number // any finite number
	texts
	entries // of a fill
)

func fieldTypes() map[string]fieldType {
	return map[string]fieldType{
		"doubleClick": truth, "submit": truth, "slowly": truth, "accept": truth,
		"delayMs": whole, "pixels": whole, "width": whole, "height": whole, "timeMs": whole, "timeoutMs": whole,
		"clickCount": whole, "count": whole, "holdMs": whole, "clear": truth,
		"x": number, "y": number, "deltaX": number, "deltaY": number,
		"modifiers": texts, "values": texts, "path": texts, "fields": entries,
	}
}

// Fields lists what a kind of page action takes. others are the kinds that the caller knows besides, for the error.
func Fields(kind string, others []string) ([]string, error) {
	byKind := map[page.Kind][]string{
		page.KindClick:          {"ref", "selector", "doubleClick", "button", "modifiers", "delayMs"},
		page.KindClickCoords:    {"x", "y", "doubleClick", "button", "clickCount", "modifiers", "delayMs"},
		page.KindPointerMove:    {"x", "y", "modifiers"},
		page.KindPointerDown:    {"x", "y", "button", "modifiers"},
		page.KindPointerUp:      {"x", "y", "button", "modifiers"},
		page.KindDragCoords:     {"path", "button", "modifiers"},
		page.KindWheel:          {"x", "y", "deltaX", "deltaY", "modifiers"},
		page.KindKeyDown:        {"key"},
		page.KindKeyUp:          {"key"},
		page.KindInsertText:     {"text", "clear"},
		page.KindType:           {"ref", "selector", "text", "submit", "slowly"},
		page.KindPress:          {"key", "count", "holdMs", "delayMs"},
		page.KindHover:          {"ref", "selector"},
		page.KindScrollIntoView: {"ref", "selector"},
		page.KindScroll:         {"ref", "selector", "direction", "pixels"},
		page.KindDrag:           {"startRef", "startSelector", "endRef", "endSelector"},
		page.KindSelect:         {"ref", "selector", "values"},
		page.KindFill:           {"fields"},
		page.KindResize:         {"width", "height"},
		page.KindWait:           {"timeMs", "text", "textGone", "selector", "url", "loadState", "fn"},
		page.KindEvaluate:       {"fn", "ref"},
		page.KindBack:           {},
		page.KindForward:        {},
		page.KindReload:         {},
	}
	fields, ok := byKind[page.Kind(kind)]
	if !ok {
		kinds := slices.Clone(others)
		for known := range byKind {
			kinds = append(kinds, string(known))
		}
		slices.Sort(kinds)
		return nil, fmt.Errorf("unknown action kind %q: use one of %s", kind, strings.Join(kinds, ", "))
	}
	return append(fields, "timeoutMs"), nil
}

// Read checks the names, fields being those that the kind takes, and brings the values to the types of their fields. Absent and null are the same.
func Read(kind string, fields []string, args map[string]any) (Values, error) {
	types := fieldTypes()
	vals := Values{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name == "kind" || args[name] == nil {
			continue
		}
		if !slices.Contains(fields, name) {
			return nil, fmt.Errorf("%s has no field %q: it takes %s", kind, name, orNone(fields))
		}
		v, want := read(types[name], args[name])
		if want != "" {
			return nil, fmt.Errorf("%s %s must be %s", kind, name, want)
		}
		vals[name] = v
	}
	for _, name := range required()[kind] {
		if vals[name] == nil {
			return nil, fmt.Errorf("%s requires %s", kind, name)
		}
	}
	return vals, nil
}

// required are the fields whose absence the zero value would hide from [page.Action.Validate], and those of commands.
func required() map[string][]string {
	return map[string][]string{
		"clickCoords": {"x", "y"},
		"pointerMove": {"x", "y"},
		"pointerDown": {"x", "y"},
		"pointerUp":   {"x", "y"},
		"dragCoords":  {"path"},
		"wheel":       {"x", "y"},
		"type":        {"text"},
		"navigate":    {"url"},
		"tabSelect":   {"tab"},
		"dialog":      {"accept"},
	}
}

func orNone(fields []string) string {
	if len(fields) == 0 {
		return "none"
	}
	return strings.Join(fields, ", ")
}

// read brings a value to a type; if it cannot, want says what was expected.
func read(t fieldType, v any) (out any, want string) {
	switch t {
	case text:
		if s, ok := scalar(v); ok {
			return s, ""
		}
		return nil, "a string"
	case truth:
		return readTruth(v)
	case whole:
		f, ok := toNumber(v)
		if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<31 {
			return nil, "an integer"
		}
		return int(f), ""
	case number:
		if f, ok := toNumber(v); ok {
			return f, ""
		}
		return nil, "a finite number"
	case texts:
		return readTexts(v)
	default: // entries
		if list, ok := v.([]any); ok {
			return list, ""
		}
		return nil, "a list of {ref, type, value}"
	}
}

func readTruth(v any) (out any, want string) {
	switch v := v.(type) {
	case bool:
		return v, ""
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "1", "yes":
			return true, ""
		case "false", "0", "no":
			return false, ""
		}
	}
	return nil, "true or false"
}

func readTexts(v any) (out any, want string) {
	const expected = "a list of strings"
	var list []string
	switch v := v.(type) {
	case []string:
		return v, ""
	case []any:
		for _, item := range v {
			s, ok := scalar(item)
			if !ok {
				return nil, expected
			}
			list = append(list, s)
		}
		return list, ""
	default:
		s, ok := scalar(v)
		if !ok {
			return nil, expected
		}
		return []string{s}, ""
	}
}

// scalar writes a string, number or boolean as text.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	default:
		f, ok := toNumber(v)
		if !ok {
			return "", false
		}
		return strconv.FormatFloat(f, 'f', -1, 64), true
	}
}

func toNumber(v any) (float64, bool) {
	var f float64
	var err error
	switch v := v.(type) {
	case float64:
		f = v
	case int:
		f = float64(v)
	case int64:
		f = float64(v)
	case json.Number:
		f, err = v.Float64()
	case string:
		f, err = strconv.ParseFloat(strings.TrimSpace(v), 64)
	default:
		return 0, false
	}
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// Action builds the page's form of an action and validates it.
func (v Values) Action(kind string) (page.Action, error) {
	v = maps.Clone(v)
	v["kind"] = kind
	if held, ok := v["holdMs"]; ok { // of press, where the control API says delayMs
		v["delayMs"] = held
	}
	if twice, _ := v["doubleClick"].(bool); kind == string(page.KindClickCoords) && v["clickCount"] == nil && !twice {
		v["clickCount"] = 1
	}
	data, err := json.Marshal(v)
	if err != nil {
		return page.Action{}, fmt.Errorf("%s: %w", kind, err)
	}
	var a page.Action
	if err := json.Unmarshal(data, &a); err != nil {
		return page.Action{}, fmt.Errorf("%s: %w", kind, err)
	}
	return a, a.Validate()
}

// Text is a field that is text, or "".
func (v Values) Text(name string) string {
	s, _ := v[name].(string)
	return s
}

// Truth is a field that is true or false; false if it is absent.
func (v Values) Truth(name string) bool {
	b, _ := v[name].(bool)
	return b
}
