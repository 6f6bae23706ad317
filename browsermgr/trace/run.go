package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/record"

	"github.com/go-rod/rod/lib/proto"
)

// run is one trace while it runs. What it is told is written by goroutines of its own, so that nobody waits for the disk.
type run struct {
	spool   *spool
	opts    Options
	log     *slog.Logger
	began   time.Time
	unwatch func()
	cancel  context.CancelFunc // ends what the goroutines wait for
	wg      sync.WaitGroup
	ended   chan struct{} // closed when listening ends

	mu      sync.Mutex
	closed  bool
	jobs    chan job // lines and pictures
	bodies  chan job // what waits for Chromium
	acks    chan ack
	dropped int
	full    map[string]bool // kinds of content that there was no room for, once told
	tabs    map[*page.Tab]bool
	calls   int
	shown   map[string]shown // by frame
}

// job is something to be done by a goroutine of the run. Its context ends when the run has no more time.
type job func(context.Context)

const (
	queueLength = 128
	// drainLimit bounds how long a trace that ends waits for what Chromium was asked for.
	drainLimit = 3 * time.Second
	// head is the time of the first line, in milliseconds.
	head = 1000
)

func newRun(s *spool, opts Options, log *slog.Logger) *run {
	if opts.DocumentLimit <= 0 {
		opts.DocumentLimit = time.Second
	}
	return &run{
		spool: s, opts: opts, log: log, began: time.Now(), ended: make(chan struct{}),
		jobs: make(chan job, queueLength), bodies: make(chan job, queueLength), acks: make(chan ack, queueLength),
		full: map[string]bool{}, tabs: map[*page.Tab]bool{}, shown: map[string]shown{},
	}
}

// start begins to listen. The goroutines end with [run.close].
func (r *run) start(b *page.Browser, recorder *record.Recorder) {
	r.write(traceLines, contextOptions{
		Version: formatVersion, Type: "context-options", Origin: "library", BrowserName: "chromium", Platform: runtime.GOOS,
		WallTime: millis(r.began), MonotonicTime: head, SDKLanguage: "javascript", Title: "clank",
		Options: map[string]any{"viewport": size{Width: 1280, Height: 720}},
	})
	if r.opts.Sources {
		r.note("sources were asked for, but there is no program whose sources could be shown")
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.wg.Go(func() { work(ctx, r.jobs) })
	r.wg.Go(func() { work(ctx, r.bodies) })
	r.wg.Go(func() { r.pace(ctx) })
	r.unwatch = recorder.Watch(r.notice)
	for _, tab := range b.Tabs() {
		r.meet(tab)
	}
}

func work(ctx context.Context, jobs <-chan job) {
	for do := range jobs {
		do(ctx)
	}
}

// enqueue has something done in order. It never blocks: what there is no room for is dropped and counted.
func (r *run) enqueue(jobs chan job, do job) {
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

// put has a line written to trace.trace.
func (r *run) put(line any) {
	r.enqueue(r.jobs, func(context.Context) { r.write(traceLines, line) })
}

// write writes a line and says once if there is no room. It reports whether there was.
func (r *run) write(which int, line any) bool {
	err := r.spool.line(which, line)
	if err != nil {
		r.trouble("lines", err)
	}
	return err == nil
}

// trouble tells once of each kind of content that is left out from now on.
func (r *run) trouble(kind string, err error) {
	if errors.Is(err, errEnded) {
		return
	}
	r.mu.Lock()
	told := r.full[kind]
	r.full[kind] = true
	r.mu.Unlock()
	if told {
		return
	}
	if !errors.Is(err, errFull) {
		r.log.Warn("trace is incomplete", "kind", kind, "error", err)
	}
	// Lines that do not fit any more cannot say so.
	_ = r.spool.line(traceLines, noteLine{Type: "stderr", Timestamp: r.now(), Text: fmt.Sprintf("trace: %s are left out from here on: %v\n", kind, err)})
}

// note tells whoever looks at the trace something about itself.
func (r *run) note(text string) {
	r.put(noteLine{Type: "stderr", Timestamp: r.now(), Text: "trace: " + text + "\n"})
}

// now is the time of a line.
func (r *run) now() float64 { return r.at(time.Now()) }

func (r *run) at(t time.Time) float64 { return head + float64(t.Sub(r.began).Microseconds())/1000 }

func millis(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// meet takes up a tab that has not been seen yet.
func (r *run) meet(tab *page.Tab) {
	r.mu.Lock()
	known := r.closed || r.tabs[tab]
	r.tabs[tab] = true
	r.mu.Unlock()
	if known {
		return
	}
	r.put(eventLine{
		Type: "event", Time: r.now(), Class: "BrowserContext", Method: "page", PageID: pageID(tab), Params: map[string]any{"pageId": pageID(tab)},
	})
	if r.opts.Screenshots {
		r.cast(tab)
	}
}

func pageID(tab *page.Tab) string { return "page@" + tab.ID() }

// close ends listening and waits until what was told so far is written, but not for ever.
func (r *run) close(ctx context.Context) {
	r.unwatch()
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
			tab.Main().Post(proto.PageStopScreencast{})
		}
	}
	overdue := time.AfterFunc(drainLimit, r.cancel)
	stopped := context.AfterFunc(ctx, r.cancel)
	r.wg.Wait()
	overdue.Stop()
	stopped()
	r.cancel()
	if dropped > 0 {
		_ = r.spool.line(traceLines, noteLine{ // the trace is as good as it will be
			Type: "stderr", Timestamp: r.now(), Text: fmt.Sprintf("trace: %d lines came too fast and are missing\n", dropped),
		})
	}
}

// abort ends the trace at once and removes it.
func (r *run) abort() {
	ended, end := context.WithCancel(context.Background())
	end()
	r.close(ended)
	r.spool.discard()
}
