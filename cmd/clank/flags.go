package main

import "clank/internal/cmdline"

func newFlags(name, intro string) *cmdline.Flags { return cmdline.New(name, intro) }

// parse reads args into fs, shows help when asked, and refuses more than
// maxArgs arguments.
func parse(e *env, fs *cmdline.Flags, args []string, maxArgs int) error {
	if e.describe != nil {
		e.describe(fs)
		return cmdline.ErrHelp
	}
	return fs.Read(e.stdout, args, maxArgs)
}

func usageErrorf(format string, args ...any) error { return cmdline.Usagef(format, args...) }
