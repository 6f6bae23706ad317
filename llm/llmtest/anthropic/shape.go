package anthropic

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// shape says what is wrong with a decoded JSON value that stands at a path; nil
// if nothing is.
type shape func(at string, v any) error

type fields map[string]shape

// object has all required fields, any of the optional ones, and no other.
func object(required, optional fields) shape {
	return func(at string, v any) error {
		o, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s must be an object", at)
		}
		for _, name := range slices.Sorted(maps.Keys(required)) {
			if _, ok := o[name]; !ok {
				return fmt.Errorf("%s.%s is required", at, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(o)) {
			field := required[name]
			if field == nil {
				field = optional[name]
			}
			if field == nil {
				return fmt.Errorf("the Messages API does not know %s.%s", at, name)
			}
			if err := field(at+"."+name, o[name]); err != nil {
				return err
			}
		}
		return nil
	}
}

// with are the fields of several lists.
func with(all ...fields) fields {
	joined := fields{}
	for _, f := range all {
		maps.Copy(joined, f)
	}
	return joined
}

// kinds are shapes of objects by their field "type", which each gets.
type kinds map[string]func(also fields) shape

// typed is an object of one of several kinds.
func typed(of kinds) shape {
	shapes := map[string]shape{}
	for name, of := range of {
		shapes[name] = of(fields{"type": one(name)})
	}
	return func(at string, v any) error {
		o, _ := v.(map[string]any)
		name, _ := o["type"].(string)
		if shapes[name] == nil {
			return fmt.Errorf("the Messages API does not know type %q of %s", name, at)
		}
		return shapes[name](at, v)
	}
}

// kind is one kind of a [typed] object.
func kind(required, optional fields) func(also fields) shape {
	return func(also fields) shape { return object(with(also, required), optional) }
}

// list is an array of values of one shape.
func list(of shape) shape {
	return func(at string, v any) error {
		items, ok := v.([]any)
		if !ok {
			return fmt.Errorf("%s must be an array", at)
		}
		for i, item := range items {
			if err := of(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
				return err
			}
		}
		return nil
	}
}

// one is one of some strings.
func one(of ...string) shape {
	return func(at string, v any) error {
		if s, ok := v.(string); !ok || !slices.Contains(of, s) {
			return fmt.Errorf("%s must be one of %q", at, of)
		}
		return nil
	}
}

// null is null besides what of allows.
func null(of shape) shape {
	return func(at string, v any) error {
		if v == nil {
			return nil
		}
		return of(at, v)
	}
}

// each is an object whose fields have any names and one shape.
func each(of shape) shape {
	return func(at string, v any) error {
		o, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s must be an object", at)
		}
		for name, value := range o {
			if err := of(at+"."+name, value); err != nil {
				return err
			}
		}
		return nil
	}
}

func anything(string, any) error { return nil }

func text(at string, v any) error {
	if _, ok := v.(string); !ok {
		return fmt.Errorf("%s must be a string", at)
	}
	return nil
}

func flag(at string, v any) error {
	if _, ok := v.(bool); !ok {
		return fmt.Errorf("%s must be true or false", at)
	}
	return nil
}

func count(at string, v any) error {
	if n, ok := v.(float64); !ok || n < 0 || n != math.Trunc(n) {
		return fmt.Errorf("%s must be a number of things", at)
	}
	return nil
}

func number(at string, v any) error {
	if _, ok := v.(float64); !ok {
		return fmt.Errorf("%s must be a number", at)
	}
	return nil
}
