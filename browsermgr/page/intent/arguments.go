package intent

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

// Arguments are the arguments of an action, each of the type of its field.
type Arguments map[string]any

// fieldType says how a field is read.
type fieldType int

const (
	fieldText fieldType = iota
	fieldBool
	fieldInteger // a whole number
	fieldNumber  // any finite number
	fieldTexts
	fieldEntries // of a fill
)

func fieldTypes() map[string]fieldType {
	return map[string]fieldType{
		"doubleClick": fieldBool, "submit": fieldBool, "slowly": fieldBool, "accept": fieldBool,
		"delayMs": fieldInteger, "pixels": fieldInteger, "width": fieldInteger, "height": fieldInteger, "timeMs": fieldInteger, "timeoutMs": fieldInteger,
		"clickCount": fieldInteger, "count": fieldInteger, "holdMs": fieldInteger, "clear": fieldBool,
		"x": fieldNumber, "y": fieldNumber, "deltaX": fieldNumber, "deltaY": fieldNumber,
		"modifiers": fieldTexts, "values": fieldTexts, "path": fieldTexts, "fields": fieldEntries,
	}
}

// KindFields lists what a kind of page action takes. others are the kinds that the caller knows besides, for the error.
func KindFields(kind string, others []string) ([]string, error) {
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

// ParseArguments checks the names, fields being those that the kind takes, and brings the values to the types of their fields. Absent and null are the same.
func ParseArguments(kind string, fields []string, args map[string]any) (Arguments, error) {
	types := fieldTypes()
	vals := Arguments{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name == "kind" || args[name] == nil {
			continue
		}
		if !slices.Contains(fields, name) {
			return nil, fmt.Errorf("%s has no field %q: it takes %s", kind, name, fieldsOrNone(fields))
		}
		v, want := parseValue(types[name], args[name])
		if want != "" {
			return nil, fmt.Errorf("%s %s must be %s", kind, name, want)
		}
		vals[name] = v
	}
	for _, name := range requiredFields()[kind] {
		if vals[name] == nil {
			return nil, fmt.Errorf("%s requires %s", kind, name)
		}
	}
	return vals, nil
}

// requiredFields are the fields whose absence the zero value would hide from [page.Action.Validate], and those of commands.
func requiredFields() map[string][]string {
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

func fieldsOrNone(fields []string) string {
	if len(fields) == 0 {
		return "none"
	}
	return strings.Join(fields, ", ")
}

// parseValue brings a value to a type; if it cannot, want says what was expected.
func parseValue(t fieldType, v any) (out any, want string) {
	switch t {
	case fieldText:
		if s, ok := scalarText(v); ok {
			return s, ""
		}
		return nil, "a string"
	case fieldBool:
		return parseBool(v)
	case fieldInteger:
		f, ok := toNumber(v)
		if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<31 {
			return nil, "an integer"
		}
		return int(f), ""
	case fieldNumber:
		if f, ok := toNumber(v); ok {
			return f, ""
		}
		return nil, "a finite number"
	case fieldTexts:
		return parseTexts(v)
	default: // entries
		if list, ok := v.([]any); ok {
			return list, ""
		}
		return nil, "a list of {ref, type, value}"
	}
}

func parseBool(v any) (out any, want string) {
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

func parseTexts(v any) (out any, want string) {
	const expected = "a list of strings"
	var list []string
	switch v := v.(type) {
	case []string:
		return v, ""
	case []any:
		for _, item := range v {
			s, ok := scalarText(item)
			if !ok {
				return nil, expected
			}
			list = append(list, s)
		}
		return list, ""
	default:
		s, ok := scalarText(v)
		if !ok {
			return nil, expected
		}
		return []string{s}, ""
	}
}

// scalarText writes a string, number or boolean as text.
func scalarText(v any) (string, bool) {
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
func (v Arguments) Action(kind string) (page.Action, error) {
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
func (v Arguments) Text(name string) string {
	s, _ := v[name].(string)
	return s
}

// Bool is a field that is true or false; false if it is absent.
func (v Arguments) Bool(name string) bool {
	b, _ := v[name].(bool)
	return b
}
