package sessioncli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/home"
	"clank/runs"
	"clank/sessions"
	"clank/sqlite"
	"clank/untrusted"
)

// findRuns returns where the runs are kept that a person means: a file or
// directory, a task, or all of a session, oldest first.
func findRuns(h *home.Home, id string) ([]string, error) {
	found, err := runs.Find(h.Runs(), id)
	if errors.Is(err, runs.ErrNone) {
		if _, statErr := os.Stat(id); statErr == nil {
			return []string{id}, nil
		}
		err = fmt.Errorf("there is no run of a task or session %s, and no such file (\"clank browse --json\" prints the id of a task, \"clank sessions\" lists sessions)", untrusted.Line(id, 80))
	}
	return found, err
}

// openRun opens the newest run that a person means.
func openRun(e *command.Env, id string) (*runs.Bundle, error) {
	h, err := home.Open(e.Getenv)
	if err != nil {
		return nil, err
	}
	found, err := findRuns(h, id)
	if err != nil {
		return nil, err
	}
	return runs.Open(found[len(found)-1])
}

const showIntro = `clank sessions show [flags] <id|file>

Tells a run: each step with the time it took, what it cost, where the page was, and
what the model said. Of a session it tells all runs. Of a task that was not recorded
it tells the steps that the database has.`

func (c Command) show(ctx context.Context, args []string) error {
	e := c.Env
	fs := cmdline.New("sessions show", showIntro)
	asJSON := fs.Bool("json", false, "print it as JSON")
	if err := e.Parse(fs, args, 1); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return cmdline.Usagef("say which run: its id, or an exported file")
	}
	accounts, err := accountsOf(ctx, e, fs.Rest[0])
	if err != nil {
		return err
	}
	if *asJSON {
		return command.PrintJSON(e.Stdout, accounts)
	}
	for i, a := range accounts {
		if i > 0 {
			fmt.Fprintln(e.Stdout)
		}
		if err := tell(e.Stdout, a); err != nil {
			return err
		}
	}
	return nil
}

// accountsOf reads the runs that a person means, from their records or else from
// the database.
func accountsOf(ctx context.Context, e *command.Env, id string) ([]runs.Account, error) {
	h, err := home.Open(e.Getenv)
	if err != nil {
		return nil, err
	}
	found, notFound := findRuns(h, id)
	if notFound != nil {
		return storedAccounts(ctx, h, id, notFound)
	}
	var list []runs.Account
	for _, name := range found {
		b, err := runs.Open(name)
		if err != nil {
			return nil, err
		}
		list = append(list, b.Account())
		if err := b.Close(); err != nil {
			return nil, fmt.Errorf("close the run: %w", err)
		}
	}
	return list, nil
}

// storedAccounts reads what the database has of a task, or of a session's tasks.
func storedAccounts(ctx context.Context, h *home.Home, id string, notFound error) ([]runs.Account, error) {
	if _, err := os.Stat(h.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil, notFound
	}
	db, err := sqlite.Open(ctx, h.Database())
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var recs []sessions.Record
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
	var list []runs.Account
	for _, rec := range slices.Backward(recs) { // last asked first
		steps, err := db.Steps(ctx, rec.ID)
		if err != nil {
			return nil, err
		}
		a := runs.Account{Task: rec.Task, Session: rec.SessionID, Runtime: rec.Runtime, Begun: rec.Asked, Usage: rec.Usage, Ended: rec.Reason, Bare: true}
		for _, s := range steps {
			a.Steps = append(a.Steps, runs.AccountStep{Step: s})
		}
		list = append(list, a)
	}
	return list, nil
}

// tell writes an account for people. Pages and models have written much of it.
func tell(w io.Writer, a runs.Account) error {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s of session %s, %s, %s\n", a.Task.ID, a.Session, strings.Join(append([]string{a.Runtime}, a.Models...), " with "), a.Begun.Local().Format(time.DateTime))
	fmt.Fprintf(&b, "asked: %s\n\n", untrusted.Line(a.Task.Prompt, 1000))
	for _, s := range a.Steps {
		tellStep(&b, s)
	}
	b.WriteString("\n" + counted(actsIn(a.Steps), "step") + ", " + counted(a.Usage.Calls, "call") + " of a model")
	if a.Usage.USD > 0 {
		fmt.Fprintf(&b, ", $%.4f", a.Usage.USD)
	}
	if a.Millis > 0 {
		b.WriteString(", " + seconds(a.Millis))
	}
	b.WriteByte('\n')
	for _, note := range []struct {
		so   bool
		text string
	}{
		{a.Ended != "", "it ended without an answer: " + untrusted.Line(a.Ended, 1000)},
		{a.Cut, "the record ends in the middle: the run still goes on, or the program ended"},
		{a.Dropped > 0, "dropped to keep the record small: " + counted(a.Dropped, "picture")},
		{a.Bare, "it was not recorded; these are the steps that the database has"},
	} {
		if note.so {
			b.WriteString(note.text + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tellStep(b *strings.Builder, s runs.AccountStep) {
	took := ""
	if s.Millis > 0 {
		took = seconds(s.Millis)
	}
	if s.Usage.USD > 0 {
		took += fmt.Sprintf(" $%.4f", s.Usage.USD)
	}
	label := untrusted.Line(s.Label, 200)
	switch {
	case s.Phase == sessions.Begun:
		label += " (did not end)"
	case s.Failed:
		label += " FAILED"
	case s.Limit != "":
		label += " (" + s.Limit + ")"
	}
	fmt.Fprintf(b, "%4d  %8s  %s\n", s.N, took, label)
	const indent = "                "
	if text := strings.TrimSpace(s.Text); text != "" && s.Kind != sessions.StepNotice {
		for line := range strings.Lines(text) {
			b.WriteString(indent + untrusted.Line(strings.TrimSpace(line), 500) + "\n")
		}
	}
	if s.Kind == sessions.StepAct && s.URL != "" {
		b.WriteString(indent + "at " + untrusted.Line(strings.TrimSpace(s.Title+" "+s.URL), 200) + "\n")
	}
}

func actsIn(steps []runs.AccountStep) (n int) {
	for _, s := range steps {
		if s.Kind == sessions.StepAct {
			n++
		}
	}
	return n
}

// counted is a number with what it counts.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

func seconds(ms float64) string { return fmt.Sprintf("%.1f s", ms/1000) }
