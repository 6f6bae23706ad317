// Command clank gives a Discord channel, a terminal or a web page its own
// browser. This package only wires: it reads flags and the environment, builds
// the parts, and connects them.
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
	"clank/internal/budgetcli"
	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/terminal"
	"clank/internal/watchcli"
)

// version is set at build time.
var version = "dev"

// verb is one command of the program.
type verb struct {
	name  string
	args  string // shape of the arguments, for the overview
	short string
	run   func(ctx context.Context, e *command.Env, args []string) error
}

func commands() []verb {
	return []verb{
		{"serve", "[flags]", "start the dashboard, the browser's keeper and, with a token, the Discord bot", serve},
		{"browse", `[flags] "<task>"`, "send the browser to do something and print the answer", browse},
		{"browser", "<command>", "work a browser by hand: open pages, read them, click and type", workBrowser},
		{"tokens", "<command>", "secrets for programs that use the control API or the page", manageTokens},
		{"mcp", "[flags]", "offer the browser to programs that speak the Model Context Protocol", serveMCP},
		{"sessions", "[command]", "list sessions, tell a task something, show and replay runs, scripts", workSessions},
		{"watches", "[command]", "list, add or end the pages that are watched", watchcli.Run},
		{"budget", "[flags]", "show what was spent today, and what may be", budgetcli.Run},
		{"config", "[command]", "show or change settings", workConfig},
		{"doctor", "[flags]", "say how keys, runtimes, search and budget stand", examine},
		{"vault", "<command>", "keep logins that pages get and models do not", workVault},
		{"completion", "<shell>", "print a script that completes command lines in bash, zsh or fish", printCompletion},
		{"version", "", "print the version", printVersion},
	}
}

func main() {
	ctx, hurry := watchSignals()
	e := &command.Env{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, TTY: terminal.Open, Hurry: hurry}
	os.Exit(run(ctx, e, os.Args[1:]))
}

// watchSignals returns a context that ends at the first interrupt, and one that
// ends at the second. A third ends the program on the spot.
func watchSignals() (ctx, hurry context.Context) {
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
				os.Exit(command.ExitStopped)
			}
		}
	}()
	return ctx, hurry
}

// run finds the command, runs it, says what went wrong and returns the exit code.
func run(ctx context.Context, e *command.Env, args []string) int {
	if len(args) == 0 {
		overview(e.Stderr)
		return command.ExitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		overview(e.Stdout)
		return command.ExitDone
	case "-version", "--version":
		args[0] = "version"
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return report(e, c, c.run(ctx, e, args[1:]))
		}
	}
	fmt.Fprintf(e.Stderr, "clank: there is no command %q; \"clank help\" lists them\n", args[0])
	return command.ExitUsage
}

// report turns the end of a command into words and an exit code.
func report(e *command.Env, c verb, err error) int {
	var exit *command.ExitError
	var usage *cmdline.UsageError
	switch {
	case err == nil, errors.Is(err, cmdline.ErrHelp):
		return command.ExitDone
	case errors.As(err, &usage):
		fmt.Fprintf(e.Stderr, "clank %s: %v\nsee \"clank %s --help\"\n", c.name, err, c.name)
		return command.ExitUsage
	case !errors.As(err, &exit):
		fmt.Fprintf(e.Stderr, "clank %s: %v\n", c.name, err)
		return command.ExitFailed
	}
	if exit.Err != nil {
		fmt.Fprintf(e.Stderr, "clank %s: %v\n", c.name, exit.Err)
	}
	return exit.Code
}

func overview(w io.Writer) {
	fmt.Fprint(w, "clank gives a Discord channel, a terminal or a web page its own browser.\n\nUsage: clank <command> [arguments]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\n\"clank <command> --help\" says more. State lives in ~/.clank, or in the directory that CLANK_HOME names.\n")
}

func printVersion(_ context.Context, e *command.Env, args []string) error {
	if err := e.Parse(cmdline.New("version", "clank version"), args, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.Stdout, "clank", version)
	return err
}
