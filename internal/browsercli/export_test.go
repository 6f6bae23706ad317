package browsercli

import "strings"

// Names is the names of all commands.
func Names() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// NameOf is the name of the command of a command line.
func NameOf(args []string) string {
	inv, _ := parse(commands(), args)
	return strings.Join(inv.words, " ")
}

// Parsed is what a command line was understood as.
type Parsed struct {
	Name        string
	Args        []string
	Global, Own map[string]string
	Help        bool
}

// Parse reads a command line.
func Parse(args []string) (Parsed, error) {
	inv, err := parse(commands(), args)
	return Parsed{strings.Join(inv.words, " "), inv.args, inv.global, inv.own, inv.help}, err
}

// Conflict names a flag that takes a value for one command and none for another, or "".
func Conflict() string {
	kinds := map[string]bool{}
	for _, c := range append(commands(), command{options: everywhere()}) {
		for _, o := range c.options {
			takes, seen := kinds[o.name]
			if seen && takes != (o.kind != toggle) {
				return o.name
			}
			kinds[o.name] = o.kind != toggle
		}
	}
	return ""
}
