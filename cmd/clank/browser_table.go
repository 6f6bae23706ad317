package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// optionKind says what a flag takes.
type optionKind int

const (
	kindToggle  optionKind = iota // nothing; it is on when given
	kindText                      // any text
	kindInteger                   // digits
	kindDecimal                   // a number
	kindList                      // texts with commas between them
	kindFile                      // the path of a file
)

// browserOption is one flag.
type browserOption struct {
	name    string
	kind    optionKind
	value   string // what stands for the value in the help
	help    string
	field   string   // name in the request; "" if the command puts it there itself
	choices []string // the values that make sense
	strict  bool     // others are wrong use; without it the server decides, which may know more
	needed  bool     // it has to be given
}

// browserCommand is one verb, of one or more words.
type browserCommand struct {
	name     string
	args     string // as in [newCommand]
	short    string
	options  []browserOption
	examples []string
	choices  []string // the values of the first argument that make sense

	buildRequest     func(in *commandInput) (controlRequest, error)                 // fails for wrong use only
	checkAnswer      func(in *commandInput, answer []byte) error                    // what failed though the server answered well; may be nil
	printAnswer      func(p *outputPrinter, in *commandInput, answer []byte) error  // prints for people; nil prints nothing
	trimForJSON      func(in *commandInput, answer []byte) any                      // what --json prints, if not the answer
	saveContent      func(answer []byte) (content []byte, big []string, err error)  // content for --out, and the fields it takes out of the answer
	printUnreachable func(p *outputPrinter, asJSON bool, address string, err error) // stands in for the error message; may be nil

	printsFailures bool // the answer is worth showing also when it tells of a failure
	isCapture      bool // makes a picture or text of a page: says with --json whether it did
}

// browserSection is a part of the overview.
type browserSection struct {
	title    string
	commands []browserCommand
}

// browserSections returns the table of all commands.
func browserSections() []browserSection {
	return []browserSection{
		{"Browser and profiles", slices.Concat(browserLifecycleCommands(), profileCommands())},
		{"Tabs", tabCommands()},
		{"Reading pages", readCommands()},
		{"Acting", actCommands()},
		{"Files and dialogs", fileCommands()},
		{"Watching", recordCommands()},
		{"State", slices.Concat(storageStateCommands(), emulationCommands())},
	}
}

var (
	originOption  = browserOption{name: "origin", kind: kindText, value: "origin", help: "the only site that gets it", field: "origin"}
	tabOption     = browserOption{name: "target-id", kind: kindText, value: "tab", help: "the tab: its id, t1, a label or the start of an id (the last used one)", field: "targetId"}
	timeoutOption = browserOption{name: "timeout-ms", kind: kindInteger, value: "ms", help: "how long the browser may take for it", field: "timeoutMs"}
)

// optionValue is what was given for a flag.
type optionValue struct {
	kind    optionKind
	name    string // what stands for it in the help
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
