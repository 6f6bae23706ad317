package main

import (
	"slices"
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
}

// browserCommand is one verb, of one or more words.
type browserCommand struct {
	name     string
	args     string // <needed> [optional] and … after the last if it may be repeated
	short    string
	options  []browserOption
	examples []string
	choices  []string // the values of the first argument that make sense

	buildRequest     func(in *commandInput) (controlRequest, error)                 // fails for wrong use only
	checkAnswer      func(in *commandInput, answer []byte) error                    // what failed though the server answered well; may be nil
	printAnswer      func(p *outputPrinter, in *commandInput, answer []byte) error  // prints for people; nil prints nothing
	trimForJSON      func(answer []byte) any                                        // what --json prints, if not the answer
	saveContent      func(answer []byte) (content []byte, big []string)             // content for --out, and the fields it takes out of the answer
	printUnreachable func(p *outputPrinter, asJSON bool, address string, err error) // stands in for the error message; may be nil

	printsFailures bool // the answer is worth showing also when it tells of a failure
	isCapture      bool // makes a picture or text of a page: says with --json whether it did
}

// browserSection is a part of the overview.
type browserSection struct {
	title    string
	commands []browserCommand
}

// browserSections is the table of all commands.
func browserSections() []browserSection {
	return []browserSection{
		{"Browser and profiles", slices.Concat(browserLifecycleCommands(), profileCommands())},
		{"Tabs", tabCommands()},
		{"Reading pages", readCommands()},
		{"Acting", slices.Concat(actCommands(), waitCommands())},
		{"Files and dialogs", fileCommands()},
		{"Watching", recordCommands()},
		{"State", slices.Concat(storageStateCommands(), emulationCommands())},
	}
}

// browserCommands is the table as one list.
func browserCommands() []browserCommand {
	var all []browserCommand
	for _, s := range browserSections() {
		all = append(all, s.commands...)
	}
	return all
}

// globalOptions is the flags that every command takes, before or after its name.
func globalOptions() []browserOption {
	return []browserOption{
		{name: "browser-profile", kind: kindText, value: "name", help: "the profile to use instead of the default one"},
		{name: "json", help: "print the server's answer as JSON"},
		{name: "url", kind: kindText, value: "address", help: "the control server"},
		{name: "token", kind: kindText, value: "secret", help: "what opens the control server"},
		{name: "timeout", kind: kindInteger, value: "ms", help: "how long to wait for the answer (as long as the command may take, at least 30000)"},
		{name: "expect-final", help: "accepted and ignored: there is one answer"},
	}
}

var (
	tabOption     = browserOption{name: "target-id", kind: kindText, value: "tab", help: "the tab: its id, t1, a label or the start of an id (the last used one)", field: "targetId"}
	timeoutOption = browserOption{name: "timeout-ms", kind: kindInteger, value: "ms", help: "how long the browser may take for it", field: "timeoutMs"}
)

// argCount reads args: how many are needed, and how many there may be (-1 is any number).
func (c *browserCommand) argCount() (least, most int) {
	for word := range strings.FieldsSeq(c.args) {
		if strings.HasPrefix(word, "<") {
			least++
		}
		most++
	}
	if strings.Contains(c.args, "…") {
		most = -1
	}
	return least, most
}

// findOwnOption finds a flag of the command's own.
func (c *browserCommand) findOwnOption(name string) (browserOption, bool) {
	return findOption(c.options, name)
}

func findOption(options []browserOption, name string) (browserOption, bool) {
	i := slices.IndexFunc(options, func(o browserOption) bool { return o.name == name })
	if i < 0 {
		return browserOption{}, false
	}
	return options[i], true
}
