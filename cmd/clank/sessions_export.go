package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"clank/internal/recording"
	"clank/internal/server"

	"github.com/spf13/cobra"
)

const exportHelp = `Writes a run as one zip: what was asked and answered, the steps, the pages and the
pictures, without passwords and keys. What pages showed and people asked is in it.
Without a file it is run-<id>.zip here; - is the standard output.`

func newExportCommand(e *commandEnv) *cobra.Command {
	c := newCommand("export <id> [file]", "write a run with its pictures as one zip", exportHelp, func(_ context.Context, args []string) error {
		h, err := server.OpenHome(e.Getenv)
		if err != nil {
			return err
		}
		found, err := findRuns(h, args[0])
		if err != nil {
			return err
		}
		dir := found[len(found)-1]
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is exported already", dir)
		}
		return exportRun(e, dir, append(args, "run-"+filepath.Base(dir)+".zip")[1])
	})
	completeFiles(c, "")
	return c
}

// exportRun writes the run in dir into the file called name, which must not exist.
func exportRun(e *commandEnv, dir, name string) error {
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
