package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"clank/cancel"
	"clank/dashboard"
	"clank/internal/terminal"
	"clank/sessions"
	"clank/settings"
)

// runner runs a task to its end: in this process, or in a server that is
// already there.
type runner interface {
	run(ctx context.Context, t sessions.Task, watch func(sessions.Event)) (sessions.Record, error)
	view(ctx context.Context, taskID string, n int) (sessions.Image, error)
	close(ctx context.Context) error
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
}

const browseIntro = `clank browse [flags] "<task>"
clank browse --script <name> [flags] ['<values>']

Sends the browser to do something. Progress goes to stderr, the answer to stdout.
If "clank serve" runs with the same home, it does the work; otherwise this command
starts a browser of its own and ends it again.

  clank browse 'open the demo shop, type "lamp" into Search, press Enter, read'
  clank browse --model anthropic:claude-opus-5-5 'which of the lamps in the demo shop is cheapest?'
  clank browse --script find-lamps 'search = desk'

While "clank serve" does the work, "clank sessions say" tells it something more.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a step or budget limit ended it, 130 stopped.`

func browse(ctx context.Context, e *env, args []string) error {
	var f browseFlags
	fs := newFlags("browse", browseIntro)
	fs.BoolVar(&f.json, "json", false, "print the whole outcome as JSON")
	fs.StringVar(&f.screenshot, "screenshot", "", "write the last picture of the page to `FILE` (.png, .jpg)")
	fs.StringVar(&f.session, "session", "", "go on in the session with this `ID`")
	fs.StringVar(&f.runtime, "runtime", "", "which mind works the browser: `NAME` ("+strings.Join(settings.Runtimes(), ", ")+")")
	fs.StringVar(&f.model, "model", "", "the `MODEL`: plain:steps, openai:<name>, anthropic:<name>, gemini:<name>, compatible:<name>")
	fs.StringVar(&f.script, "script", "", "follow the script called `NAME`, with other values such as 'search = desk'")
	fs.StringVar(&f.profile, "profile", "", "the browser profile: `NAME` (the setting says otherwise)")
	fs.IntVar(&f.maxSteps, "max-steps", 0, "end after `N` steps (the setting says otherwise)")
	fs.StringVar(&f.allow, "allow", "", "do without asking: `CLASSES` such as buy,submit ("+classList()+")")
	fs.BoolVar(&f.headed, "headed", false, "show the browser's window")
	if err := parse(e, fs, args, 1); err != nil {
		return err
	}
	if f.maxSteps < 0 {
		return usageErrorf("--max-steps %d: it takes a number from 1 up", f.maxSteps)
	}
	if err := f.checkScreenshot(); err != nil {
		return err
	}
	if err := checkAllow(f.classes()); err != nil {
		return err
	}
	task, err := f.task(e, fs.Rest)
	if err != nil {
		return err
	}
	return f.begin(ctx, e, task)
}

// task is what the command line asks for.
func (f browseFlags) task(e *env, args []string) (sessions.Task, error) {
	words := strings.TrimSpace(strings.Join(args, ""))
	t := sessions.Task{Prompt: words, Runtime: f.runtime, Model: f.model, MaxSteps: f.maxSteps, Origin: terminalOrigin()}
	switch {
	case f.script != "" && f.runtime+f.model != "":
		return t, usageErrorf("--script needs no model and no runtime; leave --model and --runtime out")
	case f.script != "":
		var err error
		if t, err = scriptTask(e, f.script, words); err != nil {
			return t, err
		}
		t.MaxSteps = cmp.Or(f.maxSteps, t.MaxSteps)
	case words == "":
		return t, usageErrorf("say what to do, for example: clank browse 'open example.com, read'")
	}
	t.SessionID, t.Profile, t.Headed, t.Allow = f.session, f.profile, f.headed, f.classes()
	return t, nil
}

// begin runs the task to its end and prints what came of it.
func (f browseFlags) begin(ctx context.Context, e *env, task sessions.Task) error {
	r, err := newRunner(ctx, e)
	if err != nil {
		return err
	}
	rec, err := f.work(ctx, e, r, task)
	closeErr := r.close(e.hurry) //nolint:contextcheck // the end is bounded by what the person still waits for, not by what was interrupted
	if err = errors.Join(err, closeErr); err != nil {
		return err
	}
	return verdict(rec)
}

// classes are what may be done without a question.
func (f browseFlags) classes() []string {
	return strings.FieldsFunc(f.allow, func(r rune) bool { return r == ',' || r == ' ' })
}

// terminalOrigin says who asks: the person at this terminal.
func terminalOrigin() sessions.Origin {
	return sessions.Origin{Kind: sessions.FromTerminal, Channel: dashboard.TerminalChannel, UserName: "you"}
}

// checkScreenshot finds out before the work begins that FILE can be written.
func (f browseFlags) checkScreenshot() error {
	if f.screenshot == "" {
		return nil
	}
	dir := filepath.Dir(f.screenshot)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return usageErrorf("--screenshot %s: there is no directory %s", f.screenshot, dir)
	}
	return nil
}

// work runs the task and prints what came of it.
func (f browseFlags) work(ctx context.Context, e *env, r runner, task sessions.Task) (sessions.Record, error) {
	p := terminal.NewProgress(e.stderr)
	lastView := 0
	rec, err := r.run(ctx, task, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.View != nil {
			lastView = ev.Step.N
		}
		p.Watch(ev)
	})
	p.Clear()
	if err != nil {
		return rec, runError(ctx, err)
	}
	if err := f.saveScreenshot(e.hurry, r, rec, lastView); err != nil { //nolint:contextcheck // a stopped task has a last picture too
		return rec, err
	}
	return rec, f.print(e, rec)
}

// runError is what a person reads when a task was not accepted.
func runError(ctx context.Context, err error) error {
	if c := cancel.CauseOf(ctx, err); c != nil {
		return &exitError{exitStopped, fmt.Errorf("%s", c)} //nolint:errorlint // the sentence is all that is left to tell
	}
	return err
}

// saveScreenshot writes the picture the answer shows last, or else the last view.
func (f browseFlags) saveScreenshot(ctx context.Context, r runner, rec sessions.Record, lastView int) error {
	if f.screenshot == "" {
		return nil
	}
	var img sessions.Image
	switch {
	case len(rec.Images) > 0:
		img = rec.Images[len(rec.Images)-1]
	case lastView > 0:
		var err error
		if img, err = r.view(ctx, rec.ID, lastView); err != nil {
			return fmt.Errorf("fetch the picture of step %d: %w", lastView, err)
		}
	default:
		return errors.New("--screenshot: no picture was taken, since no page was reached")
	}
	data, err := asFile(img, f.screenshot)
	if err == nil {
		err = os.WriteFile(f.screenshot, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the screenshot: %w", err)
	}
	return nil
}

// asFile returns the picture in the format that the file's name promises. Names
// that promise none get it as it is.
func asFile(img sessions.Image, name string) ([]byte, error) {
	want := mime.TypeByExtension(strings.ToLower(filepath.Ext(name)))
	if want == img.MediaType || (want != "image/png" && want != "image/jpeg") {
		return img.Data, nil
	}
	decoded, _, err := image.Decode(bytes.NewReader(img.Data))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if want == "image/png" {
		err = png.Encode(&b, decoded)
	} else {
		err = jpeg.Encode(&b, decoded, &jpeg.Options{Quality: 90})
	}
	return b.Bytes(), err
}

// outcome is what --json prints.
type outcome struct {
	State     sessions.TaskState `json:"state"`
	Answer    string             `json:"answer"`
	Reason    string             `json:"reason,omitempty"`
	TaskID    string             `json:"task_id"`
	SessionID string             `json:"session_id,omitempty"` // empty once the session is closed
	Steps     int                `json:"steps"`
	Images    int                `json:"images"`
	Usage     sessions.Usage     `json:"usage"`
	Seconds   float64            `json:"seconds"`
}

func (f browseFlags) print(e *env, rec sessions.Record) error {
	session := rec.SessionID
	if rec.Closed {
		session = ""
	}
	if f.json {
		enc := json.NewEncoder(e.stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(outcome{
			State: rec.State, Answer: rec.Answer, Reason: rec.Reason, TaskID: rec.ID, SessionID: session,
			Steps: rec.Steps, Images: len(rec.Images), Usage: rec.Usage, Seconds: rec.Ended.Sub(rec.Asked).Seconds(),
		})
	}
	if rec.Answer != "" {
		if _, err := fmt.Fprintln(e.stdout, rec.Answer); err != nil {
			return fmt.Errorf("print the answer: %w", err)
		}
	}
	if rec.Steps > 0 || rec.State == sessions.TaskDone {
		closing(e.stderr, rec, session)
	}
	return nil
}

// closing tells in one line how it went and how to go on.
func closing(w io.Writer, rec sessions.Record, session string) {
	line := strconv.Itoa(rec.Steps) + " steps"
	if rec.Steps == 1 {
		line = "1 step"
	}
	if rec.Usage.USD > 0 {
		line += fmt.Sprintf(", $%.4f", rec.Usage.USD)
	}
	if session != "" {
		line += ", session " + session + " (go on with --session " + session + ")"
	}
	fmt.Fprintln(w, line)
}

// verdict turns the end of a task into the command's end.
func verdict(rec sessions.Record) error {
	switch rec.State {
	case sessions.TaskDone:
		return nil
	case sessions.TaskLimited:
		return &exitError{exitLimited, fmt.Errorf("ended early: %s", rec.Reason)}
	case sessions.TaskStopped:
		return &exitError{exitStopped, errors.New(rec.Reason)}
	default:
		return &exitError{exitFailed, errors.New(rec.Reason)}
	}
}
