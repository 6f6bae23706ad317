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

// traceRun is one trace while it runs. What it is told is written by goroutines of its own, so that nobody waits for
// the disk.
type traceRun struct {
	spool       *traceSpool
	opts        TraceOptions
	log         *slog.Logger
	began       time.Time
	unsubscribe func()
	cancel      context.CancelFunc // ends what the goroutines wait for
	wg          sync.WaitGroup
	ended       chan struct{} // closed when listening ends

	mu      sync.Mutex
	closed  bool
	jobs    chan runJob // lines and pictures
	bodies  chan runJob // what waits for Chromium
	acks    chan frameAck
	dropped int
	full    map[string]bool // kinds of content that there was no room for, once told
	tabs    map[*page.Tab]bool
	calls   int
	shown   map[string]shownDocument // by frame
}

// runJob is something to be done by a goroutine of the run. Its context ends when the run has no more time.
type runJob func(context.Context)

const (
	queueLength = 128
	// drainLimit bounds how long a trace that ends waits for what Chromium was asked for.
	drainLimit = 3 * time.Second
	// firstLineTime is the time of the first line, in milliseconds.
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

// start begins to listen. The goroutines end with [run.close].
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

// enqueue has something done in order. It never blocks: what there is no room for is dropped and counted.
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

// writeLater has a line written to trace.trace.
func (r *traceRun) writeLater(line any) {
	r.enqueue(r.jobs, func(context.Context) { r.writeLine(traceLines, line) })
}

// writeLine writes a line and says once if there is no room. It reports whether there was.
func (r *traceRun) writeLine(which int, line any) bool {
	err := r.spool.addLine(which, line)
	if err != nil {
		r.reportOmitted("lines", err)
	}
	return err == nil
}

// reportOmitted tells once of each kind of content that is left out from now on.
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
	// Lines that do not fit any more cannot say so.
	_ = r.spool.addLine(traceLines, noteLine{Type: "stderr", Timestamp: r.now(), Text: fmt.Sprintf("trace: %s are left out from here on: %v\n", kind, err)})
}

// writeNote tells whoever looks at the trace something about itself.
func (r *traceRun) writeNote(text string) {
	r.writeLater(noteLine{Type: "stderr", Timestamp: r.now(), Text: "trace: " + text + "\n"})
}

// now returns the time of a line.
func (r *traceRun) now() float64 { return r.timeOf(time.Now()) }

func (r *traceRun) timeOf(t time.Time) float64 {
	return firstLineTime + float64(t.Sub(r.began).Microseconds())/1000
}

func toMillis(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// addTab takes up a tab that has not been seen yet.
func (r *traceRun) addTab(tab *page.Tab) {
	r.mu.Lock()
	known := r.closed || r.tabs[tab]
	r.tabs[tab] = true
	r.mu.Unlock()
	if known {
		return
	}
	r.writeLater(eventLine{
		Type: "event", Time: r.now(), Class: "BrowserContext", Method: "page", PageID: viewerPageID(tab), Params: map[string]any{"pageId": viewerPageID(tab)},
	})
	if r.opts.Screenshots {
		r.startScreencast(tab)
	}
}

func viewerPageID(tab *page.Tab) string { return "page@" + tab.ID() }

// close ends listening and waits until what was told so far is written, but not for ever.
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
		_ = r.spool.addLine(traceLines, noteLine{ // the trace is as good as it will be
			Type: "stderr", Timestamp: r.now(), Text: fmt.Sprintf("trace: %d lines came too fast and are missing\n", dropped),
		})
	}
}

// abort ends the trace at once and removes it.
func (r *traceRun) abort() {
	ended, end := context.WithCancel(context.Background())
	end()
	r.close(ended)
	r.spool.discard()
}
