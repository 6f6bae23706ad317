package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Sentinels for those who have to tell these cases apart.
var (
	// ErrTraceRunning says that a trace runs already.
	ErrTraceRunning = errors.New("a trace is running already: stop it first")
	// ErrNoTrace says that no trace runs.
	ErrNoTrace = errors.New("no trace is running: start one first")
)

// TraceOptions says what a trace shows beside actions, messages and requests.
type TraceOptions struct {
	Screenshots bool // pictures of the pages, some each second
	Snapshots   bool // the documents before and after each action
	Sources     bool // accepted; there are none to show, and the trace says so

	// DocumentLimit bounds the time that the documents of a tab take, before an action and after it; 0 means a second.
	// What takes longer is left out.
	DocumentLimit time.Duration
}

// Tracer runs traces of one connection, one at a time. It is safe for concurrent use.
type Tracer struct {
	dir      string
	recorder *Recorder
	log      *slog.Logger

	wg sync.WaitGroup // of the goroutines that watch browsers

	mu        sync.Mutex
	run       *traceRun
	lastError error // why the last trace ended without being stopped
}

// NewTracer makes a Tracer whose traces are kept under dir while they run. The recorder must observe the same
// connection, and both are given to page.Connect. A nil log discards.
func NewTracer(dir string, recorder *Recorder, log *slog.Logger) *Tracer {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Tracer{dir: dir, recorder: recorder, log: log}
}

// Start begins a trace of all tabs of the browser, those that come later included. It goes on until [Tracer.Stop] or
// [Tracer.Abort], or until the connection ends, when nothing is left of it. The error wraps [ErrTraceRunning] if one
// runs.
func (t *Tracer) Start(b *page.Browser, opts TraceOptions) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != nil {
		return ErrTraceRunning
	}
	select {
	case <-b.Done():
		return fmt.Errorf("start a trace: %w", page.ErrBrowserGone)
	default:
	}
	s, err := newTraceSpool(t.dir)
	if err != nil {
		return fmt.Errorf("start a trace: %w", err)
	}
	t.run, t.lastError = newTraceRun(s, opts, t.log), nil
	t.run.start(b, t.recorder)
	t.watchBrowser(b, t.run)
	return nil
}

// watchBrowser gives up the trace when its browser goes away. The caller holds t.mu.
func (t *Tracer) watchBrowser(b *page.Browser, r *traceRun) {
	t.wg.Go(func() {
		select {
		case <-r.ended:
		case <-b.Done():
			t.abandonRun(r)
		}
	})
}

// takeRun ends the trace's being the one that runs.
func (t *Tracer) takeRun() (*traceRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, lost := t.run, t.lastError
	t.run, t.lastError = nil, nil
	switch {
	case r != nil:
		return r, nil
	case lost != nil:
		return nil, fmt.Errorf("%w; the last one was lost: %w", ErrNoTrace, lost)
	}
	return nil, ErrNoTrace
}

// Stop ends the trace and writes it to path, whole or not at all. If that fails, or ctx ends, nothing is left of the
// trace. The error wraps [ErrNoTrace] if none runs.
func (t *Tracer) Stop(ctx context.Context, path string) error {
	r, err := t.takeRun()
	if err != nil {
		return err
	}
	r.close(ctx)
	if ctx.Err() != nil {
		r.spool.discard()
		return fmt.Errorf("stop the trace: %w", context.Cause(ctx))
	}
	return r.spool.finish(ctx, path)
}

// Abort ends the trace, if one runs, and forgets it.
func (t *Tracer) Abort() {
	r, err := t.takeRun()
	if err != nil {
		return
	}
	r.abort()
}

// Close calls [Tracer.Abort] and waits for the goroutines of the Tracer. It is an [io.Closer].
func (t *Tracer) Close() error {
	t.Abort()
	t.wg.Wait()
	return nil
}

// abandonRun gives up a trace whose browser is gone.
func (t *Tracer) abandonRun(r *traceRun) {
	t.mu.Lock()
	mine := t.run == r
	if mine {
		t.run, t.lastError = nil, page.ErrBrowserGone
	}
	t.mu.Unlock()
	if mine {
		t.log.Warn("trace lost: the browser is gone")
		r.abort()
	}
}

// running returns the present run or nil.
func (t *Tracer) running() *traceRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run
}

// Attach asks nothing of new sessions.
func (t *Tracer) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

// Event takes pictures, and begins to ask for them in tabs that are new.
func (t *Tracer) Event(tab *page.Tab, f *frame.Frame, ev cdp.Event) {
	if tab == nil || f.Parent() != nil || ev.Method != "Page.screencastFrame" && ev.Method != "Page.loadEventFired" {
		return
	}
	r := t.running()
	switch {
	case r == nil:
	case ev.Method == "Page.screencastFrame":
		r.addFrame(tab, f, ev)
	default:
		r.addTab(tab)
	}
}

// BeginAction notes that an action begins in the tab, with the document before it, and returns what notes its end.
// Without a trace both do nothing. What is typed or filled in is not written down; nor are secrets in addresses. The
// document is given no more than Options.DocumentLimit; ctx ends that, too.
func (t *Tracer) BeginAction(ctx context.Context, tab *page.Tab, action string, params any) (end func(error)) {
	r := t.running()
	if r == nil {
		return func(error) {}
	}
	return r.beginAction(ctx, tab, action, params)
}
