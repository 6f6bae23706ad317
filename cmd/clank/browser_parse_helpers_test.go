package main

import "strings"

// browserCommandNames is the names of all commands.
func browserCommandNames() []string {
	var names []string
	for _, c := range browserCommands() {
		names = append(names, c.name)
	}
	return names
}

// commandNameOf is the name of the command of a command line.
func commandNameOf(args []string) string {
	inv, _ := parseBrowserArgs(browserCommands(), args)
	return strings.Join(inv.words, " ")
}

// parsedArgs is what a command line was understood as.
type parsedArgs struct {
	Name        string
	Args        []string
	Global, Own map[string]string
	Help        bool
}

// parseForTest reads a command line.
func parseForTest(args []string) (parsedArgs, error) {
	inv, err := parseBrowserArgs(browserCommands(), args)
	return parsedArgs{strings.Join(inv.words, " "), inv.args, inv.global, inv.own, inv.help}, err
}

// conflictingFlag names a flag that takes a value for one command and none for another, or "".
func conflictingFlag() string {
	kinds := map[string]bool{}
	for _, c := range append(browserCommands(), browserCommand{options: globalOptions()}) {
		for _, o := range c.options {
			takes, seen := kinds[o.name]
			if seen && takes != (o.kind != kindToggle) {
				return o.name
			}
			kinds[o.name] = o.kind != kindToggle
		}
	}
	return ""
}
