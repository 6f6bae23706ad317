package video

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"clank/sessions"
	"clank/videosource"
	"clank/videosource/webm"
)

// Manager runs the tasks; it is a [sessions.Manager].
type Manager interface {
	Subscribe() (<-chan sessions.Event, func())
	Control(session string) sessions.ControlState
}

// Mode selects which tasks are filmed.
type Mode int

// Modes of filming.
const (
	Never     Mode = iota
	OnRequest      // tasks of sessions for which [Recorder.Request] was called
	Always
)

// linger is how long filming continues after the end of a task, to show its result, which for a short task is all
// there is to see.
const linger = 2 * time.Second

// Recorder films tasks. Set its fields before Run. Its methods are safe for concurrent use.
type Recorder struct {
	Dir         string // contains a folder for each place
	Manager     Manager
	Mode        func() Mode
	Screen      func(session string) videosource.Screenshotter
	OpenEncoder func(context.Context) (videosource.Encoder, error) // nil makes films of key frames only
	// returns an error if there is no room for n more bytes
	Keep   func(session string, place sessions.Place, n int64) error
	Logger *slog.Logger

	mu        sync.Mutex
	requested map[string]bool                // by session
	tasks     map[string]sessions.TaskRecord // running tasks by id
	films     map[string]*film               // films of these tasks, until the file is finished
	work      sync.WaitGroup
	end       context.Context //nolint:containedctx // of Run, for films that start on request
}

// Run films tasks until ctx ends, and finishes the films.
func (r *Recorder) Run(ctx context.Context) error {
	defer r.work.Wait()
	r.mu.Lock()
	r.requested, r.tasks, r.films = map[string]bool{}, map[string]sessions.TaskRecord{}, map[string]*film{}
	r.end = ctx
	r.mu.Unlock()
	for {
		events, leave := r.Manager.Subscribe()
		err := r.follow(ctx, events)
		leave()
		if err != nil {
			return err
		}
		r.Logger.Warn("films ended early: events came too fast")
		r.mu.Lock()
		for id := range r.films {
			r.finish(id)
		}
		r.mu.Unlock()
	}
}

// follow handles events until ctx ends or the channel is closed.
func (r *Recorder) follow(ctx context.Context, events <-chan sessions.Event) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case ev, ok := <-events:
			if !ok {
				return nil
			}
			r.take(ev)
		}
	}
}

func (r *Recorder) take(ev sessions.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch id := ev.Record.ID; {
	case ev.Record.State.Final():
		delete(r.tasks, id)
		r.finish(id)
	case ev.Record.State == sessions.TaskRunning:
		if _, known := r.tasks[id]; !known {
			r.tasks[id] = ev.Record
			for _, f := range r.films { // a new task of the session begins: later frames may be private
				if f.task.SessionID == ev.Record.SessionID {
					f.stop()
				}
			}
			r.begin(ev.Record)
		}
		if f := r.films[id]; f != nil && ev.Step != nil {
			f.note(*ev.Step)
		}
	}
}

// begin starts filming a task, if enabled. The caller holds r.mu.
func (r *Recorder) begin(t sessions.TaskRecord) {
	mode := r.Mode()
	wanted := mode == Always || mode == OnRequest && r.requested[t.SessionID]
	if !wanted || t.Origin.Private || r.films[t.ID] != nil {
		return
	}
	ctx, stop := context.WithCancel(r.end)
	f := &film{recorder: r, task: t, stop: stop, done: make(chan struct{}), steps: make(chan sessions.Step, 32)}
	r.films[t.ID] = f
	r.work.Go(func() {
		defer stop()
		if err := f.run(ctx); err != nil {
			r.Logger.Warn("the film of a task ended early", "task", t.ID, "error", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		close(f.done)
		delete(r.films, t.ID)
	})
}

// finish ends the film of a task after a while that shows the result. The caller holds r.mu.
func (r *Recorder) finish(task string) {
	if f := r.films[task]; f != nil {
		time.AfterFunc(linger, f.stop)
	}
}

// errOff means that the settings do not allow films on request.
var errOff = errors.New("recording sessions is turned off in the settings")

// Request starts or stops filming the tasks of a session, including the running one.
func (r *Recorder) Request(session string, on bool) error {
	if on && r.Mode() == Never {
		return errOff
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requested == nil {
		return errOff
	}
	if r.requested[session] = on; !on {
		delete(r.requested, session)
	}
	for id, t := range r.tasks {
		switch {
		case t.SessionID != session:
		case on:
			r.begin(t)
		case r.Mode() == OnRequest && r.films[id] != nil:
			r.films[id].stop()
		}
	}
	return nil
}

// Requested reports whether the tasks of a session are filmed, and whether people can change that.
func (r *Recorder) Requested(session string) (on, possible bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mode := r.Mode()
	return mode == Always || mode == OnRequest && r.requested[session], mode == OnRequest
}

// path returns the path of a task's film.
func (r *Recorder) path(t sessions.Task) string {
	return filepath.Join(r.Dir, t.Origin.Place(false).Profile("film"), filepath.Base(t.ID)+".webm")
}

// Open returns the film of a task, even while it is being recorded. If there is none the error is an
// [os.ErrNotExist]. The caller closes the file.
func (r *Recorder) Open(t sessions.TaskRecord) (*os.File, error) {
	if t.Origin.Private {
		return nil, fmt.Errorf("open the film of a private task: %w", os.ErrNotExist)
	}
	r.mu.Lock()
	f := r.films[t.ID]
	if t.State.Final() {
		r.finish(t.ID)
	}
	r.mu.Unlock()
	if f != nil && t.State.Final() {
		<-f.done
	}
	return os.Open(r.path(t.Task))
}

// read parses the film of a task. The caller closes the file.
func (r *Recorder) read(t sessions.TaskRecord) (*os.File, *webm.Film, error) {
	f, err := r.Open(t)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var film *webm.Film
		if film, err = webm.Read(f, info.Size()); err == nil {
			return f, film, nil
		}
	}
	return nil, nil, errors.Join(err, f.Close())
}

// Chapters returns the chapters of a finished film. Their ids are step numbers; larger ids mark time that was left
// out.
func (r *Recorder) Chapters(t sessions.TaskRecord) ([]webm.Chapter, error) {
	f, film, err := r.read(t)
	if err != nil {
		return nil, err
	}
	return film.Chapters, f.Close()
}

// WriteClip writes the last part of a film as WebM, shortened to fit maxBytes.
func (r *Recorder) WriteClip(to io.WriteSeeker, t sessions.TaskRecord, last time.Duration, maxBytes int64) error {
	f, film, err := r.read(t)
	if err != nil {
		return err
	}
	return errors.Join(film.WriteClip(to, last, maxBytes), f.Close())
}
