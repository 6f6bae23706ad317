package actiontable

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"clank/browsermgr/fault"
)

// Values are field values by name, each of its field's type: string, bool, int, float64, []string, []Field, or []any
// for requests. Absent fields are missing.
type Values map[string]any

// Text returns a text; "" if absent.
func (v Values) Text(name string) string {
	s, _ := v[name].(string)
	return s
}

// Bool returns a flag; false if absent.
func (v Values) Bool(name string) bool {
	b, _ := v[name].(bool)
	return b
}

// Int returns an integer; 0 if absent.
func (v Values) Int(name string) int {
	n, _ := v[name].(int)
	return n
}

// Texts returns a list of texts; nil if absent.
func (v Values) Texts(name string) []string {
	list, _ := v[name].([]string)
	return list
}

// Read finds the kind and reads its fields; see [Spec.Read].
func Read(in Surface, kind Kind, given map[string]any) (*Spec, Values, error) {
	s, ok := Lookup(in, kind)
	if !ok {
		return nil, nil, UnknownKind(in, kind)
	}
	values, err := s.Read(in, given)
	return s, values, err
}

// Read converts the given values to the types of the action's fields. null counts as absent. For the API, unknown
// fields and values of the wrong type are ignored, except malformed numbers; for the window both are errors. The error
// wraps [fault.ErrInvalid] and is the first one; the result holds the values that could be read.
func (s *Spec) Read(in Surface, given map[string]any) (Values, error) {
	r := reader{kind: s.Kind, strict: in == Window, values: Values{}}
	params := s.ParamsIn(in)
	if r.strict {
		r.refuseUnknown(params, given)
	}
	for _, p := range params {
		if v := given[p.Name]; v != nil {
			r.read(p, v)
		}
		if p.Type == Coordinate && r.values[p.Name] == nil {
			r.values[p.Name] = math.NaN() // which fails every check
		}
	}
	if r.err == nil {
		r.err = need(s.Kind, params, s.Needs, func(p Param) bool {
			_, number := r.values[p.Name].(int)
			return number || isGiven(p, r.values[p.Name])
		})
	}
	for _, p := range params {
		switch v := r.values[p.Name]; v.(type) {
		case string, []string, nil:
			if p.Required && !isGiven(p, v) && (v == nil || p.Type != Verbatim) {
				r.failf("%s requires %s", s.Kind, p.Name)
			}
		}
	}
	return r.values, r.err
}

// reader reads the values of one action.
type reader struct {
	kind   Kind
	strict bool
	values Values
	err    error
}

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fault.Invalidf(format, args...)
	}
}

func (r *reader) refuseUnknown(params []Param, given map[string]any) {
	var known []string
	for _, p := range params {
		known = append(known, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if name != "kind" && given[name] != nil && !slices.Contains(known, name) {
			takes := "none"
			if len(known) > 0 {
				takes = strings.Join(known, ", ")
			}
			r.failf("%s has no field %q: it takes %s", r.kind, name, takes)
		}
	}
}

// read reads one value. A value of the wrong type is an error if strict, and otherwise counts as absent.
func (r *reader) read(p Param, given any) {
	value, want := parse(p, given, r.strict)
	switch {
	case want == "" && value != nil:
		r.values[p.Name] = value
	case r.strict && want != "":
		r.failf("%s %s must be %s", r.kind, p.Name, want)
	case strings.HasSuffix(want, "."): // a number
		r.failf("%s must be %s", p.Name, want)
	}
	if n, ok := value.(int); ok && r.strict && p.Max > 0 && n > p.Max {
		r.failf("%s %s exceeds maximum of %d", r.kind, p.Name, p.Max)
	}
	if text, ok := value.(string); ok && p.Enum != nil && text != "" && !slices.Contains(p.Enum, text) {
		if p.Ignored {
			delete(r.values, p.Name)
			return
		}
		r.failf("%s", badChoice(r.kind, p, text))
	}
}

func badChoice(kind Kind, p Param, text string) string {
	last := len(p.Enum) - 1
	return fmt.Sprintf("%s %s %q: use %s or %s", kind, p.Name, text, strings.Join(p.Enum[:last], ", "), p.Enum[last])
}

// parse converts a value to its field's type; want says what was expected if it does not fit. Both are empty for a
// value that counts as absent.
func parse(p Param, v any, strict bool) (value any, want string) {
	switch p.Type {
	case Bool:
		if b, ok := ParseBool(v); ok {
			return b, ""
		}
		return nil, "true or false"
	case Natural:
		return wholeNumber(v, 0, "a non-negative integer.")
	case Positive:
		return wholeNumber(v, 1, "a positive integer.")
	case Size: // Check reports a missing one
		return wholeNumber(v, -maxInteger, "an integer.")
	case Number, Coordinate:
		n, given, ok := ParseNumber(v, false)
		if given && !ok {
			return nil, "a finite number."
		}
		if !given {
			return nil, ""
		}
		return n, ""
	case Texts, VerbatimTexts, Modifiers, Points:
		return parseTexts(v, p.Type == VerbatimTexts, strict)
	case Entries:
		return parseEntries(v)
	case Requests:
		if list, ok := v.([]any); ok {
			return list, ""
		}
		return nil, "a list of actions"
	default:
		text, ok := ScalarText(v)
		if !ok {
			return nil, "a string"
		}
		if p.Type != Verbatim && (p.Type != Key || text != " ") {
			text = strings.TrimSpace(text)
		}
		return text, ""
	}
}

func wholeNumber(v any, least float64, want string) (any, string) {
	n, given, ok := ParseInteger(v, least)
	switch {
	case !given:
		return nil, ""
	case !ok:
		return nil, want
	}
	return n, ""
}

// parseTexts reads a list of texts. If strict, a single text is a list of one, and other types are errors.
func parseTexts(v any, verbatim, strict bool) (any, string) {
	const want = "a list of strings"
	items, ok := v.([]any)
	if texts, isTexts := v.([]string); isTexts {
		for _, text := range texts {
			items = append(items, text)
		}
	} else if _, scalar := ScalarText(v); scalar && strict {
		items = []any{v}
	} else if !ok {
		return nil, want
	}
	var texts []string
	for _, item := range items {
		text, ok := ScalarText(item)
		if !ok && strict {
			return nil, want
		}
		if !verbatim {
			text = strings.TrimSpace(text)
		}
		if ok && (verbatim || text != "") {
			texts = append(texts, text)
		}
	}
	return texts, ""
}

// parseEntries reads the entries of a fill. Those without a ref are dropped.
func parseEntries(v any) (any, string) {
	list, ok := v.([]any)
	if !ok {
		return nil, "a list of {ref, type, value}"
	}
	var fields []Field
	for _, item := range list {
		entry, _ := item.(map[string]any)
		text := func(name string) string {
			s, _ := ScalarText(entry[name])
			return strings.TrimSpace(s)
		}
		f := Field{Ref: text("ref"), Type: text("type"), Value: ""}
		if f.Ref == "" {
			continue
		}
		if f.Type == "" {
			f.Type = "text"
		}
		if on, ok := entry["value"].(bool); ok {
			f.Value = on
		} else if text, ok := ScalarText(entry["value"]); ok {
			f.Value = text
		}
		fields = append(fields, f)
	}
	return fields, ""
}

// Action returns an action of the kind with these values.
func (s *Spec) Action(values Values) Action {
	a := Action{Kind: s.Kind}
	fields := reflect.ValueOf(&a).Elem()
	for name, v := range values {
		if i, ok := actionFields()[name]; ok {
			fields.Field(i).Set(reflect.ValueOf(v))
		}
	}
	return a
}

// Check returns the first violation of the table in an action, wrapping [fault.ErrInvalid]. The syntax of refs, keys
// and modifiers is checked when the action is performed.
func (a Action) Check() error {
	s, ok := a.spec()
	if !ok {
		return UnknownKind(API, a.Kind)
	}
	for i, p := range s.Params {
		if err := a.checkParam(s, i, p); err != nil {
			return err
		}
	}
	return need(s.Kind, s.Params, s.Needs, a.has)
}

// UnknownKind returns the error for a kind that is not available at that surface.
func UnknownKind(in Surface, kind Kind) error {
	kinds := Kinds(in)
	slices.Sort(kinds)
	return fault.Invalidf("kind is required: use one of %s; got %q", strings.Join(kinds, ", "), kind)
}

// need returns an error for the first group of fields of which none is given.
func need(kind Kind, params []Param, groups [][]string, given func(Param) bool) error {
	for _, group := range groups {
		if slices.ContainsFunc(params, func(p Param) bool { return slices.Contains(group, p.Name) && given(p) }) {
			continue
		}
		if len(group) > 2 {
			return fault.Invalidf("%s requires at least one of %s", kind, strings.Join(group, ", "))
		}
		each := ""
		if kind == KindFill {
			each = ", each with a ref"
		}
		return fault.Invalidf("%s requires %s%s", kind, strings.Join(group, " or "), each)
	}
	return nil
}

// checkParam checks the value of parameter i. Some errors name all fields of the same type and maximum.
func (a Action) checkParam(s *Spec, i int, p Param) error {
	alike := func() string {
		var names []string
		for _, other := range s.Params {
			if other.Type == p.Type && other.Max == p.Max {
				names = append(names, other.Name)
			}
		}
		last := len(names) - 1
		if last == 0 {
			return names[0]
		}
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	switch v := a.Value(p.Name).(type) {
	case int:
		switch {
		case p.Type == Size && v <= 0:
			return fault.Invalidf("%s requires positive %s", s.Kind, alike())
		case p.Type == Size && v > p.Max:
			return fault.Invalidf("%s %s must not exceed %d", s.Kind, alike(), p.Max)
		case v < 0:
			return fault.Invalidf("%s %s must be a non-negative integer.", s.Kind, p.Name)
		case p.Max > 0 && v > p.Max && strings.HasSuffix(p.Name, "Ms"):
			return fault.Invalidf("%s %s exceeds maximum of %dms", s.Kind, p.Name, p.Max)
		case p.Max > 0 && v > p.Max:
			return fault.Invalidf("%s %s exceeds maximum of %d", s.Kind, p.Name, p.Max)
		}
	case float64:
		if p.Type == Coordinate && len(a.Path) == 0 && !IsCoordinate(v) {
			return fault.Invalidf("%s requires non-negative %s", s.Kind, alike())
		}
		if p.Type == Number && (math.IsNaN(v) || math.Abs(v) > float64(p.Max)) {
			return fault.Invalidf("%s %s must not exceed %d", s.Kind, alike(), p.Max)
		}
	case string:
		// Another surface may allow more values for the field.
		allowed := func(q Param) bool { return q.Name == p.Name && slices.Contains(q.Enum, v) }
		if p.Enum != nil && v != "" && !p.Ignored && !slices.ContainsFunc(s.Params, allowed) {
			return fault.Invalidf("%s", badChoice(s.Kind, s.Params[i], v))
		}
	}
	return nil
}

// IsCoordinate reports whether v is a valid coordinate in the viewport.
func IsCoordinate(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
