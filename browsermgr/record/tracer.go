package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Errors for use with [errors.Is].
var (
	// ErrTraceRunning is returned if a trace is already running.
	ErrTraceRunning = errors.New("a trace is running already: stop it first")
	// ErrNoTrace is returned if no trace is running.
	ErrNoTrace = errors.New("no trace is running: start one first")
)

// TraceOptions selects what a trace contains besides actions, messages and requests.
type TraceOptions struct {
	Screenshots bool // pictures of the pages, several per second
	Snapshots   bool // the documents before and after each action
	Sources     bool // accepted, but there are none; the trace says so

	// DocumentLimit bounds capturing the documents of a tab before or after an action; 0 means one second. What takes
	// longer is left out.
	DocumentLimit time.Duration
}

// Tracer records traces of one connection, one at a time. It is safe for concurrent use.
type Tracer struct {
	dir      string
	recorder *Recorder
	log      *slog.Logger

	wg sync.WaitGroup // goroutines that watch browsers

	mu        sync.Mutex
	run       *traceRun
	lastError error // why the last trace was lost
}

// NewTracer returns a Tracer that keeps running traces below dir. It and the recorder must both be observers of the
// same connection. A nil log discards.
func NewTracer(dir string, recorder *Recorder, log *slog.Logger) *Tracer {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Tracer{dir: dir, recorder: recorder, log: log}
}

// Start begins a trace of all present and future tabs of the browser. It runs until [Tracer.Stop] or [Tracer.Abort], or
// until the connection ends, which discards it. The error wraps [ErrTraceRunning] if a trace is running.
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

// watchBrowser discards the trace when its connection ends. The caller holds t.mu.
func (t *Tracer) watchBrowser(b *page.Browser, r *traceRun) {
	t.wg.Go(func() {
		select {
		case <-r.ended:
		case <-b.Done():
			t.abandonRun(r)
		}
	})
}

// takeRun returns the running trace and removes it from t.
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

// Stop ends the trace and writes it atomically to path. If that fails, or ctx ends, the trace is discarded. The error
// wraps [ErrNoTrace] if none is running.
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

// Abort discards the running trace, if any.
func (t *Tracer) Abort() {
	r, err := t.takeRun()
	if err != nil {
		return
	}
	r.abort()
}

// Close calls [Tracer.Abort] and waits for the Tracer's goroutines. It implements [io.Closer].
func (t *Tracer) Close() error {
	t.Abort()
	t.wg.Wait()
	return nil
}

// abandonRun discards a trace whose connection has ended.
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

// running returns the running trace, or nil.
func (t *Tracer) running() *traceRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run
}

// Attach implements [page.Observer]. It requests nothing.
func (t *Tracer) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

// Event implements [page.Observer]. It records screencast frames and starts the screencast of new tabs.
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

// BeginAction records that an action begins in the tab, with its document, and returns a function that records the end.
// Without a running trace both do nothing. Typed and filled-in text and secrets in URLs are not recorded. Capturing the
// document takes at most Options.DocumentLimit, and ends with ctx.
func (t *Tracer) BeginAction(ctx context.Context, tab *page.Tab, action string, params any) (end func(error)) {
	r := t.running()
	if r == nil {
		return func(error) {}
	}
	return r.beginAction(ctx, tab, action, params)
}

// traceRun is a running trace. Its own goroutines write to disk, so that callers do not wait for that.
type traceRun struct {
	spool       *traceSpool
	opts        TraceOptions
	log         *slog.Logger
	began       time.Time
	unsubscribe func()
	cancel      context.CancelFunc // cancels what the goroutines wait for
	wg          sync.WaitGroup
	ended       chan struct{} // closed when events are no longer recorded

	mu      sync.Mutex
	closed  bool
	jobs    chan runJob // lines and pictures
	bodies  chan runJob // jobs that wait for Chromium
	acks    chan frameAck
	dropped int
	full    map[string]bool // kinds of content already reported as omitted
	tabs    map[*page.Tab]bool
	calls   int
	shown   map[string]shownDocument // by frame id
}

// runJob is work for a goroutine of the run. Its context ends when the run must end.
type runJob func(context.Context)

const (
	queueLength = 128
	// drainLimit bounds how long an ending trace waits for outstanding CDP results.
	drainLimit = 3 * time.Second
	// firstLineTime is the timestamp of the first line, in milliseconds.
	firstLineTime = 1000
)

func newTraceRun(s *traceSpool, opts TraceOptions, log *slog.Logger) *traceRun {
	if opts.DocumentLimit <= 0 {
		opts.DocumentLimit = time.Second
	}
	return &traceRun{
		spool: s, opts: opts, log: log, began: time.Now(), ended: make(chan struct{}),
		jobs: make(chan runJob, queueLength), bodies: make(chan runJob, queueLength), acks: make(chan frameAck, queueLength),
		full: map[string]bool{}, tabs: map[*page.Tab]bool{}, shown: map[string]shownDocument{},
	}
}

// start begins recording. The goroutines end with [traceRun.close] or abort.
func (r *traceRun) start(b *page.Browser, recorder *Recorder) {
	r.writeLine(traceLines, contextOptions{
		Version: formatVersion, Type: "context-options", Origin: "library", BrowserName: "chromium", Platform: runtime.GOOS,
		WallTime: toMillis(r.began), MonotonicTime: firstLineTime, SDKLanguage: "javascript", Title: "clank",
		Options: map[string]any{"viewport": sizeData{Width: 1280, Height: 720}},
	})
	if r.opts.Sources {
		r.writeNote("sources were asked for, but there is no program whose sources could be shown")
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.wg.Go(func() { runJobs(ctx, r.jobs) })
	r.wg.Go(func() { runJobs(ctx, r.bodies) })
	r.wg.Go(func() { r.acknowledgeFrames(ctx) })
	r.unsubscribe = recorder.Subscribe(r.handleRecorded)
	for _, tab := range b.Tabs() {
		r.addTab(tab)
	}
}

func runJobs(ctx context.Context, jobs <-chan runJob) {
	for do := range jobs {
		do(ctx)
	}
}

// enqueue queues a job. It never blocks: if the queue is full, the job is dropped and counted.
func (r *traceRun) enqueue(jobs chan runJob, do runJob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	select {
	case jobs <- do:
	default:
		r.dropped++
	}
}

// writeLater queues a line for trace.trace.
func (r *traceRun) writeLater(line any) {
	r.enqueue(r.jobs, func(context.Context) { r.writeLine(traceLines, line) })
}

// writeLine writes a line, and reports once if the trace is full. It returns whether the line was written.
func (r *traceRun) writeLine(which int, line any) bool {
	err := r.spool.addLine(which, line)
	if err != nil {
		r.reportOmitted("lines", err)
	}
	return err == nil
}

// reportOmitted reports once for each kind of content that it is omitted from now on.
func (r *traceRun) reportOmitted(kind string, err error) {
	if errors.Is(err, errTraceEnded) {
		return
	}
	r.mu.Lock()
	told := r.full[kind]
	r.full[kind] = true
	r.mu.Unlock()
	if told {
		return
	}
	if !errors.Is(err, errTraceFull) {
		r.log.Warn("trace is incomplete", "kind", kind, "error", err)
	}
	// A full trace has no room for this note either.
	_ = r.spool.addLine(traceLines,
		noteLine{Type: "stderr", Timestamp: r.now(), Text: fmt.Sprintf("trace: %s are left out from here on: %v\n", kind,
			err)})
}

// writeNote writes a note about the trace itself for its viewers.
func (r *traceRun) writeNote(text string) {
	r.writeLater(noteLine{Type: "stderr", Timestamp: r.now(), Text: "trace: " + text + "\n"})
}

// now returns the present timestamp.
func (r *traceRun) now() float64 { return r.timeOf(time.Now()) }

func (r *traceRun) timeOf(t time.Time) float64 {
	return firstLineTime + float64(t.Sub(r.began).Microseconds())/1000
}

func toMillis(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// addTab starts recording a tab, unless it is recorded already.
func (r *traceRun) addTab(tab *page.Tab) {
	r.mu.Lock()
	known := r.closed || r.tabs[tab]
	r.tabs[tab] = true
	r.mu.Unlock()
	if known {
		return
	}
	r.writeLater(eventLine{
		Type: "event", Time: r.now(), Class: "BrowserContext", Method: "page", PageID: viewerPageID(tab),
		Params: map[string]any{"pageId": viewerPageID(tab)},
	})
	if r.opts.Screenshots {
		r.startScreencast(tab)
	}
}

func viewerPageID(tab *page.Tab) string { return "page@" + tab.ID() }

// close stops recording and waits, within limits, until queued data is written.
func (r *traceRun) close(ctx context.Context) {
	r.unsubscribe()
	close(r.ended)
	r.mu.Lock()
	dropped := r.dropped
	r.closed = true
	close(r.jobs)
	close(r.bodies)
	close(r.acks)
	tabs := r.tabs
	r.mu.Unlock()
	if r.opts.Screenshots {
		for tab := range tabs {
			tab.MainFrame().Post(proto.PageStopScreencast{})
		}
	}
	overdue := time.AfterFunc(drainLimit, r.cancel)
	stopped := context.AfterFunc(ctx, r.cancel)
	r.wg.Wait()
	overdue.Stop()
	stopped()
	r.cancel()
	if dropped > 0 {
		_ = r.spool.addLine(traceLines, noteLine{ // an error leaves the trace incomplete
			Type: "stderr", Timestamp: r.now(), Text: fmt.Sprintf("trace: %d lines came too fast and are missing\n", dropped),
		})
	}
}

// abort ends the trace at once and removes its files.
func (r *traceRun) abort() {
	ended, end := context.WithCancel(context.Background())
	end()
	r.close(ended)
	r.spool.discard()
}
