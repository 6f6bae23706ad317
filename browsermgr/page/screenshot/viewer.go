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

// Screencasts manages the screencasts of the tabs of one browser connection. Make it with [NewScreencasts], pass it to
// page.Connect as an observer, and call Close before the connection is closed. It is safe for concurrent use.
type Screencasts struct {
	log *slog.Logger

	mu     sync.Mutex
	casts  map[*page.Tab]*screencast
	closed bool
	wg     sync.WaitGroup
}

// NewScreencasts returns a Screencasts without viewers. logger receives events that no caller sees; nil discards them.
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

// ErrScreencastOver is returned after the viewer was closed.
var ErrScreencastOver = errors.New("the live view is closed")

// WatchOptions are the wishes of a viewer. Viewers of the same tab share one screencast with the largest size, quality
// and frame rate requested.
type WatchOptions struct {
	// MaxWidth and MaxHeight bound the pictures, in pixels; 0 means no bound. The aspect ratio is kept.
	MaxWidth, MaxHeight int
	// Quality is 1–100; 0 means 70.
	Quality int
	// FPS is the maximum number of frames per second, at most 60; 0 means 10.
	FPS int
	// WebP asks for WebP, which is smaller and takes Chromium longer. It is used if the browser supports it and every
	// viewer asks for it.
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

// merge returns options that satisfy both viewers.
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

// Viewer is one viewer of a screencast. The caller of Watch closes it. Except for Close it is not safe for concurrent
// use.
type Viewer struct {
	cast    *screencast
	hold    *page.Hold // of the person it is for; nil for other viewers
	options WatchOptions
	closed  chan struct{}
	once    sync.Once

	lastSeen  int       // number of the last frame taken
	notBefore time.Time // earliest time of the next frame
}

// Watch starts watching a tab; the caller closes the Viewer. ctx bounds only the start, and identifies the viewer with
// [page.HoldOf]: during a takeover only the person in control sees the page. The screencast survives navigation and
// crashes, and ends with its last Viewer, with the tab, or with Close.
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
		ending, err := c.addViewer(t, v) // a screencast outlives this call
		if err != nil {
			return nil, err
		}
		if ending == nil {
			break
		}
		select { // the old one must have stopped before the next one starts
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

// addViewer adds a viewer to the tab's screencast, creating one if necessary. If one is ending it returns a channel to
// wait for.
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

// Refresh sends a new frame to the viewers of a tab, even if the page has not changed.
func (c *Screencasts) Refresh(t *page.Tab) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if running := c.casts[t]; running != nil {
		running.restart()
	}
}

// Close ends all screencasts and waits for them. It implements [io.Closer].
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

// Next waits for a frame that this viewer has not seen, and returns the latest: frames that came while the viewer was
// busy are skipped. The first call returns at once if there is a frame. The error is the cause of ctx,
// [ErrScreencastOver] after Close, or says that the tab or the browser is gone. Viewers share the frame's data and must
// not change it.
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

// Refresh requests a new frame, even if the page has not changed. It does not wait; Next does.
func (v *Viewer) Refresh() { v.cast.restart() }

// Close stops watching. With the last viewer the screencast ends, and Close returns when Chromium has stopped it. It
// may be called more than once and at any time.
func (v *Viewer) Close() {
	v.once.Do(func() { close(v.closed) })
	if v.cast.removeViewer(v) {
		<-v.cast.done
	}
}
