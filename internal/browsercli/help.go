package browsercli

import (
	"fmt"
	"io"
	"strings"
)

const intro = `Works a browser that a clank server keeps: start one with "clank serve".

Usage: clank browser <command> [arguments] [flags]
`

const environment = `  CLANK_BROWSER_URL      the control server, where --url is not given
  CLANK_BROWSER_TOKEN    what opens it, where --token is not given
  CLANK_HOME             where a running server is found otherwise (~/.clank)`

const examples = `  clank browser open https://example.com
  clank browser snapshot --interactive
  clank browser click e3
  clank browser screenshot --full-page`

// help describes the command with this name, or all whose names begin with it.
func help(w io.Writer, name []string) error {
	var b strings.Builder
	all := commands()
	wanted := strings.Join(name, " ")
	for i := range all {
		if all[i].name == wanted {
			describe(&b, &all[i])
			for _, c := range all {
				if strings.HasPrefix(c.name, wanted+" ") {
					fmt.Fprintf(&b, "\nclank browser %s: %s\n", synopsis(&c), c.short)
				}
			}
			_, err := io.WriteString(w, b.String())
			return err
		}
	}
	if wanted == "" {
		overview(&b)
	} else {
		fmt.Fprintf(&b, "Usage: clank browser %s <command>\n\n", wanted)
		for _, c := range all {
			if strings.HasPrefix(c.name, wanted+" ") {
				line(&b, synopsis(&c), c.short)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func overview(b *strings.Builder) {
	b.WriteString(intro)
	for _, s := range sections() {
		fmt.Fprintf(b, "\n%s:\n", s.title)
		for _, c := range s.commands {
			line(b, synopsis(&c), c.short)
		}
	}
	b.WriteString("\nFlags of every command, before or after its name:\n")
	optionLines(b, everywhere())
	fmt.Fprintf(b, "\nEnvironment:\n%s\n\nExit codes:\n%s\n\nExamples:\n%s\n", environment, exitCodes, examples)
	b.WriteString("\n\"clank browser <command> --help\" says more.\n")
}

func describe(b *strings.Builder, c *command) {
	fmt.Fprintf(b, "Usage: clank browser %s", synopsis(c))
	if len(c.options) > 0 {
		b.WriteString(" [flags]")
	}
	fmt.Fprintf(b, "\n\n%s.\n", strings.ToUpper(c.short[:1])+c.short[1:])
	if len(c.choices) > 0 {
		fmt.Fprintf(b, "One of: %s.\n", strings.Join(c.choices, ", "))
	}
	if len(c.options) > 0 {
		b.WriteString("\nFlags:\n")
		optionLines(b, c.options)
	}
	b.WriteString("\nAlso --browser-profile, --json, --url, --token and --timeout: see \"clank browser --help\".\n")
	if _, shadowed := c.option("url"); shadowed {
		b.WriteString("Here --url is the command's own; the server's address goes before its name: clank browser --url … " + c.name + "\n")
	}
	if len(c.examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, example := range c.examples {
			fmt.Fprintf(b, "  clank browser %s\n", example)
		}
	}
}

func synopsis(c *command) string { return strings.TrimSpace(c.name + " " + c.args) }

func optionLines(b *strings.Builder, options []option) {
	for _, o := range options {
		name := "--" + o.name
		if o.value != "" {
			name += " " + o.value
		}
		line(b, name, o.help)
	}
}

func line(b *strings.Builder, left, right string) { fmt.Fprintf(b, "  %-34s %s\n", left, right) }
