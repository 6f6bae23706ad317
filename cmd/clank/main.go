// Command clank is the program: one command per file, with its flags, output and exit code.
//
// Commands use cobra; [newRootCommand] builds them, [resolveCommandLine] parses a command line, [reportError] prints
// errors and chooses the exit code.
//
// A command that needs a running server finds it through a file in the home directory, which contains its address and
// the secret of this run. Without a server, commands read the database themselves, and browse starts its own browser.
// Data goes to stdout, everything else to stderr. Texts from pages are stripped of terminal escapes before they are
// printed. To keep every start fast, commands have few imports and make one request each, and only the requested
// command is built. Logic that a second front end needs belongs elsewhere; package internal/server does the wiring.
//
// With the build tag browseronly it is the program clank-browser: "clank browser" and its completion alone, from the
// same files. It starts in a third of the time, because nothing else is linked.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"clank/internal/hardening"

	"github.com/spf13/cobra"
)

func main() {
	if err := hardening.DisableCoreDumps(); err != nil {
		fmt.Fprintln(os.Stderr, "warning:", err)
	}
	ctx, hurry := notifySignals()
	e := &commandEnv{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, TTY: openTerminal,
		AbortContext: hurry,
	}
	os.Exit(runCommandLine(ctx, e, commandLineArgs(os.Args[1:])))
}

// notifySignals returns a context that ends at the first interrupt, and one that ends at the second. The third ends
// the process immediately. A terminal that is closed is a first interrupt only, since its shell and the kernel both
// send SIGHUP; after nohup, it is none.
func notifySignals() (ctx, hurry context.Context) {
	ctx, stop := context.WithCancelCause(context.Background())
	hurry, now := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 3)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(ch, syscall.SIGHUP)
	}
	go func() {
		for sig := range ch {
			switch {
			case ctx.Err() == nil:
				stop(errInterrupted)
			case sig == syscall.SIGHUP:
			case hurry.Err() == nil:
				now(errInterrupted)
			default:
				os.Exit(exitStopped)
			}
		}
	}()
	return ctx, hurry
}

// commandBuilder builds one command.
type commandBuilder struct {
	name, short string
	build       func(e *commandEnv) *cobra.Command
}

// newRootCommand builds the commands that args need: the one it begins with, or else all of them, with only a name
// and a short description for those that it does not mention. If args is empty, all are complete.
func newRootCommand(e *commandEnv, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "clank",
		Short: "give a Discord channel, a terminal or a web page its own browser",
		Long: "clank gives a Discord channel, a terminal or a web page its own browser.\n\nState lives in " +
			"~/.clank, or in the directory that CLANK_HOME names.",
		Example: "  clank setup\n  clank serve\n  clank browse 'open the demo shop, type \"lamp\" into Search, " +
			"press Enter, read'\n  clank browser open https://example.com",
		SilenceErrors:    true,
		SilenceUsage:     true,
		TraverseChildren: true, // "browser --url A wait --url B" contains two addresses
	}
	root.SetIn(e.Stdin)
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

// runCommandLine runs a command line, prints errors and returns the exit code.
func runCommandLine(ctx context.Context, e *commandEnv, args []string) int {
	if len(args) == 0 {
		root := newRootCommand(e, []string{"help"})
		root.SetOut(e.Stderr)
		return max(reportError(e, root, false, root.Help()), exitUsage)
	}
	if args[0] == "-version" || args[0] == "--version" {
		args[0] = "version"
	}
	var root, named *cobra.Command // if the value of a flag is wrong, cobra reports another command
	asJSON := asksForJSON(args)
	if strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		root = newRootCommand(e, nil)
		named = root
		unquoteUsage(root)
		root.SetArgs(completionArgs(root, args))
	} else {
		root = newRootCommand(e, args)
		line, err := resolveCommandLine(root, args)
		if err != nil {
			return reportError(e, line.command, asJSON, err)
		}
		named = line.command
		root.SetArgs(append(append(line.words, "--"), line.operands...))
	}
	help := &helpWriter{to: e.Stdout}
	root.SetOut(help)
	err := cmp.Or(root.ExecuteContext(ctx), help.err)
	return reportError(e, named, asJSON, explainInterrupt(ctx, explainFlagError(err)))
}

// helpWriter passes on what cobra prints, and keeps the first error, which cobra ignores.
type helpWriter struct {
	to  io.Writer
	err error
}

func (w *helpWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.err = cmp.Or(w.err, err)
	return n, err
}
