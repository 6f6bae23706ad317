package browsercli

import (
	"slices"
	"strings"

	"clank/internal/browsercli/show"
)

// kind says what a flag takes.
type kind int

const (
	toggle  kind = iota // nothing; it is on when given
	text                // any text
	integer             // digits
	decimal             // a number
	list                // texts with commas between them
	file                // the path of a file
)

// option is one flag.
type option struct {
	name    string
	kind    kind
	value   string // what stands for the value in the help
	help    string
	field   string   // name in the request; "" if the command puts it there itself
	choices []string // the values that make sense
	strict  bool     // others are wrong use; without it the server decides, which may know more
}

// command is one verb, of one or more words.
type command struct {
	name     string
	args     string // <needed> [optional] and … after the last if it may be repeated
	short    string
	options  []option
	examples []string
	choices  []string // the values of the first argument that make sense

	build func(in *input) (request, error)                              // fails for wrong use only
	judge func(in *input, answer []byte) error                          // what failed though the server answered well; may be nil
	show  func(p *show.Printer, in *input, answer []byte) error         // prints for people; nil prints nothing
	trim  func(answer []byte) any                                       // what --json prints, if not the answer
	save  func(answer []byte) (content []byte, big []string)            // content for --out, and the fields it takes out of the answer
	lost  func(p *show.Printer, asJSON bool, address string, err error) // stands in for the error message; may be nil

	partial bool // the answer is worth showing also when it tells of a failure
	capture bool // makes a picture or text of a page: says with --json whether it did
}

// section is a part of the overview.
type section struct {
	title    string
	commands []command
}

// sections is the table of all commands.
func sections() []section {
	return []section{
		{"Browser and profiles", slices.Concat(manageCommands(), profileCommands())},
		{"Tabs", tabCommands()},
		{"Reading pages", lookCommands()},
		{"Acting", slices.Concat(actCommands(), waitCommands())},
		{"Files and dialogs", fileCommands()},
		{"Watching", watchCommands()},
		{"State", slices.Concat(cookieCommands(), setCommands())},
	}
}

// commands is the table as one list.
func commands() []command {
	var all []command
	for _, s := range sections() {
		all = append(all, s.commands...)
	}
	return all
}

// everywhere is the flags that every command takes, before or after its name.
func everywhere() []option {
	return []option{
		{name: "browser-profile", kind: text, value: "name", help: "the profile to use instead of the default one"},
		{name: "json", help: "print the server's answer as JSON"},
		{name: "url", kind: text, value: "address", help: "the control server"},
		{name: "token", kind: text, value: "secret", help: "what opens the control server"},
		{name: "timeout", kind: integer, value: "ms", help: "how long to wait for the answer (as long as the command may take, at least 30000)"},
		{name: "expect-final", help: "accepted and ignored: there is one answer"},
	}
}

var (
	onTab = option{name: "target-id", kind: text, value: "tab", help: "the tab: its id, t1, a label or the start of an id (the last used one)", field: "targetId"}
	limit = option{name: "timeout-ms", kind: integer, value: "ms", help: "how long the browser may take for it", field: "timeoutMs"}
)

// arity reads args: how many are needed, and how many there may be (-1 is any number).
func (c *command) arity() (least, most int) {
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

// option finds a flag of the command's own.
func (c *command) option(name string) (option, bool) { return lookup(c.options, name) }

func lookup(options []option, name string) (option, bool) {
	i := slices.IndexFunc(options, func(o option) bool { return o.name == name })
	if i < 0 {
		return option{}, false
	}
	return options[i], true
}
