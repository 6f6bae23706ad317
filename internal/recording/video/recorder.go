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

// Mode says which tasks are filmed.
type Mode int

// The modes.
const (
	Never     Mode = iota
	OnRequest      // those of sessions for which [Recorder.Request] was called
	Always
)

// linger is how long the end of a task is filmed: what it has led to, which for a short one is all there is to see.
const linger = 2 * time.Second

// Recorder films tasks. Its fields are set before Run and not changed after that. Its methods are safe for concurrent
// use.
type Recorder struct {
	Dir         string // holds a folder for each place
	Manager     Manager
	Mode        func() Mode
	Screen      func(session string) videosource.Screenshotter
	OpenEncoder func(context.Context) (videosource.Encoder, error)        // nil: films are made of key frames
	Keep        func(session string, place sessions.Place, n int64) error // whether there is room for n bytes more
	Logger      *slog.Logger

	mu        sync.Mutex
	requested map[string]bool                // sessions
	tasks     map[string]sessions.TaskRecord // that run, by their ids
	films     map[string]*film               // of these, until the file is finished
	work      sync.WaitGroup
	end       context.Context //nolint:containedctx // of Run, for films that are begun on request
}

// Run films until ctx ends, and finishes the films.
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

// follow takes events until ctx ends, or there are no more.
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
			for _, f := range r.films { // what comes now may be private
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

// begin films a task, if it is wanted. r.mu is held.
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

// finish lets the film of a task show what has come of it, and end. r.mu is held.
func (r *Recorder) finish(task string) {
	if f := r.films[task]; f != nil {
		time.AfterFunc(linger, f.stop)
	}
}

// ErrOff says that the settings do not allow films on request.
var ErrOff = errors.New("recording sessions is turned off in the settings")

// Request films the tasks of a session from now on, the one that runs among them, or films them no more.
func (r *Recorder) Request(session string, on bool) error {
	if on && r.Mode() == Never {
		return ErrOff
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requested == nil {
		return ErrOff
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

// Requested reports whether the tasks of a session are filmed, and whether that is as people request it.
func (r *Recorder) Requested(session string) (on, possible bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mode := r.Mode()
	return mode == Always || mode == OnRequest && r.requested[session], mode == OnRequest
}

// path returns where the film of a task is.
func (r *Recorder) path(t sessions.Task) string {
	return filepath.Join(r.Dir, t.Origin.Place(false).Profile("film"), filepath.Base(t.ID)+".webm")
}

// Open returns the film of a task, also while it grows. The error is an [os.ErrNotExist] where there is none. The
// caller closes it.
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

// read reads the film of a task. The caller closes the file.
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

// Chapters returns the steps of a finished film: their numbers are their ids, 0 is a time that was left out.
func (r *Recorder) Chapters(t sessions.TaskRecord) ([]webm.Chapter, error) {
	f, film, err := r.read(t)
	if err != nil {
		return nil, err
	}
	return film.Chapters, f.Close()
}

// WriteClip writes the last part of a film, of so long, as WebM: less where it were more than so many bytes.
func (r *Recorder) WriteClip(to io.WriteSeeker, t sessions.TaskRecord, last time.Duration, maxBytes int64) error {
	f, film, err := r.read(t)
	if err != nil {
		return err
	}
	return errors.Join(film.WriteClip(to, last, maxBytes), f.Close())
}
