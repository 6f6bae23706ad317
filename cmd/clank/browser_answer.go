package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// decodeAnswer decodes a response.
func decodeAnswer[T any](answer []byte) (T, error) {
	var v T
	if err := json.Unmarshal(answer, &v); err != nil {
		return v, fmt.Errorf("read the answer: %w", err)
	}
	return v, nil
}

// printTyped adapts a function that prints a typed response.
func printTyped[T any](print func(p *outputPrinter, answer T)) func(*outputPrinter, *commandInput, []byte) error {
	return printTypedWithInput(func(p *outputPrinter, _ *commandInput, answer T) { print(p, answer) })
}

// printTypedWithInput is like printTyped for a function that also needs the command's input.
func printTypedWithInput[T any](print func(p *outputPrinter, in *commandInput, answer T)) func(*outputPrinter,
	*commandInput, []byte) error {
	return func(p *outputPrinter, in *commandInput, raw []byte) error {
		answer, err := decodeAnswer[T](raw)
		if err == nil {
			print(p, in, answer)
		}
		return err
	}
}

// printSentence returns a function that prints text, in which {0} stands for the first argument, and {name} or
// {name.name} for a field of the response.
func printSentence(text string) func(*outputPrinter, *commandInput, []byte) error {
	return func(p *outputPrinter, in *commandInput, raw []byte) error {
		answer, err := decodeAnswer[map[string]any](raw)
		for _, hole := range sentenceHoles().FindAllString(text, -1) {
			path := strings.Split(strings.Trim(hole, "{}"), ".")
			value := any(answer)
			if i, err := strconv.Atoi(path[0]); err == nil {
				value, path = in.arg(i), nil
			}
			for _, name := range path {
				fields, _ := value.(map[string]any)
				value = fields[name]
			}
			filled, _ := value.(string)
			text = strings.Replace(text, hole, cleanLine(filled), 1)
		}
		p.Line("%s", text)
		return err
	}
}

var sentenceHoles = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[\w.]+\}`) })

// printField returns a function that prints one field of the response as JSON, or otherwise if it is missing.
func printField(name, otherwise string) func(*outputPrinter, *commandInput, []byte) error {
	return func(p *outputPrinter, _ *commandInput, raw []byte) error {
		fields, err := decodeAnswer[map[string]json.RawMessage](raw)
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
