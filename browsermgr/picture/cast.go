package picture

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Casts are the live views of the tabs of one browser connection. Make it with [NewCasts], give it to page.Connect as an
// observer, and call Close before the connection is closed. It is safe for concurrent use.
type Casts struct {
	log *slog.Logger

	mu     sync.Mutex
	casts  map[*page.Tab]*cast
	closed bool
	wg     sync.WaitGroup
}

// NewCasts makes Casts. logger receives what happens out of sight; nil discards it.
func NewCasts(logger *slog.Logger) *Casts {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Casts{log: logger, casts: map[*page.Tab]*cast{}}
}

// Attach implements page.Observer.
func (c *Casts) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

// Event implements page.Observer.
func (c *Casts) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
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

// ErrNotWatched says that a live view was closed.
var ErrNotWatched = errors.New("the live view is closed")

// WatchOptions say what a viewer would like. Viewers of the same tab share one cast, which is as large, as good and as
// fast as the one who wants most.
type WatchOptions struct {
	// MaxWidth and MaxHeight bound the pictures, in pixels; 0 means no bound. Pictures keep their proportions.
	MaxWidth, MaxHeight int
	// Quality is 1–100; 0 means 70.
	Quality int
	// FPS is the largest number of frames for each second; 0 means 10. At most 60.
	FPS int
	// WebP asks for WebP: it is smaller and takes Chromium more time. It is used if the browser can and every viewer wants it.
	WebP bool
}

func (o WatchOptions) check() (WatchOptions, error) {
	if o.MaxWidth < 0 || o.MaxHeight < 0 || o.Quality < 0 || o.Quality > 100 || o.FPS < 0 || o.FPS > 60 {
		return o, fault.Invalidf("a live view takes sizes from 0, a quality from 1 to 100 and 1 to 60 frames a second")
	}
	if o.Quality == 0 {
		o.Quality = 70
	}
	if o.FPS == 0 {
		o.FPS = 10
	}
	return o, nil
}

// join is what serves two viewers.
func (o WatchOptions) join(p WatchOptions) WatchOptions {
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

// View is one viewer's place at a cast. The viewer owns it and closes it; it is for one goroutine at a time, but for Close.
type View struct {
	cast    *cast
	options WatchOptions
	closed  chan struct{}
	once    sync.Once

	seen int       // number of the last frame taken
	next time.Time // not before
}

// Watch begins to watch a tab; the caller closes the View. ctx bounds the beginning only. The cast survives navigation and
// crashes, and ends with its last View, with the tab, or with Close.
func (c *Casts) Watch(ctx context.Context, t *page.Tab, o WatchOptions) (*View, error) {
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	v := &View{options: o, closed: make(chan struct{})}
	for v.cast == nil {
		if err := t.Err(); err != nil && !errors.Is(err, page.ErrTabCrashed) {
			return nil, fmt.Errorf("watch tab %s: %w", t.ID(), err)
		}
		ending, err := c.join(t, v) // a cast outlives the call that begins it
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
	if err := v.cast.failure(); err != nil {
		v.Close()
		return nil, fmt.Errorf("watch tab %s: %w", t.ID(), err)
	}
	return v, nil
}

// join gives a viewer a place at the tab's cast, making one if there is none. If one is about to end it returns what to
// wait for.
func (c *Casts) join(t *page.Tab, v *View) (ending <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrNotWatched
	}
	running := c.casts[t]
	if running == nil {
		life, stop := context.WithCancel(context.Background())
		running = newCast(t, c.log, stop)
		c.casts[t] = running
		running.add(v)
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
	if !running.add(v) {
		return running.done, nil
	}
	v.cast = running
	return nil, nil
}

// Close ends all casts and waits for them.
func (c *Casts) Close() {
	c.mu.Lock()
	c.closed = true
	for _, running := range c.casts {
		running.end(ErrNotWatched)
	}
	c.mu.Unlock()
	c.wg.Wait()
}

// Next waits for a frame that this viewer has not seen, and returns the latest there is: frames that came while the viewer
// was busy are passed over. The first call returns at once if the cast has shown anything yet. The error is ctx's cause,
// [ErrNotWatched] after Close, or tells that the tab or the browser is gone. The data of a frame are shared: they must not
// be changed.
func (v *View) Next(ctx context.Context) (Frame, error) {
	if wait := time.Until(v.next); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return Frame{}, context.Cause(ctx)
		case <-v.closed:
			return Frame{}, ErrNotWatched
		case <-v.cast.done:
		}
	}
	for {
		f, changed, err := v.cast.take(v.seen)
		if err != nil {
			return Frame{}, err
		}
		if f != nil {
			v.seen, v.next = f.Number, time.Now().Add(v.options.interval())
			return *f, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Frame{}, context.Cause(ctx)
		case <-v.closed:
			return Frame{}, ErrNotWatched
		}
	}
}

// Refresh asks for a new frame although the page has not changed. It does not wait for it: Next does.
func (v *View) Refresh() { v.cast.restart() }

// Close gives up the place. With the last viewer the cast ends, and Close returns when Chromium has been told. It may be
// called more than once and at any time.
func (v *View) Close() {
	v.once.Do(func() { close(v.closed) })
	if v.cast.remove(v) {
		<-v.cast.done
	}
}
