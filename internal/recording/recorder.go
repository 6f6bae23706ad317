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

// Recorder writes the bundles of running tasks. Its exported fields are set before its first use and not changed
// after; its methods are safe for concurrent use. It stands around a backend ([Recorder.Backend]), which begins and
// ends a run, and around what the backend uses ([Recorder.Model], [Recorder.ComputerUseModel], [Recorder.Browser]);
// whose call it is the context says ([llm.AccountOf]). What no run belongs to passes unrecorded.
//
// Lines are written where things happen, in order and without a queue; the files of pictures by a goroutine that the
// end of a run waits for. A bundle that cannot be written is told to the log once, and the task goes on.
type Recorder struct {
	Dir      string                   // holds a directory for each run, named by the task
	Versions map[string]string        // of the program and of what it uses
	Settings func() map[string]any    // those that matter for a run; nil = none
	Places   map[string]string        // names people use for addresses, and the addresses
	Clean    func(line []byte) []byte // takes what is kept secret out of a line of JSON; nil = nothing
	MaxBytes int64                    // of one bundle; 0 = 32 MB
	DiskFull func() bool              // says that no pictures may be kept now; nil = never
	Logger   *slog.Logger             // nil = none
	Now      func() time.Time         // nil = time.Now

	mu   sync.Mutex
	runs map[string]*runWriter // by task
	// carriedPasswords are the passwords that tasks have typed whose work is handed over to another backend.
	carriedPasswords map[string][]string
}

const maxBytes = 32 << 20

// Backend returns b wrapped so that it is recorded under the name of its runtime.
func (r *Recorder) Backend(runtime string, b sessions.Backend) sessions.Backend {
	return &recordedBackend{recorder: r, runtime: runtime, Backend: b}
}

type recordedBackend struct {
	sessions.Backend

	recorder *Recorder
	runtime  string
}

func (b *recordedBackend) Run(ctx context.Context, s sessions.Session, t sessions.Task) iter.Seq2[sessions.Step, error] {
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

// millisSince returns for how long something takes that has begun.
func (r *Recorder) millisSince(begun time.Time) float64 { return milliseconds(r.now().Sub(begun)) }

func (r *Recorder) logger() *slog.Logger { return cmp.Or(r.Logger, slog.New(slog.DiscardHandler)) }
