package llmtest

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// jsonShape says what is wrong with a decoded JSON value that stands at a path; nil
// if nothing is.
type jsonShape func(at string, v any) error

type jsonFields map[string]jsonShape

// objectShape has all required fields, any of the optional ones, and no other.
func objectShape(required, optional jsonFields) jsonShape {
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

// mergeFields returns the fields of several lists.
func mergeFields(all ...jsonFields) jsonFields {
	joined := jsonFields{}
	for _, f := range all {
		maps.Copy(joined, f)
	}
	return joined
}

// jsonKinds are shapes of objects by their field "type", which each gets.
type jsonKinds map[string]func(also jsonFields) jsonShape

// typedShape returns an object of one of several kinds.
func typedShape(of jsonKinds) jsonShape {
	shapes := map[string]jsonShape{}
	for name, of := range of {
		shapes[name] = of(jsonFields{"type": enumShape(name)})
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

// kindShape returns one kind of a [typedShape] object.
func kindShape(required, optional jsonFields) func(also jsonFields) jsonShape {
	return func(also jsonFields) jsonShape { return objectShape(mergeFields(also, required), optional) }
}

// listShape returns an array of values of one shape.
func listShape(of jsonShape) jsonShape {
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

// enumShape returns a shape that allows the strings of.
func enumShape(of ...string) jsonShape {
	return func(at string, v any) error {
		if s, ok := v.(string); !ok || !slices.Contains(of, s) {
			return fmt.Errorf("%s must be one of %q", at, of)
		}
		return nil
	}
}

// nullableShape returns a shape that allows null and what of allows.
func nullableShape(of jsonShape) jsonShape {
	return func(at string, v any) error {
		if v == nil {
			return nil
		}
		return of(at, v)
	}
}

// mapShape returns an object whose fields have any names and one shape.
func mapShape(of jsonShape) jsonShape {
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

func anyShape(string, any) error { return nil }

func stringShape(at string, v any) error {
	if _, ok := v.(string); !ok {
		return fmt.Errorf("%s must be a string", at)
	}
	return nil
}

func boolShape(at string, v any) error {
	if _, ok := v.(bool); !ok {
		return fmt.Errorf("%s must be true or false", at)
	}
	return nil
}

func countShape(at string, v any) error {
	if n, ok := v.(float64); !ok || n < 0 || n != math.Trunc(n) {
		return fmt.Errorf("%s must be a number of things", at)
	}
	return nil
}

func numberShape(at string, v any) error {
	if _, ok := v.(float64); !ok {
		return fmt.Errorf("%s must be a number", at)
	}
	return nil
}
