//go:build browseronly

package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const programName = "clank-browser"

// commandLineArgs returns the equivalent command line of clank.
func commandLineArgs(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == completionName:
		return args
	case len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd):
		return append([]string{args[0], "browser"}, args[1:]...)
	}
	return append([]string{"browser"}, args...)
}

// openTerminal is nil, because no command asks anything.
var openTerminal func() (io.ReadCloser, error)

// errInterrupted is the cause with which a command ends that a person interrupted. Package cancel, which folds the case
// of stop phrases, would cost each start the tables of golang.org/x/text.
var errInterrupted = errors.New("interrupted")

// commandBuilders returns the builders of the only commands. args are those of newRootCommand.
func commandBuilders(args []string) []commandBuilder {
	return []commandBuilder{
		{"browser", browserShort, func(e *commandEnv) *cobra.Command { return newBrowserCommand(e, args) }},
		{completionName, completionShort, newCompletionCommand},
	}
}
