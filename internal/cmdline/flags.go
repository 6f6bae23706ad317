// Package cmdline reads the arguments of a command of clank: flags that may stand anywhere, its help, words that were meant, files, and
// the difference between wrong use and failure. The flags and the help of "clank browser" it leaves to the one table there.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// ErrHelp says that help was asked for and given.
var ErrHelp = errors.New("help was shown")

// UsageError says that a command was used wrongly.
type UsageError struct{ reason error }

func (e *UsageError) Error() string { return e.reason.Error() }

// Unwrap returns what was wrong.
func (e *UsageError) Unwrap() error { return e.reason }

// Usagef makes a [UsageError] as [fmt.Errorf] would.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// Flags is a [flag.FlagSet] whose flags may stand before, between and after the
// arguments.
type Flags struct {
	*flag.FlagSet
	Rest []string // the arguments, once they are parsed

	intro string
}

// New makes the flags of the command with that name. Its help begins with intro.
func New(name, intro string) *Flags {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &Flags{FlagSet: fs, intro: intro}
}

// Read parses args. It shows help on out when asked, which is [ErrHelp], and
// refuses more than maxArgs arguments; that and wrong flags are a [UsageError].
func (fs *Flags) Read(out io.Writer, args []string, maxArgs int) error {
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			fs.help(out)
			return ErrHelp
		}
		if err != nil {
			return Usagef("%v", err)
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
		return Usagef("unexpected argument %q", fs.Rest[maxArgs])
	}
	return nil
}

// help prints the introduction and each flag with its default.
func (fs *Flags) help(w io.Writer) {
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
