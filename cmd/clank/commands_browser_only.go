//go:build browseronly

package main

import (
	"io"

	"github.com/spf13/cobra"
)

// commandLineArgs returns the command line of clank that stands for one of clank-browser.
func commandLineArgs(args []string) []string { return append([]string{"browser"}, args...) }

// openTerminal is nil, as no command asks anything.
var openTerminal func() (io.ReadCloser, error)

// commandBuilders returns the one command of the program. args are those of newRootCommand.
func commandBuilders(args []string) []commandBuilder {
	return []commandBuilder{
		{"browser", browserShort, func(e *commandEnv) *cobra.Command { return newBrowserCommand(e, args) }},
	}
}
