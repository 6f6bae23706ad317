package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"clank/llm"
	"clank/sessions"
)

// saveScreenshot writes the picture the answer shows last, or else the last view.
func (f browseFlags) saveScreenshot(ctx context.Context, r taskRunner, rec sessions.TaskRecord, lastView int) error {
	if f.screenshot == "" {
		return nil
	}
	var img llm.Image
	switch {
	case len(rec.Images) > 0:
		img = rec.Images[len(rec.Images)-1]
	case lastView > 0:
		var err error
		if img, err = r.View(ctx, rec.ID, lastView); err != nil {
			return fmt.Errorf("fetch the picture of step %d: %w", lastView, err)
		}
	default:
		return errors.New("--screenshot: no picture was taken, since no page was reached")
	}
	data, err := encodeForFile(img, f.screenshot)
	if err == nil {
		err = os.WriteFile(f.screenshot, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the screenshot: %w", err)
	}
	return nil
}

// encodeForFile returns the picture in the format that the file's name promises. Names
// that promise none get it as it is.
func encodeForFile(img llm.Image, name string) ([]byte, error) {
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

// browseOutcome is what --json prints.
type browseOutcome struct {
	State     sessions.TaskState `json:"state"`
	Answer    string             `json:"answer"`
	Reason    string             `json:"reason,omitempty"`
	TaskID    string             `json:"task_id"`
	SessionID string             `json:"session_id,omitempty"` // empty once the session is closed
	Steps     int                `json:"steps"`
	Images    int                `json:"images"`
	Usage     llm.Usage          `json:"usage"`
	Seconds   float64            `json:"seconds"`
}

func (f browseFlags) printOutcome(e *commandEnv, rec sessions.TaskRecord) error {
	session := rec.SessionID
	if rec.Closed {
		session = ""
	}
	if f.json {
		return printJSON(e.Stdout, browseOutcome{
			State: rec.State, Answer: rec.Answer, Reason: rec.Reason, TaskID: rec.ID, SessionID: session,
			Steps: rec.Steps, Images: len(rec.Images), Usage: rec.Usage, Seconds: rec.Ended.Sub(rec.Asked).Seconds(),
		})
	}
	if rec.Answer != "" {
		if _, err := fmt.Fprintln(e.Stdout, rec.Answer); err != nil {
			return fmt.Errorf("print the answer: %w", err)
		}
	}
	if rec.Steps > 0 || rec.State == sessions.TaskDone {
		printTaskSummary(e.Stderr, rec, session)
	}
	return nil
}

// printTaskSummary tells in one line how it went and how to go on.
func printTaskSummary(w io.Writer, rec sessions.TaskRecord, session string) {
	line := countNoun(rec.Steps, "step")
	if rec.Usage.USD > 0 {
		line += fmt.Sprintf(", $%.4f", rec.Usage.USD)
	}
	if session != "" {
		line += ", session " + session + " (go on with --session " + session + ")"
	}
	fmt.Fprintln(w, line)
}

// exitErrorOf turns the end of a task into the command's end.
func exitErrorOf(rec sessions.TaskRecord) error {
	switch rec.State {
	case sessions.TaskDone:
		return nil
	case sessions.TaskLimited:
		return &exitError{Code: exitLimited, Err: fmt.Errorf("ended early: %s", rec.Reason)}
	case sessions.TaskStopped:
		return &exitError{Code: exitStopped, Err: errors.New(rec.Reason)}
	default:
		return &exitError{Code: exitFailed, Err: errors.New(cmp.Or(rec.Reason, "the task failed"))} // the answer says why
	}
}
