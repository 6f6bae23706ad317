// Command clank is the program: one command per file, with its flags, its output and its exit code.
//
// A command that needs a running server finds it by a file in the home directory, which holds its address
// and the secret of this run. Without a server, commands read the database themselves, and browse starts a
// browser of its own. Data goes to stdout, everything else to stderr. What pages wrote is stripped of
// terminal escapes before it is printed. A start pays for what is linked, so commands keep their imports
// small and make one request each. Logic that a second front end needs belongs elsewhere; package
// internal/server does the wiring.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"clank/cancel"
)

// version is set at build time.
var version = "dev"

// topCommand is one command of the program.
type topCommand struct {
	name  string
	args  string // shape of the arguments, for the overview
	short string
	run   func(ctx context.Context, e *commandEnv, args []string) error
}

func topCommands() []topCommand {
	return []topCommand{
		{"serve", "[flags]", "start the dashboard, the browser's keeper and, with a token, the Discord bot", serveVerb},
		{"browse", `[flags] "<task>"`, "send the browser to do something and print the answer", browseVerb},
		{"browser", "<command>", "work a browser by hand: open pages, read them, click and type", browserVerb},
		{"tokens", "<command>", "secrets for programs that use the control API or the page", tokensVerb},
		{"mcp", "[flags]", "offer the browser to programs that speak the Model Context Protocol", mcpVerb},
		{"sessions", "[command]", "list sessions, tell a task something, show and replay runs, scripts", sessionsVerb},
		{"watches", "[command]", "list, add or end the pages that are watched", watchesVerb},
		{"budget", "[flags]", "show what was spent today, and what may be", budgetVerb},
		{"config", "[command]", "show or change settings", configVerb},
		{"doctor", "[flags]", "say how keys, runtimes, search and budget stand", doctorVerb},
		{"vault", "<command>", "keep logins that pages get and models do not", vaultVerb},
		{"completion", "<shell>", "print a script that completes command lines in bash, zsh or fish", completionVerb},
		{"version", "", "print the version", versionVerb},
	}
}

func main() {
	ctx, hurry := notifySignals()
	e := &commandEnv{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, TTY: openTerminal, AbortContext: hurry}
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

// runCommandLine finds the command, runs it, says what went wrong and returns the exit code.
func runCommandLine(ctx context.Context, e *commandEnv, args []string) int {
	if len(args) == 0 {
		printOverview(e.Stderr)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		printOverview(e.Stdout)
		return exitDone
	case "-version", "--version":
		args[0] = "version"
	}
	for _, c := range topCommands() {
		if c.name == args[0] {
			return reportOutcome(e, c, c.run(ctx, e, args[1:]))
		}
	}
	fmt.Fprintf(e.Stderr, "clank: there is no command %q; \"clank help\" lists them\n", args[0])
	return exitUsage
}

// reportOutcome turns the end of a command into words and an exit code.
func reportOutcome(e *commandEnv, c topCommand, err error) int {
	var exit *exitError
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, errHelpShown):
		return exitDone
	case errors.As(err, &usage):
		fmt.Fprintf(e.Stderr, "clank %s: %v\nsee \"clank %s --help\"\n", c.name, err, c.name)
		return exitUsage
	case !errors.As(err, &exit):
		fmt.Fprintf(e.Stderr, "clank %s: %v\n", c.name, err)
		return exitFailed
	}
	if exit.Err != nil {
		fmt.Fprintf(e.Stderr, "clank %s: %v\n", c.name, exit.Err)
	}
	return exit.Code
}

func printOverview(w io.Writer) {
	fmt.Fprint(w, "clank gives a Discord channel, a terminal or a web page its own browser.\n\nUsage: clank <command> [arguments]\n\n")
	for _, c := range topCommands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\n\"clank <command> --help\" says more. State lives in ~/.clank, or in the directory that CLANK_HOME names.\n")
}

func versionVerb(_ context.Context, e *commandEnv, args []string) error {
	if err := e.parseFlags(newFlags("version", "clank version"), args, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.Stdout, "clank", version)
	return err
}
