//go:build !browseronly

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
	"clank/sessions/agent"
)

// saveScreenshot writes the images of the answer in order or, if there are none, the last screenshot.
func (f browseFlags) saveScreenshot(ctx context.Context, r taskRunner, rec sessions.TaskRecord, lastView int) error {
	if f.screenshot == "" {
		return nil
	}
	images := rec.Images
	switch {
	case len(images) > 0:
	case lastView > 0:
		img, err := r.View(ctx, rec.ID, lastView)
		if err != nil {
			return fmt.Errorf("fetch the picture of step %d: %w", lastView, err)
		}
		images = []llm.Image{img}
	default:
		return errors.New("--screenshot: no picture was taken, since no page was reached")
	}
	for i, img := range images {
		name := f.screenshot
		if i > 0 {
			ext := filepath.Ext(name)
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i+1, ext)
		}
		data, err := encodeForFile(img, name)
		if err == nil {
			err = os.WriteFile(name, data, 0o600)
		}
		if err != nil {
			return fmt.Errorf("write the screenshot: %w", err)
		}
	}
	return nil
}

// captionsOf returns the captions of an answer's images; nil if none has one.
func captionsOf(rec sessions.TaskRecord) []string {
	captions, said := make([]string, len(rec.Images)), false
	for i, img := range rec.Images {
		captions[i], said = img.Caption, said || img.Caption != ""
	}
	if !said {
		return nil
	}
	return captions
}

// encodeForFile returns the image in the format of the file name's extension, or unchanged if it has none.
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

// browseOutcome is the output of --json.
type browseOutcome struct {
	State     sessions.TaskState `json:"state"`
	Answer    string             `json:"answer"`
	Reason    string             `json:"reason,omitempty"`
	TaskID    string             `json:"task_id"`
	SessionID string             `json:"session_id,omitempty"` // empty if the session is closed
	Steps     int                `json:"steps"`
	Images    int                `json:"images"`
	Captions  []string           `json:"captions,omitempty"` // of the images, in order
	Files     []string           `json:"files,omitempty"`    // paths of the saved downloads
	Usage     llm.Usage          `json:"usage"`
	Seconds   float64            `json:"seconds"`
}

func (f browseFlags) printOutcome(e *commandEnv, rec sessions.TaskRecord, saved []string) error {
	session := rec.SessionID
	if rec.Closed {
		session = ""
	}
	if f.json {
		return printJSON(e.Stdout, browseOutcome{
			State: rec.State, Answer: rec.Answer, Reason: rec.Reason, TaskID: rec.ID, SessionID: session,
			Steps: rec.Steps, Images: len(rec.Images), Captions: captionsOf(rec), Files: saved,
			Usage: rec.Usage, Seconds: rec.Ended.Sub(rec.Asked).Seconds(),
		})
	}
	if rec.Answer != "" {
		if _, err := fmt.Fprintln(e.Stdout, rec.Answer); err != nil {
			return fmt.Errorf("print the answer: %w", err)
		}
	}
	for i, caption := range captionsOf(rec) {
		fmt.Fprintf(e.Stderr, "picture %d: %s\n", i+1, cmp.Or(caption, "(without a caption)"))
	}
	for _, path := range saved {
		fmt.Fprintln(e.Stderr, "downloaded", path)
	}
	if f.downloads == "" {
		for _, d := range rec.Downloads {
			fmt.Fprintf(e.Stderr, "downloaded %s (keep it with --downloads DIR)\n", agent.DescribeFile(d))
		}
	}
	if rec.Steps > 0 || rec.State == sessions.TaskDone {
		printTaskSummary(e.Stderr, rec, session)
	}
	return nil
}

// printTaskSummary prints in one line how the task ended and how to continue.
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

// exitErrorOf returns the error with which the command ends for a task's final state.
func exitErrorOf(rec sessions.TaskRecord) error {
	switch rec.State {
	case sessions.TaskDone:
		return nil
	case sessions.TaskLimited:
		if rec.HitStepLimit() {
			rec.Reason += " (--max-steps allows more)"
		}
		return &exitError{Code: exitLimited, Err: fmt.Errorf("ended early: %s", rec.Reason)}
	case sessions.TaskStopped:
		return &exitError{Code: exitStopped, Err: errors.New(rec.Reason)}
	case sessions.TaskInterrupted:
		return &exitError{
			Code: exitFailed,
			Err: fmt.Errorf("%s; when it is there again, go on with: clank browse --session %s \"go on\" (clank sessions "+
				"lists the sessions to continue)",
				rec.Reason, rec.SessionID),
		}
	default:
		// the answer has the reason
		return &exitError{Code: exitFailed, Err: errors.New(cmp.Or(rec.Reason, "the task failed"))}
	}
}
