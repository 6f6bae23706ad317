package recording

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"clank/llm"
	"clank/sessions"
)

// Recorder writes the bundles of running tasks. Set its exported fields before first use; its methods are safe for
// concurrent use. It wraps a backend ([Recorder.Backend]), which starts and ends a run, and what the backend uses
// ([Recorder.Model], [Recorder.ComputerUseModel], [Recorder.Browser]); the context identifies the run
// ([llm.AccountOf]). Calls that belong to no run are not recorded.
//
// Entries are written synchronously and in order; image files by a goroutine that the end of a run waits for. If a
// bundle cannot be written, this is logged once and the task continues.
type Recorder struct {
	Dir      string                   // contains a directory for each run, named after the task
	Versions map[string]string        // of the program and its dependencies
	Settings func() map[string]any    // the settings that matter for a run; nil means none
	Places   map[string]string        // named pages and their addresses
	Clean    func(line []byte) []byte // removes secrets from a line of JSON; nil removes nothing
	MaxBytes int64                    // of one bundle; 0 means 32 MB
	DiskFull func() bool              // reports that images must not be stored now; nil means never
	Logger   *slog.Logger             // nil discards
	Now      func() time.Time         // nil means time.Now

	mu   sync.Mutex
	runs map[string]*runWriter // by task
	// carriedPasswords are the passwords typed by tasks that were handed over to another backend.
	carriedPasswords map[string][]string
}

const maxBytes = 32 << 20

// Backend returns b wrapped so that its tasks are recorded under the name of its runtime.
func (r *Recorder) Backend(runtime string, b sessions.Backend) sessions.Backend {
	return &recordedBackend{recorder: r, runtime: runtime, Backend: b}
}

type recordedBackend struct {
	sessions.Backend

	recorder *Recorder
	runtime  string
}

func (b *recordedBackend) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step,
	error] {
	return func(yield func(sessions.Step, error) bool) {
		account := llm.AccountOf(ctx)
		if account.Task == "" {
			account.Task, account.Session = t.ID, s.ID
		}
		working := llm.WithAccount(ctx, account)
		this := b.recorder.startRun(account.Task, RunStart{Task: t, Runtime: b.runtime, Session: s.ID, URL: s.URL})
		var last error
		defer func() { b.recorder.endRun(account.Task, this, last) }()
		for step, err := range b.Backend.Run(working, s, t) {
			if err != nil {
				last = err
			} else {
				this.observeStep(step)
			}
			if !yield(step, err) {
				if last == nil && step.Kind != sessions.StepAnswer {
					last = errConsumerStopped
				}
				return
			}
		}
	}
}

var errConsumerStopped = errors.New("nobody followed the task any more")

// startRun opens the bundle of a task.
func (r *Recorder) startRun(task string, b RunStart) *runWriter {
	b.Format, b.Versions, b.Places = FormatVersion, r.Versions, r.Places
	if r.Settings != nil {
		b.Settings = r.Settings()
	}
	this := &runWriter{recorder: r, limit: r.MaxBytes, opened: r.now()}
	if this.limit <= 0 {
		this.limit = maxBytes
	}
	if err := this.open(r.Dir, task); err != nil {
		this.broken = true
		r.logger().Warn("run is not recorded", "task", task, "err", err)
	}
	r.mu.Lock()
	if r.runs == nil {
		r.runs, r.carriedPasswords = make(map[string]*runWriter), make(map[string][]string)
	}
	r.runs[task] = this
	for _, word := range r.carriedPasswords[task] {
		this.secrets.learn(word)
	}
	for _, word := range sessions.LikelyCodes(b.Task.Prompt) {
		this.secrets.learn(word)
	}
	delete(r.carriedPasswords, task)
	r.mu.Unlock()
	this.write(Entry{Kind: KindBegin, Begin: &b})
	return this
}

// endRun closes the bundle of a task.
func (r *Recorder) endRun(task string, this *runWriter, why error) {
	r.mu.Lock()
	if r.runs[task] == this {
		delete(r.runs, task)
	}
	if over := (*sessions.HandOverError)(nil); errors.As(why, &over) {
		r.carriedPasswords[task] = this.passwords()
	}
	r.mu.Unlock()
	e := RunEnd{}
	if why != nil {
		e.Error = why.Error()
	}
	this.close(e)
}

// runOf returns the run that ctx belongs to, or nil.
func (r *Recorder) runOf(ctx context.Context) *runWriter {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[llm.AccountOf(ctx).Task]
}

// Running reports whether the task with this id is being recorded.
func (r *Recorder) Running(task string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[task] != nil
}

func (r *Recorder) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// millisSince returns the time since begun in milliseconds.
func (r *Recorder) millisSince(begun time.Time) float64 { return milliseconds(r.now().Sub(begun)) }

func (r *Recorder) logger() *slog.Logger { return cmp.Or(r.Logger, slog.New(slog.DiscardHandler)) }
