package browsercli

import (
	"encoding/json"
	"fmt"

	"clank/internal/browsercli/show"
)

// decode reads an answer into a new T.
func decode[T any](answer []byte) (T, error) {
	var v T
	if err := json.Unmarshal(answer, &v); err != nil {
		return v, fmt.Errorf("read the answer: %w", err)
	}
	return v, nil
}

// showing makes a show of a function that prints a typed answer.
func showing[T any](print func(p *show.Printer, answer T)) func(*show.Printer, *input, []byte) error {
	return showingWith(func(p *show.Printer, _ *input, answer T) { print(p, answer) })
}

// showingWith is showing for a function that also needs what the command was given.
func showingWith[T any](print func(p *show.Printer, in *input, answer T)) func(*show.Printer, *input, []byte) error {
	return func(p *show.Printer, in *input, raw []byte) error {
		answer, err := decode[T](raw)
		if err == nil {
			print(p, in, answer)
		}
		return err
	}
}

// showingField makes a show that prints one field of the answer as JSON, or else if it is not there.
func showingField(name, otherwise string) func(*show.Printer, *input, []byte) error {
	return func(p *show.Printer, _ *input, raw []byte) error {
		fields, err := decode[map[string]json.RawMessage](raw)
		if err != nil {
			return err
		}
		if value, ok := fields[name]; ok && string(value) != "null" {
			return p.JSON([]byte(value))
		}
		p.Line("%s", otherwise)
		return nil
	}
}
