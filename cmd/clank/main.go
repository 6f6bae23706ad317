// Command clank is the program: one command per file, with its flags, its output and its exit code.
//
// Commands are cobra's; [newRootCommand] builds them, [resolveCommandLine] reads a command line, [reportError]
// says what went wrong and chooses the exit code.
//
// A command that needs a running server finds it by a file in the home directory, which holds its address
// and the secret of this run. Without a server, commands read the database themselves, and browse starts a
// browser of its own. Data goes to stdout, everything else to stderr. What pages wrote is stripped of
// terminal escapes before it is printed. A start pays for what is linked and built, so commands keep their
// imports small, make one request each, and only the command that is called is built. Logic that a second
// front end needs belongs elsewhere; package internal/server does the wiring.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"clank/cancel"
	"clank/internal/hardening"

	"github.com/spf13/cobra"
)

func main() {
	if err := hardening.DisableCoreDumps(); err != nil {
		fmt.Fprintln(os.Stderr, "warning:", err)
	}
	ctx, hurry := notifySignals()
	e := &commandEnv{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, TTY: openTerminal, AbortContext: hurry}
	os.Exit(runCommandLine(ctx, e, os.Args[1:]))
}

// notifySignals returns a context that ends at the first interrupt, and one that
// ends at the second. A third ends the program on the spot.
func notifySignals() (ctx, hurry context.Context) {
	ctx, stop := context.WithCancelCause(context.Background())
	hurry, now := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 3)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	var seen atomic.Int32
	go func() {
		for range ch {
			cause := &cancel.Cause{Reason: cancel.ShuttingDown}
			switch seen.Add(1) {
			case 1:
				stop(cause)
			case 2:
				now(cause)
			default:
				os.Exit(exitStopped)
			}
		}
	}()
	return ctx, hurry
}

// commandBuilder builds one command of the program.
type commandBuilder struct {
	name, short string
	build       func(e *commandEnv) *cobra.Command
}

// commandBuilders returns the commands of the program. args are those of newRootCommand.
func commandBuilders(args []string) []commandBuilder {
	return []commandBuilder{
		{"serve", "start the dashboard, the browser service and, with a token, the Discord bot", newServeCommand},
		{"browse", "send the browser to do something and print the answer", newBrowseCommand},
		{"browser", "work a browser by hand: open pages, read them, click and type", func(e *commandEnv) *cobra.Command { return newBrowserCommand(e, args) }},
		{"tokens", "secrets for programs that use the control API or the page", newTokensCommand},
		{"mcp", "offer the browser to programs that speak the Model Context Protocol", newMCPCommand},
		{"sessions", "list sessions, tell a task something, show and replay runs, scripts", newSessionsCommand},
		{"records", "list what happened, for programs and as an audit log", newRecordsCommand},
		{"login", "make a new link that opens the dashboard", newLoginCommand},
		{"share", "make a link to the page of a session, live", newShareCommand},
		{"watches", "list, add or end the pages that are watched", newWatchesCommand},
		{"budget", "show what was spent today, and what may be", newBudgetCommand},
		{"config", "show or change settings", newConfigCommand},
		{"setup", "look at what clank works with, and say what is missing", newSetupCommand},
		{"doctor", "say how keys, runtimes, search and budget stand", newDoctorCommand},
		{"vault", "store logins that clank fills into pages and models never see", newVaultCommand},
		{"backup", "write what clank keeps into one file", newBackupCommand},
		{"restore", "make it anew from such a file", newRestoreCommand},
		{"export", "write what is kept of a person or a server into a file", newExportPersonCommand},
		{"forget", "delete what is kept of a person or a server", newForgetCommand},
		{"completion", "print a script that completes command lines in bash, zsh or fish", newCompletionCommand},
		{"version", "print the version", newVersionCommand},
		{"update", "say whether there is a newer release, and where", newUpdateCommand},
	}
}

// newRootCommand builds the commands that the command line args need: the one it begins with, or else all, of which
// those that it does not name have nothing but a name and a short description. If it is empty, all are complete.
func newRootCommand(e *commandEnv, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:              "clank",
		Long:             "clank gives a Discord channel, a terminal or a web page its own browser.\n\nState lives in ~/.clank, or in the directory that CLANK_HOME names.",
		SilenceErrors:    true,
		SilenceUsage:     true,
		TraverseChildren: true, // "browser --url A wait --url B" names two addresses
	}
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	builders := commandBuilders(args)
	if i := slices.IndexFunc(builders, func(b commandBuilder) bool { return len(args) > 0 && args[0] == b.name }); i >= 0 {
		builders = builders[i : i+1]
	}
	for _, b := range builders {
		c := &cobra.Command{Use: b.name, Run: func(*cobra.Command, []string) {}}
		if len(args) == 0 || slices.Contains(args, b.name) {
			c = b.build(e)
		}
		c.Short = b.short
		root.AddCommand(c)
	}
	return root
}

// runCommandLine carries out a command line, says what went wrong and returns the exit code.
func runCommandLine(ctx context.Context, e *commandEnv, args []string) int {
	if len(args) == 0 {
		root := newRootCommand(e, []string{"help"})
		root.SetOut(e.Stderr)
		return max(reportError(e, root, root.Help()), exitUsage)
	}
	if args[0] == "-version" || args[0] == "--version" {
		args[0] = "version"
	}
	var root *cobra.Command
	if strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		root = newRootCommand(e, nil)
		root.SetArgs(completionArgs(root, args))
	} else {
		root = newRootCommand(e, args)
		line, err := resolveCommandLine(root, args)
		if err != nil {
			return reportError(e, line.command, err)
		}
		root.SetArgs(append(append(line.words, "--"), line.operands...))
	}
	cmd, err := root.ExecuteContextC(ctx)
	return reportError(e, cmd, explainFlagError(err))
}
