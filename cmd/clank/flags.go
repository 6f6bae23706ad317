package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// errHelpShown says that help was asked for and given.
var errHelpShown = errors.New("help was shown")

// usageError says that a command was used wrongly.
type usageError struct{ cause error }

func (e *usageError) Error() string { return e.cause.Error() }

// Unwrap returns what was wrong.
func (e *usageError) Unwrap() error { return e.cause }

// usagef makes a [usageError] as [fmt.Errorf] would.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// commandFlags is a [flag.FlagSet] whose flags may stand before, between and after the
// arguments.
type commandFlags struct {
	*flag.FlagSet
	Rest []string // the arguments, once they are parsed

	intro string
}

// newFlags makes the flags of the command with that name. Its help begins with intro.
func newFlags(name, intro string) *commandFlags {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &commandFlags{FlagSet: fs, intro: intro}
}

// Read parses args. It shows help on out when asked, which is [errHelpShown], and
// refuses more than maxArgs arguments; that and wrong flags are a [usageError].
func (fs *commandFlags) Read(out io.Writer, args []string, maxArgs int) error {
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			fs.printHelp(out)
			return errHelpShown
		}
		if err != nil {
			return usagef("%v", err)
		}
		if fs.NArg() == 0 {
			break
		}
		if consumed := len(args) - fs.NArg(); consumed > 0 && args[consumed-1] == "--" {
			fs.Rest = append(fs.Rest, fs.Args()...)
			break
		}
		fs.Rest = append(fs.Rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
	if len(fs.Rest) > maxArgs {
		return usagef("unexpected argument %q", fs.Rest[maxArgs])
	}
	return nil
}

// printHelp prints the introduction and each flag with its default.
func (fs *commandFlags) printHelp(w io.Writer) {
	fmt.Fprintf(w, "Usage: %s\n", fs.intro)
	first := true
	fs.VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprint(w, "\nFlags:\n")
			first = false
		}
		name, usage := flag.UnquoteUsage(f)
		line := "--" + f.Name
		if name != "" {
			line += " " + name
		}
		fmt.Fprintf(w, "  %-20s %s", line, usage)
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			fmt.Fprintf(w, " (default %s)", f.DefValue)
		}
		fmt.Fprintln(w)
	})
}
