//go:build browseronly

package main

import (
	"io"

	"github.com/spf13/cobra"
)

// commandLineArgs returns the equivalent command line of clank.
func commandLineArgs(args []string) []string { return append([]string{"browser"}, args...) }

// openTerminal is nil, because no command asks anything.
var openTerminal func() (io.ReadCloser, error)

// commandBuilders returns the builder of the only command. args are those of newRootCommand.
func commandBuilders(args []string) []commandBuilder {
	return []commandBuilder{
		{"browser", browserShort, func(e *commandEnv) *cobra.Command { return newBrowserCommand(e, args) }},
	}
}
