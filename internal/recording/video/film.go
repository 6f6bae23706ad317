package video

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"clank/sessions"
	"clank/videosource"
	"clank/videosource/webm"
)

// Film parameters.
const (
	bitrate  = 1_000_000        // maximum, in bits per second
	keyEvery = 10 * time.Second // maximum interval while something moves; steps also begin with a key frame
)

// leftOut is the first id of chapters for time that was left out. Smaller ids are step numbers.
const leftOut = 1 << 32

// film is the film of one task.
type film struct {
	recorder *Recorder
	task     sessions.TaskRecord
	stop     func()
	done     chan struct{} // closed when the file is finished
	steps    chan sessions.Step

	file    *os.File // nil before the first frame
	writer  *webm.Writer
	kept    int64
	origin  time.Time     // start of the running film time; zero while it is paused
	passed  time.Duration // film time before origin
	pending []webm.Chapter
	gaps    uint64
	held    time.Time // since when a person has controlled the page
	key     time.Time // time of the last key frame
}

// note announces a step. It does not block.
func (f *film) note(s sessions.Step) {
	if s.Kind != sessions.StepAct || s.Phase != sessions.PhaseBegun {
		return
	}
	select {
	case f.steps <- s:
	default: // without a chapter
	}
}

// run films until ctx ends, which is not an error.
func (f *film) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, f.close()) }()
	for ctx.Err() == nil {
		held := f.recorder.Manager.Control(f.task.SessionID)
		if held.Changed == nil { // the session is no longer open
			return nil
		}
		if held.Holder == "" {
			if err := f.shoot(ctx, held.Changed); err != nil {
				return err
			}
			continue
		}
		if f.file != nil && held.Since.After(f.held) {
			f.held = held.Since
			f.gaps++
			f.chapter(leftOut+f.gaps, held.Holder+" worked the page (not recorded)")
		}
		select {
		case <-ctx.Done():
		case <-held.Changed:
		}
	}
	return nil
}

// shoot films until ctx ends or changed is closed because a person takes control. Each call looks the page up again,
// so that the film shows nothing from before.
func (f *film) shoot(ctx context.Context, changed <-chan struct{}) error {
	ctx, stop := context.WithCancel(ctx)
	source := &videosource.Source{
		Screen: f.recorder.Screen(f.task.SessionID), OpenEncoder: f.recorder.OpenEncoder, Log: f.recorder.Logger,
	}
	viewer := source.SubscribeTo(videosource.Video)
	viewer.SetBitrate(bitrate)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = source.Run(ctx) // ends with ctx
	}()
	defer func() {
		f.passed, f.origin = f.now(), time.Time{}
		viewer.Close()
		stop()
		<-ended
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			return nil
		case s := <-f.steps:
			f.chapter(uint64(max(1, s.N)), s.Label)
			source.NoteActivity()
			viewer.Refresh()
		case frame, ok := <-viewer.Frames():
			select {
			case <-changed: // it may show what a person does there
				return nil
			default:
			}
			if !ok {
				return nil
			}
			if err := f.add(frame); err != nil {
				return err
			}
			if !frame.Whole() && frame.Reason == videosource.Activity && time.Since(f.key) >= keyEvery {
				viewer.Refresh()
			}
		}
	}
}

// now returns the elapsed film time.
func (f *film) now() time.Duration {
	if f.origin.IsZero() {
		return f.passed
	}
	return f.passed + time.Since(f.origin)
}

func (f *film) chapter(id uint64, title string) {
	c := webm.Chapter{ID: id, At: f.now(), Title: title}
	if f.writer == nil {
		f.pending = append(f.pending, c)
		return
	}
	f.writer.AddChapter(c)
}

// add adds a frame.
func (f *film) add(frame videosource.Frame) error {
	if frame.Whole() {
		f.key = time.Now()
	}
	if f.file == nil {
		if err := f.create(); err != nil {
			return err
		}
	}
	if f.origin.IsZero() {
		f.origin = time.Now()
	}
	err := f.writer.Add(webm.Frame{At: f.now(), Key: frame.Whole(), Data: frame.Data})
	if more := f.writer.Size() - f.kept; err == nil && more > 0 {
		f.kept += more
		err = f.recorder.Keep(f.task.SessionID, f.place(), more)
	}
	return err
}

func (f *film) place() sessions.Place { return f.task.Origin.Place(false) }

func (f *film) create() (err error) {
	path := f.recorder.path(f.task.Task)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make a folder for films: %w", err)
	}
	if f.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("make a film: %w", err)
	}
	f.writer = webm.NewWriter(f.file, time.Now())
	for _, c := range f.pending {
		f.writer.AddChapter(c)
	}
	return nil
}

// close finishes the file.
func (f *film) close() error {
	if f.file == nil {
		return nil
	}
	err := f.writer.Finish(f.now())
	return errors.Join(err, f.file.Close())
}
