package browseagent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// fieldType is the type of a field of a tool's input.
type fieldType string

const (
	fieldText    fieldType = "string"
	fieldInteger fieldType = "integer"
	fieldBool    fieldType = "boolean"
	fieldStrings fieldType = "array"
)

// inputField is one field of a tool's input.
type inputField struct {
	name     string
	kind     fieldType
	about    string
	required bool
	choices  []string // of a text
	max      int      // of a whole number, from 0
	empty    bool     // a required text may be empty
}

// toolArgs is a decoded input: strings, ints, bools and []string by field name.
type toolArgs map[string]any

func (a toolArgs) str(name string) string    { s, _ := a[name].(string); return s }
func (a toolArgs) num(name string) int       { n, _ := a[name].(int); return n }
func (a toolArgs) flag(name string) bool     { b, _ := a[name].(bool); return b }
func (a toolArgs) list(name string) []string { l, _ := a[name].([]string); return l }

// inputSchema returns the JSON Schema of an object with these fields and no others.
func inputSchema(fields []inputField) json.RawMessage {
	props := make(map[string]any, len(fields))
	required := []string{}
	for _, f := range fields {
		p := map[string]any{"type": f.kind}
		if f.about != "" {
			p["description"] = f.about
		}
		if f.choices != nil {
			p["enum"] = f.choices
		}
		if f.kind == fieldInteger {
			p["minimum"], p["maximum"] = 0, f.max
		}
		if f.kind == fieldStrings {
			p["items"], p["minItems"] = map[string]any{"type": "string"}, 1
		}
		props[f.name] = p
		if f.required {
			required = append(required, f.name)
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`) // strings and ints always marshal
	}
	return raw
}

// decodeInput reads an input and checks it. Its error names the field and is meant
// for the model. A null counts as absent.
func decodeInput(fields []inputField, raw json.RawMessage) (toolArgs, error) {
	var given map[string]any
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, errors.New("the input is not a JSON object")
		}
	}
	a := make(toolArgs, len(given))
	for _, f := range fields {
		v := given[f.name]
		delete(given, f.name)
		if v == nil {
			if f.required {
				return nil, fmt.Errorf("field %q is missing", f.name)
			}
			continue
		}
		val, err := f.read(v)
		if err != nil {
			return nil, err
		}
		a[f.name] = val
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if given[name] != nil {
			return nil, fmt.Errorf("field %q is unknown (known: %s)", name, strings.Join(fieldNames(fields), ", "))
		}
	}
	return a, nil
}

func fieldNames(fields []inputField) []string {
	if len(fields) == 0 {
		return []string{"none"}
	}
	var ns []string
	for _, f := range fields {
		ns = append(ns, f.name)
	}
	return ns
}

// read checks one value.
func (f inputField) read(v any) (any, error) {
	switch f.kind {
	case fieldText:
		if s, ok := v.(string); ok {
			return s, f.checkText(s)
		}
	case fieldInteger:
		if n, ok := v.(float64); ok && n == math.Trunc(n) && n >= 0 && n <= float64(f.max) {
			return int(n), nil
		}
		return nil, fmt.Errorf("field %q must be a whole number from 0 to %d", f.name, f.max)
	case fieldBool:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case fieldStrings:
		if l, ok := readList(v); ok {
			return l, nil
		}
		return nil, fmt.Errorf("field %q must be a list of one or more strings", f.name)
	}
	return nil, fmt.Errorf("field %q must be a %s", f.name, f.kind)
}

func (f inputField) checkText(s string) error {
	if f.required && !f.empty && strings.TrimSpace(s) == "" {
		return fmt.Errorf("field %q is empty", f.name)
	}
	if f.choices != nil && !slices.Contains(f.choices, s) {
		return fmt.Errorf("field %q must be one of %s", f.name, strings.Join(f.choices, ", "))
	}
	return nil
}

func readList(v any) ([]string, bool) {
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return nil, false
	}
	var l []string
	for _, it := range items {
		s, ok := it.(string)
		if !ok {
			return nil, false
		}
		l = append(l, s)
	}
	return l, true
}
