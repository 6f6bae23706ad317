//go:build !browseronly

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clank/cancel"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/approval"

	"github.com/spf13/cobra"
)

// taskRunner runs tasks, in this process or in a running server.
type taskRunner interface {
	// Run runs a task and calls watch with its events, one at a time. When ctx ends it stops the task.
	Run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.TaskRecord, error)
	View(ctx context.Context, taskID string, n int) (llm.Image, error)
	// SendFile stores a file for a task.
	SendFile(ctx context.Context, name string, r io.Reader) (sessions.File, error)
	// Download returns a file that a task downloaded. The caller closes it.
	Download(ctx context.Context, taskID string, f sessions.File) (io.ReadCloser, error)
	Close(ctx context.Context) error
}

// browseFlags are the flags of "clank browse".
type browseFlags struct {
	json       bool
	screenshot string
	session    string
	runtime    string
	profile    string
	model      string
	maxSteps   int
	headed     bool
	allow      string
	script     string
	files      []string
	downloads  string
}

const browseHelp = `Does a task in the browser. Progress goes to stderr, the answer to stdout. If "clank serve"
runs with the same home, it does the work; otherwise this command starts a browser for the
task. With --script, the argument is the values of the script.

  clank browse 'open the demo shop, type "lamp" into Search, press Enter, read'
  clank browse --model anthropic:claude-opus-5-5 'which of the lamps in the demo shop is cheapest?'
  clank browse --script find-lamps 'search = desk'
  clank browse --file cv.pdf --downloads . 'open office.example, upload cv.pdf into Attachment, click Receipt'

While "clank serve" does the work, you can send it a message with "clank sessions say".

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 ended by a step or budget limit, 130 stopped.`

func newBrowseCommand(e *commandEnv) *cobra.Command {
	var f browseFlags
	var c *cobra.Command
	c = newCommand("browse [task]", "", browseHelp, func(ctx context.Context, args []string) error {
		if c.Flags().Changed("max-steps") && f.maxSteps < 1 {
			return usagef("--max-steps %d: it takes a number from 1 up", f.maxSteps)
		}
		task, err := f.buildTask(e, strings.Join(args, ""))
		if err != nil {
			return err
		}
		return f.runTask(ctx, e, task)
	})
	f.add(c)
	fs := c.Flags()
	fs.StringVar(&f.screenshot, "screenshot", "", "write the pictures of the answer, or else the last view of the page, "+
		"to `FILE` (.png, .jpg), FILE-2, …")
	fs.StringVar(&f.runtime, "runtime", "", "the agent that controls the browser: `NAME` ("+
		strings.Join(settings.Runtimes(), ", ")+")")
	fs.StringVar(&f.model, "model", "", "the `MODEL`: plain:steps, openai:<name>, anthropic:<name>, gemini:<name>, "+
		"compatible:<name>")
	fs.StringVar(&f.script, "script", "", "run the script `NAME`, with values such as 'search = desk'")
	fs.IntVar(&f.maxSteps, "max-steps", 0, "end after `N` steps (default: the setting)")
	fs.BoolVar(&f.headed, "headed", false, "show the browser's window")
	completeFiles(c, "screenshot")
	completeChoices(c, "runtime", settings.Runtimes()...)
	completeFlag(c, "script", completeScripts(e))
	return c
}

// add adds the flags common to tasks and scripts.
func (f *browseFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.BoolVar(&f.json, "json", false, "print the whole outcome as JSON")
	fs.StringVar(&f.session, "session", "", "continue the session with this `ID`")
	fs.StringVar(&f.profile, "profile", "", "the browser profile: `NAME` (default: the setting)")
	fs.StringArrayVar(&f.files, "file", nil, "send `FILE` with the task, to be uploaded (repeatable)")
	fs.StringVar(&f.downloads, "downloads", "", "copy downloaded files into the directory `DIR`")
	completeFiles(c, "file")
	completeFiles(c, "downloads")
	addAllowFlag(c, &f.allow)
}

// buildTask returns the task for the command line. words are a prompt, or the values of the script.
func (f browseFlags) buildTask(e *commandEnv, words string) (t sessions.Task, err error) {
	words = strings.TrimSpace(words)
	t = sessions.Task{
		Prompt: words, Runtime: f.runtime, Model: f.model, MaxSteps: f.maxSteps,
		Origin: server.TerminalOrigin(), Typed: true,
	}
	if err := errors.Join(f.checkScreenshot(), f.checkFiles(), checkAllow(f.allow)); err != nil {
		return t, err
	}
	switch {
	case f.script != "" && f.runtime+f.model != "":
		return t, usagef("--script needs no model and no runtime; leave --model and --runtime out")
	case f.script != "":
		if t, err = buildScriptTask(e, f.script, words); err != nil {
			return t, err
		}
		t.MaxSteps = cmp.Or(f.maxSteps, t.MaxSteps)
	case words == "":
		return t, usagef("say what to do, for example: clank browse 'open example.com, read'")
	}
	t.SessionID, t.Profile, t.Headed, t.Allow = f.session, f.profile, f.headed, splitAllow(f.allow)
	return t, nil
}

// runTask runs the task to its end and prints the result.
func (f browseFlags) runTask(ctx context.Context, e *commandEnv, task sessions.Task) error {
	r, err := openTaskRunner(ctx, e)
	if err != nil {
		return err
	}
	rec, err := f.runAndPrint(ctx, e, r, task)
	closeErr := r.Close(e.AbortContext) // the task's context may already be interrupted
	if err = errors.Join(err, closeErr); err != nil {
		return err
	}
	return exitErrorOf(rec)
}

// checkScreenshot checks in advance that the screenshot file can be written.
func (f browseFlags) checkScreenshot() error {
	if f.screenshot == "" {
		return nil
	}
	dir := filepath.Dir(f.screenshot)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return usagef("--screenshot %s: there is no directory %s", f.screenshot, dir)
	}
	_, err := pictureType("screenshot", f.screenshot)
	return err
}

// runAndPrint runs the task and prints the result.
func (f browseFlags) runAndPrint(ctx context.Context, e *commandEnv, r taskRunner,
	task sessions.Task,
) (sessions.TaskRecord, error) {
	p := newProgressPrinter(e.Stderr)
	lastView := 0
	files, err := f.sendFiles(ctx, r)
	if err != nil {
		return sessions.TaskRecord{}, err
	}
	task.Files = files
	rec, err := r.Run(ctx, task, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.View != nil {
			lastView = ev.Step.N
		}
		p.showEvent(ev)
	})
	p.clearLine()
	if err != nil {
		return rec, taskStartError(ctx, err)
	}
	// a stopped task has a last screenshot as well
	if err := f.saveScreenshot(e.AbortContext, r, rec, lastView); err != nil {
		return rec, err
	}
	saved, err := f.saveDownloads(e.AbortContext, r, rec)
	return rec, errors.Join(f.printOutcome(e, rec, saved), err)
}

// taskStartError returns the error to show if a task was not accepted.
func taskStartError(ctx context.Context, err error) error {
	c := cancel.CauseOf(ctx, err)
	switch {
	case c == nil:
		return err
	case errors.Is(context.Cause(ctx), c):
		return errExitInterrupted
	}
	return &exitError{Code: exitStopped, Err: fmt.Errorf("%s", c)} //nolint:errorlint // only the text is shown
}

// splitAllow returns the action classes in the value of a flag.
func splitAllow(allow string) []string {
	return strings.FieldsFunc(allow, func(r rune) bool { return r == ',' || r == ' ' })
}

// addAllowFlag adds --allow to a command.
func addAllowFlag(c *cobra.Command, allow *string) {
	c.Flags().StringVar(allow, "allow", "", "do these without asking: `CLASSES` such as buy,submit ("+
		actionClassList()+")")
}

// checkAllow returns an error for an unknown action class.
func checkAllow(allow string) error {
	for _, c := range splitAllow(allow) {
		if !slices.Contains(approval.Classes(), approval.Class(c)) {
			return usagef("--allow %s: there are %s", c, actionClassList())
		}
	}
	return nil
}

// actionClassList returns the names of all classes.
func actionClassList() string {
	var names []string
	for _, c := range approval.Classes() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}
