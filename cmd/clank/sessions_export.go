package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"clank/internal/recording"
	"clank/internal/server"
)

const exportIntro = `clank sessions export [flags] <id> [file]

Writes a run as one zip: what was asked and answered, the steps, the pages and the
pictures, without passwords and keys. What pages showed and people asked is in it.
Without a file it is run-<id>.zip here; - is the standard output.`

func (c sessionsCommand) exportVerb(_ context.Context, args []string) (err error) {
	e := c.Env
	flags := newFlags("sessions export", exportIntro)
	if err := e.parseFlags(flags, args, 2); err != nil {
		return err
	}
	if len(flags.Rest) == 0 {
		return usagef("say which run: its id")
	}
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return err
	}
	found, err := findRuns(h, flags.Rest[0])
	if err != nil {
		return err
	}
	dir := found[len(found)-1]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is exported already", dir)
	}
	name := "run-" + filepath.Base(dir) + ".zip"
	if len(flags.Rest) == 2 {
		name = flags.Rest[1]
	}
	if name == "-" {
		return recording.ExportRun(e.Stdout, dir)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("export the run: %w", err)
	}
	if err := errors.Join(recording.ExportRun(f, dir), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Fprintln(e.Stderr, "written to", name)
	return nil
}
