package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// optionKind is the type of a flag's value.
type optionKind int

const (
	kindToggle  optionKind = iota // no value; true if given
	kindText                      // text
	kindInteger                   // an integer
	kindDecimal                   // a number
	kindList                      // a comma-separated list
	kindFile                      // a file path
)

// browserOption is one flag.
type browserOption struct {
	name    string
	kind    optionKind
	value   string // placeholder of the value in the help
	help    string
	field   string   // name in the request; "" if the command sets it itself
	choices []string // known values
	strict  bool     // other values are usage errors; otherwise the server, which may know more, decides
	needed  bool     // it is required
}

// browserCommand is a command, whose name has one or more words.
type browserCommand struct {
	name     string
	args     string // in the form of [newCommand]
	short    string
	options  []browserOption
	examples []string
	choices  []string // known values of the first argument

	buildRequest func(in *commandInput) (controlRequest, error) // fails only for wrong usage
	// detects failures in successful responses; may be nil
	checkAnswer func(in *commandInput, answer []byte) error
	// prints for people; nil prints nothing
	printAnswer func(p *outputPrinter, in *commandInput, answer []byte) error
	// the value for --json, if it is not the whole response
	trimForJSON func(in *commandInput, answer []byte) any
	// content for --out, and the fields it is taken from
	saveContent func(answer []byte) (content []byte, big []string, err error)
	// replaces the error message; may be nil
	printUnreachable func(p *outputPrinter, asJSON bool, address string, err error)

	addFields func(c *browserCommand) // adds arguments and options when the command is called; may be nil

	printsFailures bool // print the response even if it reports a failure
	isCapture      bool // creates an image or text of a page: --json reports whether it succeeded
}

// browserSection is a section of the overview. No two sections have commands that begin with the same word.
type browserSection struct {
	title    string
	commands func() []browserCommand
}

// browserSections returns all commands by section.
func browserSections() []browserSection {
	return []browserSection{
		{"Browser and profiles", func() []browserCommand {
			return slices.Concat(browserLifecycleCommands(), profileCommands())
		}},
		{"Tabs", tabCommands},
		{"Reading pages", readCommands},
		{"Acting", actCommands},
		{"Files and dialogs", fileCommands},
		{"Watching", recordCommands},
		{"State", func() []browserCommand { return slices.Concat(storageStateCommands(), emulationCommands()) }},
	}
}

var (
	originOption = browserOption{
		name: "origin", kind: kindText, value: "origin", help: "the only site that gets it",
		field: "origin",
	}
	tabOption = browserOption{name: "target-id", kind: kindText, value: "tab", help: "the tab: its id, t1, a label " +
		"or the start of an id (the last used one)", field: "targetId"}
	timeoutOption = browserOption{
		name: "timeout-ms", kind: kindInteger, value: "ms", help: "time limit",
		field: "timeoutMs",
	}
)

// optionValue is the value of a flag.
type optionValue struct {
	kind    optionKind
	name    string // placeholder in the help
	choices []string
	strict  bool
	text    string
}

// String implements [pflag.Value].
func (v *optionValue) String() string { return v.text }

// Type implements [pflag.Value]. The help shows it.
func (v *optionValue) Type() string {
	if v.kind == kindToggle {
		return "bool"
	}
	return v.name
}

// Set implements [pflag.Value].
func (v *optionValue) Set(text string) error {
	v.text = text
	switch v.kind {
	case kindToggle:
		_, err := strconv.ParseBool(text)
		return err
	case kindInteger:
		if _, err := strconv.ParseUint(text, 10, 31); err != nil {
			return fmt.Errorf("must be a whole number that is not negative, not %q", text)
		}
	case kindDecimal:
		if f, err := strconv.ParseFloat(text, 64); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("must be a number, not %q", text)
		}
	default:
		if v.strict && !slices.Contains(v.choices, text) {
			return fmt.Errorf("is one of %s, not %q", strings.Join(v.choices, ", "), text)
		}
	}
	return nil
}
