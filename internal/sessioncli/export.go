package sessioncli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"clank/internal/cmdline"
	"clank/internal/home"
	"clank/runs"
)

const exportIntro = `clank sessions export [flags] <id> [file]

Writes a run as one zip: what was asked and answered, the steps, the pages and the
pictures, without passwords and keys. What pages showed and people asked is in it.
Without a file it is run-<id>.zip here; - is the standard output.`

func (c Command) export(_ context.Context, args []string) (err error) {
	e := c.Env
	flags := cmdline.New("sessions export", exportIntro)
	if err := e.Parse(flags, args, 2); err != nil {
		return err
	}
	if len(flags.Rest) == 0 {
		return cmdline.Usagef("say which run: its id")
	}
	h, err := home.Open(e.Getenv)
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
		return runs.Export(e.Stdout, dir)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("export the run: %w", err)
	}
	if err := errors.Join(runs.Export(f, dir), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Fprintln(e.Stderr, "written to", name)
	return nil
}
