//go:build !browseronly

package main

import (
	"clank/cancel"

	"github.com/spf13/cobra"
)

// commandLineArgs returns the command line of the program.
func commandLineArgs(args []string) []string { return args }

// errInterrupted is the cause with which a command ends that a person interrupted.
var errInterrupted error = &cancel.Cause{Reason: cancel.ShuttingDown}

// commandBuilders returns the builders of all commands. args are those of newRootCommand.
func commandBuilders(args []string) []commandBuilder {
	return []commandBuilder{
		{"serve", "start the dashboard, the browser service and, with a token, the Discord bot", newServeCommand},
		{"browse", "do a task in the browser and print the answer", newBrowseCommand},
		{"browser", browserShort, func(e *commandEnv) *cobra.Command { return newBrowserCommand(e, args) }},
		{"tokens", "secrets for programs that use the control API or the page", newTokensCommand},
		{"mcp", "offer the browser to programs that speak the Model Context Protocol", newMCPCommand},
		{"sessions", "list sessions, tell a task something, show and replay runs, scripts", newSessionsCommand},
		{"records", "list what happened, for programs and as an audit log", newRecordsCommand},
		{"login", "make a new link that opens the dashboard", newLoginCommand},
		{"share", "make a link to the page of a session, live", newShareCommand},
		{"watches", "list, add or end the pages that are watched", newWatchesCommand},
		{"budget", "show what was spent today, and what may be", newBudgetCommand},
		{"config", "show or change settings", newConfigCommand},
		{"setup", "check what clank needs, and say what is missing", newSetupCommand},
		{"doctor", "check keys, models, search, calls and budget", newDoctorCommand},
		{"vault", "store logins that clank fills into pages and models never see", newVaultCommand},
		{"backup", "write what clank keeps into one file", newBackupCommand},
		{"restore", "put back what a file of clank backup holds", newRestoreCommand},
		{"export", "write what is kept of a person or a server into a file", newExportPersonCommand},
		{"forget", "delete what is kept of a person or a server", newForgetCommand},
		{"completion", "print a script that completes command lines in bash, zsh or fish", newCompletionCommand},
		{"version", "print the version", newVersionCommand},
		{"update", "say whether there is a newer release, and where", newUpdateCommand},
	}
}
