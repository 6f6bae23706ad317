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

// How a film is made.
const (
	bitrate  = 1_000_000        // at most, in bits a second
	keyEvery = 10 * time.Second // at least, while something moves; steps begin with a key frame, too
)

// leftOut is the first id of chapters that say what was left out. Others are the numbers of steps.
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
	origin  time.Time     // of the time that passes in the film; zero: it stands still
	passed  time.Duration // before that
	pending []webm.Chapter
	gaps    uint64
	held    time.Time // since when somebody worked the page last
	key     time.Time // when the last key frame came
}

// note tells of a step. It does not block.
func (f *film) note(s sessions.Step) {
	if s.Kind != sessions.StepAct || s.Phase != sessions.PhaseBegun {
		return
	}
	select {
	case f.steps <- s:
	default: // it has no chapter
	}
}

// run films until ctx ends, which is no error.
func (f *film) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, f.close()) }()
	for ctx.Err() == nil {
		held := f.recorder.Manager.Control(f.task.SessionID)
		if held.Changed == nil { // the session is not open any more
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

// shoot films until ctx ends, or somebody takes the page, which changed tells. Each time it looks at the page anew, so
// that nothing of before shows.
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
			case <-changed: // it may show what somebody does there
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

// now returns how much of the film has passed.
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
