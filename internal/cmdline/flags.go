package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// errHelp says that help was asked for and given.
var errHelp = errors.New("help was shown")

// flagSet is a flag.FlagSet whose flags may stand before, between and after the
// arguments.
type flagSet struct {
	*flag.FlagSet
	intro string
	rest  []string // the arguments
}

func newFlags(name, intro string) *flagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return &flagSet{FlagSet: fs, intro: intro}
}

// parse reads args into fs, shows help when asked, and refuses more than
// maxArgs arguments.
func parse(e *env, fs *flagSet, args []string, maxArgs int) error {
	for {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			fs.help(e.stdout)
			return errHelp
		}
		if err != nil {
			return usageErrorf("%v", err)
		}
		if fs.NArg() == 0 {
			break
		}
		if consumed := len(args) - fs.NArg(); consumed > 0 && args[consumed-1] == "--" {
			fs.rest = append(fs.rest, fs.Args()...)
			break
		}
		fs.rest = append(fs.rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
	if len(fs.rest) > maxArgs {
		return usageErrorf("unexpected argument %q", fs.rest[maxArgs])
	}
	return nil
}

// help prints the introduction and each flag with its default.
func (fs *flagSet) help(w io.Writer) {
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
