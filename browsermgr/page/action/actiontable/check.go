package actiontable

import (
	"math"
	"slices"
	"strings"

	"clank/browsermgr/fault"
)

// Check reports the first thing about an action that the table does not allow, as an error that wraps [fault.ErrInvalid].
// The syntax of refs, keys and modifiers is left to who performs it.
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

// UnknownKind is the error for a kind that cannot be asked for there.
func UnknownKind(in Surface, kind Kind) error {
	kinds := Kinds(in)
	slices.Sort(kinds)
	return fault.Invalidf("kind is required: use one of %s; got %q", strings.Join(kinds, ", "), kind)
}

// need reports the first group of fields of which none is given.
func need(kind Kind, params []Param, groups [][]string, given func(Param) bool) error {
	for _, group := range groups {
		if slices.ContainsFunc(params, func(p Param) bool { return slices.Contains(group, p.Name) && given(p) }) {
			continue
		}
		if len(group) > 2 {
			return fault.Invalidf("%s requires at least one of %s", kind, strings.Join(group, ", "))
		}
		return fault.Invalidf("%s requires %s", kind, strings.Join(group, " or "))
	}
	return nil
}

// checkParam checks the value of parameter i. What several of the same type have in common is said of all of them.
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
		// The field of another surface may allow more.
		allowed := func(q Param) bool { return q.Name == p.Name && slices.Contains(q.Enum, v) }
		if p.Enum != nil && v != "" && !p.Ignored && !slices.ContainsFunc(s.Params, allowed) {
			return fault.Invalidf("%s", badChoice(s.Kind, s.Params[i], v))
		}
	}
	return nil
}

// IsCoordinate reports whether v can be a coordinate of the viewport.
func IsCoordinate(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
