package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const browserShort = "control a browser step by step: open pages, read them, click and type"

const browserHelp = `Controls the browser of a running clank server: start one with "clank serve".

The server is the one at --url or CLANK_BROWSER_URL, or else the one that runs with CLANK_HOME
(~/.clank). Its secret is --token or CLANK_BROWSER_TOKEN, or else what that server wrote there.

  clank browser open https://example.com
  clank browser snapshot --interactive
  clank browser click e3
  clank browser screenshot --full-page

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no server, 4 no such tab, profile or ref,
5 refused by a policy or because of a wrong secret, 124 timed out, 130 interrupted`

// browserGroups describes the words that only begin the names of commands.
var browserGroups = map[string]string{
	"trace":           "record a trace for Playwright's viewer",
	"storage":         "local and session storage of a page",
	"storage local":   "the local storage of a page",
	"storage session": "the session storage of a page, which lasts as long as its tab",
	"get":             "read the text, value or an attribute of an element",
	"set":             "emulate a device, place, language, network and more",
	"permissions":     "grant sites the use of location, camera and the like",
}

// browserFlags are the flags of every command of "clank browser".
type browserFlags struct {
	profile, url, token string
	json                bool
	timeout             optionValue
}

// newBrowserCommand builds "clank browser" from the table of its commands: all of them if args is empty. Building
// every command and flag would slow down each start, so commands whose names do not begin with a word of args are
// omitted; if no command matches, they are built without flags.
func newBrowserCommand(e *commandEnv, args []string) *cobra.Command {
	top := newCommand("browser", "", browserHelp, nil)
	g := &browserFlags{timeout: optionValue{kind: kindInteger, name: "ms"}}
	fs := top.PersistentFlags()
	fs.StringVar(&g.profile, "browser-profile", "", "the profile to use instead of the default one, by `name`")
	fs.BoolVar(&g.json, "json", false, "print the server's answer as JSON")
	fs.StringVar(&g.url, "url", "", "`address` of the control server; write it before the name of a command that has its "+
		"own --url")
	fs.StringVar(&g.token, "token", "", "`secret` of the control server")
	fs.Var(&g.timeout, "timeout", "how long to wait for the answer (default: as long as the command may take, at "+
		"least 30000)")
	fs.Bool("expect-final", false, "accepted and ignored: there is one answer")
	fs.Lookup("expect-final").Hidden = true
	sections, names := neededSections(args)
	called := func(b browserCommand) bool { return len(args) == 0 || slices.Contains(names, b.firstWord()) }
	oneCalled := slices.ContainsFunc(sections, func(s builtSection) bool {
		return slices.ContainsFunc(s.commands, called)
	})
	for _, section := range sections {
		top.AddGroup(&cobra.Group{ID: section.title, Title: section.title + ":"})
		for _, b := range section.commands {
			if !called(b) {
				if oneCalled {
					continue
				}
				b.options = nil
			} else if b.addFields != nil {
				b.addFields(&b)
			}
			words := strings.Fields(b.name)
			parent := top
			for i, word := range words[:len(words)-1] {
				next := findChild(parent, word)
				if next == nil {
					next = newCommand(word, browserGroups[strings.Join(words[:i+1], " ")], "", nil)
					addInSection(parent, next, section.title)
				}
				parent = next
			}
			addInSection(parent, b.newCommand(e, g, words[len(words)-1]), section.title)
		}
	}
	return top
}

// builtSection is a section with its commands.
type builtSection struct {
	title    string
	commands []browserCommand
}

// neededSections returns the sections that a command line needs, and the words of it that may begin the name of a
// command. If the word after "browser" does, it is that one alone with its section, and the sections after it are not
// built.
func neededSections(args []string) (sections []builtSection, names []string) {
	for _, section := range browserSections() {
		built := builtSection{section.title, section.commands()}
		if len(args) > 1 && slices.ContainsFunc(built.commands, func(b browserCommand) bool {
			return b.firstWord() == args[1]
		}) {
			return []builtSection{built}, args[1:2]
		}
		sections = append(sections, built)
	}
	return sections, args
}

// firstWord returns what the name of the command begins with.
func (b browserCommand) firstWord() string {
	first, _, _ := strings.Cut(b.name, " ")
	return first
}

// addInSection adds a subcommand. The help groups those of the first level in sections.
func addInSection(parent, c *cobra.Command, section string) {
	if parent.ContainsGroup(section) {
		c.GroupID = section
	}
	parent.AddCommand(c)
}

// newCommand returns the command whose name ends with name.
func (b browserCommand) newCommand(e *commandEnv, g *browserFlags, name string) *cobra.Command {
	c := newCommand(strings.TrimSpace(name+" "+b.args), b.short, "", nil)
	c.ValidArgs = b.choices
	if len(b.examples) > 0 {
		c.Example = "  clank browser " + strings.Join(b.examples, "\n  clank browser ")
	}
	for _, o := range b.options {
		flag := c.Flags().VarPF(&optionValue{kind: o.kind, name: o.value, choices: o.choices, strict: o.strict}, o.name, "",
			o.help)
		switch {
		case o.kind == kindToggle:
			flag.NoOptDefVal = "true"
		case o.kind == kindFile:
			completeFiles(c, o.name)
		case len(o.choices) > 0:
			completeChoices(c, o.name, o.choices...)
		}
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return (&browserRun{env: e, flags: g, command: &b, printer: newOutputPrinter(e.Stdout, e.Stderr)}).run(c.Context(),
			c.Flags(), args)
	}
	return c
}
