//go:build !browseronly

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/untrusted"
	"clank/sessions"

	"github.com/spf13/cobra"
)

// findRuns returns the home, and the paths of the runs that id refers to: a file or directory, a task, or all runs of
// a session, oldest first.
func findRuns(e *commandEnv, id string) (*server.Home, []string, error) {
	if id == "" {
		return nil, nil, usagef("the id is empty; \"clank sessions\" lists sessions")
	}
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return nil, nil, err
	}
	found, err := recording.FindRuns(h.RunsDir(), id)
	if errors.Is(err, recording.ErrRunNotFound) {
		if _, statErr := os.Stat(id); statErr == nil {
			return h, []string{id}, nil
		}
		err = fmt.Errorf("there is no run of a task or session %s, and no such file (\"clank browse --json\" prints the id "+
			"of a task, \"clank sessions\" lists sessions)", untrusted.CleanLine(id, 80))
	}
	return h, found, err
}

// openRun opens the newest run that id refers to.
func openRun(e *commandEnv, id string) (*recording.Recording, error) {
	_, found, err := findRuns(e, id)
	if err != nil {
		return nil, err
	}
	return recording.OpenRecording(found[len(found)-1])
}

const showHelp = `Shows a run: each step with its time, its cost, its page, and what the model said. For a
session it shows all runs. For a task that was not recorded it shows the steps in the database.`

func newShowCommand(e *commandEnv) *cobra.Command {
	c := newJSONCommand("show <id|file>", "show a run, step by step", showHelp,
		func(ctx context.Context, asJSON bool, args []string) error {
			accounts, err := readAccounts(ctx, e, args[0])
			if err != nil {
				return err
			}
			return e.printResult(asJSON, accounts, func(w io.Writer) {
				for i, a := range accounts {
					if i > 0 {
						fmt.Fprintln(w)
					}
					writeAccount(w, a)
				}
			})
		})
	return c
}

// readAccounts reads the runs that id refers to, from their records or else from the database.
func readAccounts(ctx context.Context, e *commandEnv, id string) ([]recording.Report, error) {
	h, found, notFound := findRuns(e, id)
	if h == nil {
		return nil, notFound
	}
	if notFound != nil {
		return storedAccounts(ctx, h, id, notFound)
	}
	var list []recording.Report
	for _, name := range found {
		b, err := recording.OpenRecording(name)
		if err != nil {
			return nil, err
		}
		list = append(list, b.Report())
	}
	return list, nil
}

// storedAccounts returns what the database contains about a task, or about a session's tasks.
func storedAccounts(ctx context.Context, h *server.Home, id string, notFound error) ([]recording.Report, error) {
	if _, err := os.Stat(h.DatabaseFile()); errors.Is(err, fs.ErrNotExist) {
		return nil, notFound
	}
	db, err := h.OpenDatabase(ctx)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var recs []sessions.TaskRecord
	switch rec, err := db.Task(ctx, id); {
	case err == nil:
		recs = append(recs, rec)
	case !errors.Is(err, sessions.ErrNotFound):
		return nil, err
	default:
		if recs, err = db.Tasks(ctx, sessions.TaskQuery{Session: id}); err != nil {
			return nil, err
		}
	}
	if len(recs) == 0 {
		return nil, notFound
	}
	var list []recording.Report
	for _, rec := range slices.Backward(recs) { // newest first
		steps, err := db.Steps(ctx, rec.ID)
		if err != nil {
			return nil, err
		}
		a := recording.Report{
			Task: rec.Task, Session: rec.SessionID, Runtime: rec.Runtime, Begun: rec.Asked,
			Usage: rec.Usage, Ended: rec.Reason, Bare: true,
		}
		for _, s := range steps {
			a.Steps = append(a.Steps, recording.ReportStep{Step: s})
		}
		list = append(list, a)
	}
	return list, nil
}

// writeAccount prints a report. It sanitizes texts from pages and models.
func writeAccount(w io.Writer, a recording.Report) {
	fmt.Fprintf(w, "run %s of session %s, %s, %s\n", a.Task.ID, a.Session,
		strings.Join(append([]string{a.Runtime}, a.Models...), " with "), a.Begun.Local().Format(time.DateTime))
	fmt.Fprintf(w, "asked: %s\n\n", untrusted.CleanLine(a.Task.Prompt, 1000))
	for _, s := range a.Steps {
		writeStep(w, s)
	}
	fmt.Fprintf(w, "\n%s, %s of a model", countNoun(countActs(a.Steps), "step"), countNoun(a.Usage.Calls, "call"))
	if a.Usage.USD > 0 {
		fmt.Fprintf(w, ", $%.4f", a.Usage.USD)
	}
	if a.Millis > 0 {
		fmt.Fprint(w, ", ", formatSeconds(a.Millis))
	}
	fmt.Fprintln(w)
	for _, note := range []struct {
		so   bool
		text string
	}{
		{a.Ended != "", "it ended without an answer: " + untrusted.CleanLine(a.Ended, 1000)},
		{a.Cut, "the record ends in the middle: the run still goes on, or the program ended"},
		{a.Dropped > 0, "dropped to keep the record small: " + countNoun(a.Dropped, "picture")},
		{a.Bare, "it was not recorded; these are the steps that the database has"},
	} {
		if note.so {
			fmt.Fprintln(w, note.text)
		}
	}
}

func writeStep(w io.Writer, s recording.ReportStep) {
	took := ""
	if s.Millis > 0 {
		took = formatSeconds(s.Millis)
	}
	if s.Usage.USD > 0 {
		took += fmt.Sprintf(" $%.4f", s.Usage.USD)
	}
	label := untrusted.CleanLine(s.Label, 200)
	switch {
	case s.Phase == sessions.PhaseBegun:
		label += " (did not end)"
	case s.Failed:
		label += " FAILED"
	case s.Limit != "":
		label += " (" + s.Limit + ")"
	}
	fmt.Fprintf(w, "%4d  %8s  %s\n", s.N, took, label)
	const indent = "                "
	if text := strings.TrimSpace(s.Text); text != "" && s.Kind != sessions.StepNotice {
		for line := range strings.Lines(text) {
			fmt.Fprintln(w, indent+untrusted.CleanLine(strings.TrimSpace(line), 500))
		}
	}
	if s.Kind == sessions.StepAct && s.URL != "" {
		fmt.Fprintln(w, indent+"at "+untrusted.CleanLine(strings.TrimSpace(s.Title+" "+s.URL), 200))
	}
}

func countActs(steps []recording.ReportStep) (n int) {
	for _, s := range steps {
		if s.Kind == sessions.StepAct {
			n++
		}
	}
	return n
}

func formatSeconds(ms float64) string { return fmt.Sprintf("%.1f s", ms/1000) }

const exportHelp = `Writes a run as one zip file: the task, the answer, the steps, the pages and the pictures.
Passwords and keys of the vault are removed; other private data on the pages is not. The file
is run-<id>.zip in this directory unless you name another; - is standard output.`

func newExportCommand(e *commandEnv) *cobra.Command {
	c := newCommand("export <id> [file]", "write a run with its pictures as one zip file", exportHelp,
		func(_ context.Context, args []string) error {
			_, found, err := findRuns(e, args[0])
			if err != nil {
				return err
			}
			dir := found[len(found)-1]
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return fmt.Errorf("%s is exported already", dir)
			}
			return exportRun(e, dir, append(args, "run-"+filepath.Base(dir)+".zip")[1])
		})
	return c
}

// exportRun writes the run in dir to the file name, which must not exist.
func exportRun(e *commandEnv, dir, name string) error {
	if name == "-" {
		return recording.ExportRun(e.Stdout, dir)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return notWritten(name, err)
	}
	if err := errors.Join(recording.ExportRun(f, dir), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Fprintln(e.Stderr, "written to", name)
	return nil
}
