package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// newCompletionCommand prints cobra's scripts, which ask this program what can follow.
func newCompletionCommand(e *commandEnv) *cobra.Command {
	var c *cobra.Command
	c = newCommand("completion <shell>", "",
		"Prints a script that completes command lines in bash, zsh or fish.\n\n  source <(clank completion bash)", func(_ context.Context, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(e.Stdout, true)
			case "zsh":
				return c.Root().GenZshCompletion(e.Stdout)
			case "fish":
				return c.Root().GenFishCompletion(e.Stdout, true)
			}
			return usagef("there is no completion for %q; there is one for %s", args[0], strings.Join(c.ValidArgs, ", "))
		})
	c.ValidArgs = []string{"bash", "zsh", "fish"}
	return c
}

// completionArgs has cobra complete the last of args in a command line as it reads it.
func completionArgs(root *cobra.Command, args []string) []string {
	if len(args) < 2 || args[1] == "help" {
		return args
	}
	typed, last := args[1:len(args)-1], args[len(args)-1:]
	line, err := resolveCommandLine(root, typed)
	if n := len(typed) - 1; err != nil && n >= 0 && isFlag(typed[n]) { // last is to be its value
		line, _ = resolveCommandLine(root, typed[:n])
		last = args[n+1:]
	}
	return slices.Concat(args[:1], line.words, line.operands, last)
}

// completeChoices completes the values of a flag.
func completeChoices(c *cobra.Command, flag string, choices ...string) {
	completeFlag(c, flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// completeFiles completes the value of a flag, or the arguments if flag is "", with the names of files.
func completeFiles(c *cobra.Command, flag string) {
	files := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	if flag == "" {
		c.ValidArgsFunction = files
		return
	}
	completeFlag(c, flag, files)
}

func completeFlag(c *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag is not one of c's
	}
}
