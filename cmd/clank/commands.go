//go:build !browseronly

package main

import (
	"clank/cancel"

	"github.com/spf13/cobra"
)

const programName = "clank"

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
		{"tokens", "manage the secrets of programs that use the control API or the dashboard", newTokensCommand},
		{"mcp", "offer the browser to MCP clients", newMCPCommand},
		{"sessions", "list sessions; show, replay and script runs; message a running task", newSessionsCommand},
		{"records", "list what happened: tasks, and the audit log", newRecordsCommand},
		{"login", "make a new link that opens the dashboard", newLoginCommand},
		{"share", "make a link that shows the page of a session live", newShareCommand},
		{"watches", "list, add and end watches of pages", newWatchesCommand},
		{"budget", "show what was spent today, and the limits", newBudgetCommand},
		{"config", "show or change settings", newConfigCommand},
		{"setup", "check what clank needs, and report what is missing", newSetupCommand},
		{"doctor", "check keys, models, search, calls, budget and security", newDoctorCommand},
		{"vault", "store logins that clank fills into pages and models never see", newVaultCommand},
		{"backup", "back up clank's data to a file", newBackupCommand},
		{"restore", "restore a backup", newRestoreCommand},
		{"export", "export the data about a person or a server to a file", newExportPersonCommand},
		{"forget", "delete the data about a person or a server", newForgetCommand},
		{completionName, completionShort, newCompletionCommand},
		{"version", "print the version", newVersionCommand},
		{"update", "check for a newer release", newUpdateCommand},
	}
}
