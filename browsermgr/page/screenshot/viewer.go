package screenshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Screencasts are the live views of the tabs of one browser connection. Make it with [NewScreencasts], give it to
// page.Connect as an observer, and call Close before the connection is closed. It is safe for concurrent use.
type Screencasts struct {
	log *slog.Logger

	mu     sync.Mutex
	casts  map[*page.Tab]*screencast
	closed bool
	wg     sync.WaitGroup
}

// NewScreencasts makes Casts. logger receives what happens out of sight; nil discards it.
func NewScreencasts(logger *slog.Logger) *Screencasts {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &Screencasts{log: logger, casts: map[*page.Tab]*screencast{}}
}

// Attach implements page.Observer.
func (c *Screencasts) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

// Event implements page.Observer.
func (c *Screencasts) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	if ev.Method != "Page.screencastFrame" || f == nil || f.Parent() != nil {
		return
	}
	c.mu.Lock()
	running := c.casts[t]
	c.mu.Unlock()
	if running != nil {
		running.receive(ev)
	}
}

// ErrScreencastOver says that a live view was closed.
var ErrScreencastOver = errors.New("the live view is closed")

// WatchOptions say what a viewer would like. Viewers of the same tab share one cast, which is as large, as good and as
// fast as the one who wants most.
type WatchOptions struct {
	// MaxWidth and MaxHeight bound the pictures, in pixels; 0 means no bound. Pictures keep their proportions.
	MaxWidth, MaxHeight int
	// Quality is 1–100; 0 means 70.
	Quality int
	// FPS is the largest number of frames for each second; 0 means 10. At most 60.
	FPS int
	// WebP asks for WebP: it is smaller and takes Chromium more time. It is used if the browser can and every viewer
	// wants it.
	WebP bool
}

func (o WatchOptions) withDefaults() (WatchOptions, error) {
	if o.MaxWidth < 0 || o.MaxHeight < 0 || o.Quality < 0 || o.Quality > 100 || o.FPS < 0 || o.FPS > 60 {
		return o, fault.Invalidf("a live view takes sizes from 0, a quality from 1 to 100 and 1 to 60 frames a second")
	}
	o.Quality = cmp.Or(o.Quality, 70)
	o.FPS = cmp.Or(o.FPS, 10)
	return o, nil
}

// merge returns options that serve both viewers.
func (o WatchOptions) merge(p WatchOptions) WatchOptions {
	larger := func(a, b int) int {
		if a == 0 || b == 0 {
			return 0
		}
		return max(a, b)
	}
	return WatchOptions{
		MaxWidth: larger(o.MaxWidth, p.MaxWidth), MaxHeight: larger(o.MaxHeight, p.MaxHeight),
		Quality: max(o.Quality, p.Quality), FPS: max(o.FPS, p.FPS), WebP: o.WebP && p.WebP,
	}
}

func (o WatchOptions) interval() time.Duration { return time.Second / time.Duration(o.FPS) }

// Viewer is one viewer's place at a cast. The viewer owns it and closes it; it is for one goroutine at a time, but for
// Close.
type Viewer struct {
	cast    *screencast
	hold    *page.Hold // of the person for whom it is; nil for whoever watches
	options WatchOptions
	closed  chan struct{}
	once    sync.Once

	lastSeen  int       // number of the last frame taken
	notBefore time.Time // not before
}

// Watch begins to watch a tab; the caller closes the View. ctx bounds the beginning only, and says with [page.HoldOf]
// who watches: while a person works the page nobody else sees it. The cast survives navigation and crashes, and ends
// with its last View, with the tab, or with Close.
func (c *Screencasts) Watch(ctx context.Context, t *page.Tab, o WatchOptions) (*Viewer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &Viewer{hold: page.HoldOf(ctx), options: o, closed: make(chan struct{})}
	for v.cast == nil {
		if err := t.Err(); err != nil && !errors.Is(err, page.ErrTabCrashed) {
			return nil, fmt.Errorf("watch tab %s: %w", t.ID(), err)
		}
		ending, err := c.addViewer(t, v) // a cast outlives the call that begins it
		if err != nil {
			return nil, err
		}
		if ending == nil {
			break
		}
		select { // what runs out must have stopped before the next one starts
		case <-ending:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	select {
	case <-v.cast.ready:
	case <-v.cast.done:
	case <-ctx.Done():
		v.Close()
		return nil, fmt.Errorf("watch tab %s: %w", t.ID(), context.Cause(ctx))
	}
	if err := v.cast.endError(); err != nil {
		v.Close()
		return nil, fmt.Errorf("watch tab %s: %w", t.ID(), err)
	}
	return v, nil
}

// addViewer gives a viewer a place at the tab's cast, making one if there is none. If one is about to end it returns
// what to wait for.
func (c *Screencasts) addViewer(t *page.Tab, v *Viewer) (ending <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrScreencastOver
	}
	running := c.casts[t]
	if running == nil {
		life, stop := context.WithCancel(page.Watching(context.Background()))
		running = newScreencast(t, c.log, stop)
		c.casts[t] = running
		running.addViewer(v)
		v.cast = running
		c.wg.Go(func() {
			running.run(life)
			stop()
			c.mu.Lock()
			delete(c.casts, t)
			c.mu.Unlock()
			close(running.done)
		})
		return nil, nil
	}
	if !running.addViewer(v) {
		return running.done, nil
	}
	v.cast = running
	return nil, nil
}

// Refresh has those who watch a tab get a new frame, although the page has not changed.
func (c *Screencasts) Refresh(t *page.Tab) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if running := c.casts[t]; running != nil {
		running.restart()
	}
}

// Close ends all casts and waits for them. It is an [io.Closer].
func (c *Screencasts) Close() error {
	c.mu.Lock()
	c.closed = true
	for _, running := range c.casts {
		running.endWith(ErrScreencastOver)
	}
	c.mu.Unlock()
	c.wg.Wait()
	return nil
}

// Next waits for a frame that this viewer has not seen, and returns the latest there is: frames that came while the
// viewer was busy are passed over. The first call returns at once if the cast has shown anything yet. The error is
// ctx's cause, [ErrScreencastOver] after Close, or tells that the tab or the browser is gone. The data of a frame are
// shared: they must not be changed.
func (v *Viewer) Next(ctx context.Context) (Frame, error) {
	if wait := time.Until(v.notBefore); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return Frame{}, context.Cause(ctx)
		case <-v.closed:
			return Frame{}, ErrScreencastOver
		case <-v.cast.done:
		}
	}
	for {
		f, changed, err := v.cast.latestFor(v)
		if err != nil {
			return Frame{}, err
		}
		if f != nil {
			v.lastSeen, v.notBefore = f.Number, time.Now().Add(v.options.interval())
			return *f, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Frame{}, context.Cause(ctx)
		case <-v.closed:
			return Frame{}, ErrScreencastOver
		}
	}
}

// Refresh asks for a new frame although the page has not changed. It does not wait for it: Next does.
func (v *Viewer) Refresh() { v.cast.restart() }

// Close gives up the place. With the last viewer the cast ends, and Close returns when Chromium has been told. It may
// be called more than once and at any time.
func (v *Viewer) Close() {
	v.once.Do(func() { close(v.closed) })
	if v.cast.removeViewer(v) {
		<-v.cast.done
	}
}
