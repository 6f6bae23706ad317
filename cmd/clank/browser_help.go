package main

import (
	"fmt"
	"io"
	"strings"
)

const browserIntro = `Works a browser that a clank server keeps: start one with "clank serve".

Usage: clank browser <command> [arguments] [flags]
`

const browserEnvironmentHelp = `  CLANK_BROWSER_URL      the control server, where --url is not given
  CLANK_BROWSER_TOKEN    what opens it, where --token is not given
  CLANK_HOME             where a running server is found otherwise (~/.clank)`

const browserExamplesHelp = `  clank browser open https://example.com
  clank browser snapshot --interactive
  clank browser click e3
  clank browser screenshot --full-page`

// printBrowserHelp describes the command with this name, or all whose names begin with it.
func printBrowserHelp(w io.Writer, name []string) error {
	var b strings.Builder
	all := browserCommands()
	wanted := strings.Join(name, " ")
	for i := range all {
		if all[i].name == wanted {
			writeCommandHelp(&b, &all[i])
			for _, c := range all {
				if strings.HasPrefix(c.name, wanted+" ") {
					fmt.Fprintf(&b, "\nclank browser %s: %s\n", commandSynopsis(&c), c.short)
				}
			}
			_, err := io.WriteString(w, b.String())
			return err
		}
	}
	if wanted == "" {
		writeBrowserOverview(&b)
	} else {
		fmt.Fprintf(&b, "Usage: clank browser %s <command>\n\n", wanted)
		for _, c := range all {
			if strings.HasPrefix(c.name, wanted+" ") {
				writeHelpLine(&b, commandSynopsis(&c), c.short)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeBrowserOverview(b *strings.Builder) {
	b.WriteString(browserIntro)
	for _, s := range browserSections() {
		fmt.Fprintf(b, "\n%s:\n", s.title)
		for _, c := range s.commands {
			writeHelpLine(b, commandSynopsis(&c), c.short)
		}
	}
	b.WriteString("\nFlags of every command, before or after its name:\n")
	writeOptions(b, globalOptions())
	fmt.Fprintf(b, "\nEnvironment:\n%s\n\nExit codes:\n%s\n\nExamples:\n%s\n", browserEnvironmentHelp, browserExitCodesHelp, browserExamplesHelp)
	b.WriteString("\n\"clank browser <command> --help\" says more.\n")
}

func writeCommandHelp(b *strings.Builder, c *browserCommand) {
	fmt.Fprintf(b, "Usage: clank browser %s", commandSynopsis(c))
	if len(c.options) > 0 {
		b.WriteString(" [flags]")
	}
	fmt.Fprintf(b, "\n\n%s.\n", strings.ToUpper(c.short[:1])+c.short[1:])
	if len(c.choices) > 0 {
		fmt.Fprintf(b, "One of: %s.\n", strings.Join(c.choices, ", "))
	}
	if len(c.options) > 0 {
		b.WriteString("\nFlags:\n")
		writeOptions(b, c.options)
	}
	b.WriteString("\nAlso --browser-profile, --json, --url, --token and --timeout: see \"clank browser --help\".\n")
	if _, shadowed := c.findOwnOption("url"); shadowed {
		b.WriteString("Here --url is the command's own; the server's address goes before its name: clank browser --url … " + c.name + "\n")
	}
	if len(c.examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, example := range c.examples {
			fmt.Fprintf(b, "  clank browser %s\n", example)
		}
	}
}

func commandSynopsis(c *browserCommand) string { return strings.TrimSpace(c.name + " " + c.args) }

func writeOptions(b *strings.Builder, options []browserOption) {
	for _, o := range options {
		name := "--" + o.name
		if o.value != "" {
			name += " " + o.value
		}
		writeHelpLine(b, name, o.help)
	}
}

func writeHelpLine(b *strings.Builder, left, right string) {
	fmt.Fprintf(b, "  %-34s %s\n", left, right)
}
