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
	"clank/internal/cmdline"
	"clank/internal/terminal"
)

// version is set at build time.
var version = "dev"

// Exit codes. A shell expects 130 after an interrupt.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitLimited = 3
	exitStopped = 130
)

// env is the world as a command sees it.
type env struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	tty            func() (io.ReadCloser, error) // for answers to questions; nil: nobody is there
	describe       func(*cmdline.Flags)          // set: a command only tells its flags
	hurry          context.Context               //nolint:containedctx // ends when the person insists on leaving at once; it is a signal, not a call's context
}

// command is one verb of the program.
type command struct {
	name  string
	args  string // shape of the arguments, for the overview
	short string
	run   func(ctx context.Context, e *env, args []string) error
}

func commands() []command {
	return []command{
		{"serve", "[flags]", "start the dashboard, the browser's keeper and, with a token, the Discord bot", serve},
		{"browse", `[flags] "<task>"`, "send the browser to do something and print the answer", browse},
		{"browser", "<command>", "work a browser by hand: open pages, read them, click and type", workBrowser},
		{"tokens", "<command>", "secrets for programs that use the control API or the page", manageTokens},
		{"mcp", "[flags]", "offer the browser to programs that speak the Model Context Protocol", serveMCP},
		{"sessions", "[command]", "list sessions, tell a task something, show and replay runs, scripts", listSessions},
		{"watches", "[command]", "list, add or end the pages that are watched", workWatches},
		{"budget", "[flags]", "show what was spent today, and what may be", showBudget},
		{"config", "[command]", "show or change settings", workConfig},
		{"doctor", "[flags]", "say how keys, runtimes, search and budget stand", examine},
		{"vault", "<command>", "keep logins that pages get and models do not", workVault},
		{"completion", "<shell>", "print a script that completes command lines in bash, zsh or fish", printCompletion},
		{"version", "", "print the version", printVersion},
	}
}

// exitError ends the program with code. What there was to say has been said if
// err is nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, hurry := watchSignals()
	e := &env{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, tty: terminal.Open, hurry: hurry}
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
				os.Exit(exitStopped)
			}
		}
	}()
	return ctx, hurry
}

// run finds the command, runs it, says what went wrong and returns the exit code.
func run(ctx context.Context, e *env, args []string) int {
	if len(args) == 0 {
		overview(e.stderr)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		overview(e.stdout)
		return exitDone
	case "-version", "--version":
		args[0] = "version"
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return report(e, c, c.run(ctx, e, args[1:]))
		}
	}
	fmt.Fprintf(e.stderr, "clank: there is no command %q; \"clank help\" lists them\n", args[0])
	return exitUsage
}

// report turns the end of a command into words and an exit code.
func report(e *env, c command, err error) int {
	var exit *exitError
	var usage *cmdline.UsageError
	switch {
	case err == nil, errors.Is(err, cmdline.ErrHelp):
		return exitDone
	case errors.As(err, &usage):
		fmt.Fprintf(e.stderr, "clank %s: %v\nsee \"clank %s --help\"\n", c.name, err, c.name)
		return exitUsage
	case !errors.As(err, &exit):
		fmt.Fprintf(e.stderr, "clank %s: %v\n", c.name, err)
		return exitFailed
	}
	if exit.err != nil {
		fmt.Fprintf(e.stderr, "clank %s: %v\n", c.name, exit.err)
	}
	return exit.code
}

func overview(w io.Writer) {
	fmt.Fprint(w, "clank gives a Discord channel, a terminal or a web page its own browser.\n\nUsage: clank <command> [arguments]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\n\"clank <command> --help\" says more. State lives in ~/.clank, or in the directory that CLANK_HOME names.\n")
}

func printVersion(_ context.Context, e *env, args []string) error {
	if err := parse(e, newFlags("version", "clank version"), args, 0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.stdout, "clank", version)
	return err
}
