//go:build browseronly

package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
)

// commandLineArgs returns the equivalent command line of clank.
func commandLineArgs(args []string) []string { return append([]string{"browser"}, args...) }

// openTerminal is nil, because no command asks anything.
var openTerminal func() (io.ReadCloser, error)

// errInterrupted is the cause with which a command ends that a person interrupted. Package cancel, which folds the case
// of stop phrases, would cost each start the tables of golang.org/x/text.
var errInterrupted = errors.New("interrupted")

// commandBuilders returns the builder of the only command. args are those of newRootCommand.
func commandBuilders(args []string) []commandBuilder {
	return []commandBuilder{
		{"browser", browserShort, func(e *commandEnv) *cobra.Command { return newBrowserCommand(e, args) }},
	}
}
