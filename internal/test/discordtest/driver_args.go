package discordtest

import (
	"fmt"
	"slices"
	"strconv"
)

// nestOptions writes arguments as Discord sends them: down the subcommands, with the arguments at the end.
func nestOptions(options []CommandOption, words []string, args Args) ([]map[string]any, error) {
	if len(words) == 0 {
		return listOptions(options, args)
	}
	i := slices.IndexFunc(options, func(o CommandOption) bool { return o.Name == words[0] && o.Type == SubCommand })
	if i < 0 {
		return nil, ErrNoCommand
	}
	inner, err := nestOptions(options[i].Options, words[1:], args)
	if err != nil {
		return nil, err
	}
	sub := map[string]any{"name": words[0], "type": SubCommand}
	if len(inner) > 0 {
		sub["options"] = inner
	}
	return []map[string]any{sub}, nil
}

func listOptions(options []CommandOption, args Args) ([]map[string]any, error) {
	var out []map[string]any
	for _, o := range options {
		if o.Type < StringOption {
			return nil, fmt.Errorf("%w: it needs a subcommand such as %q", ErrNoCommand, o.Name)
		}
		v, given := args[o.Name]
		if !given && o.Required {
			return nil, fmt.Errorf("%w: %q is required", ErrBadArgument, o.Name)
		}
		if !given {
			continue
		}
		if err := checkArgument(o, v); err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrBadArgument, o.Name, err)
		}
		out = append(out, map[string]any{"name": o.Name, "type": o.Type, "value": v})
	}
	if len(out) < len(args) {
		return nil, fmt.Errorf("%w: the command has fewer options than arguments were given", ErrBadArgument)
	}
	return out, nil
}

// checkArgument holds an argument against its option.
func checkArgument(o CommandOption, v any) error {
	if len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(c OptionChoice) bool { return fmt.Sprint(c.Value) == fmt.Sprint(v) }) {
		return fmt.Errorf("%v is not among the choices", v)
	}
	switch o.Type {
	case StringOption:
		text, ok := v.(string)
		n := len([]rune(text))
		if !ok || n > 6000 || o.MinLength != nil && n < *o.MinLength || o.MaxLength != nil && n > *o.MaxLength {
			return fmt.Errorf("%T of %d characters does not fit", v, n)
		}
		return nil
	case BooleanOption:
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("%v is not a boolean", v)
		}
		return nil
	}
	n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	switch {
	case err != nil:
		return fmt.Errorf("%v is not a number", v)
	case o.Type == IntegerOption && n != float64(int64(n)):
		return fmt.Errorf("%v is not an integer", v)
	case o.MinValue != nil && n < *o.MinValue, o.MaxValue != nil && n > *o.MaxValue:
		return fmt.Errorf("%v is out of range", v)
	}
	return nil
}
