package picture

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// cast is the screencast of one tab and those who watch it. Chromium sends a frame when the page was drawn anew, and the
// next only after that one was acknowledged: when a viewer has taken it, or, so that the latest is never old, a second
// later.
type cast struct {
	tab   *page.Tab
	log   *slog.Logger
	ready chan struct{}      // closed when the first start has been answered
	done  chan struct{}      // closed by Casts when run has returned
	wake  chan struct{}      // holds a token when run has something to look at
	stop  context.CancelFunc // ends run

	mu      sync.Mutex
	views   map[*View]struct{}
	err     error // why it ended
	ending  bool
	again   bool // start anew
	inbox   []byte
	latest  *Frame
	owed    int  // frames that were not acknowledged
	session int  // what Chromium calls the present start
	taken   bool // by a viewer
	came    time.Time
	changed chan struct{} // closed and replaced with each frame, and at the end
}

func newCast(t *page.Tab, log *slog.Logger, stop context.CancelFunc) *cast {
	return &cast{
		tab: t, log: log, stop: stop, ready: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		views: map[*View]struct{}{}, changed: make(chan struct{}),
	}
}

// stale is after how long an untaken frame is replaced by a newer one, and how often it is looked whether the tab came
// back from a crash.
const stale = time.Second

// add is false if the cast is about to end.
func (c *cast) add(v *View) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	before := c.wanted()
	c.views[v] = struct{}{}
	c.again = c.again || len(c.views) > 1 && c.wanted() != before
	c.nudge()
	return true
}

// remove is true if nobody watches any more.
func (c *cast) remove(v *View) bool {
	c.mu.Lock()
	_, present := c.views[v]
	before := c.wanted()
	delete(c.views, v)
	last := len(c.views) == 0
	if present && !last && c.wanted() != before {
		c.again = true
		c.nudge()
	}
	c.mu.Unlock()
	if last {
		c.end(ErrNotWatched)
	}
	return last
}

// wanted is what serves all viewers. The caller holds c.mu.
func (c *cast) wanted() WatchOptions {
	var o WatchOptions
	first := true
	for v := range c.views {
		if first {
			o, first = v.options, false
		}
		o = o.join(v.options)
	}
	return o
}

func (c *cast) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *cast) end(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return
	}
	c.ending, c.err = true, reason
	c.stop()
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *cast) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *cast) restart() {
	c.mu.Lock()
	c.again = true
	c.mu.Unlock()
	c.nudge()
}

// receive takes a frame. It runs on the reading goroutine; what it costs to read the frame is left to run.
func (c *cast) receive(ev cdp.Event) {
	c.mu.Lock()
	c.inbox = ev.Params
	c.owed++
	c.mu.Unlock()
	c.nudge()
}

// take returns the latest frame if it is newer than the one seen, or what to wait for.
func (c *cast) take(seen int) (*Frame, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, nil, c.err
	}
	if c.latest == nil || c.latest.Number <= seen {
		return nil, c.changed, nil
	}
	if !c.taken {
		c.taken = true
		c.nudge()
	}
	return c.latest, nil, nil
}

// run keeps the cast going until it ends.
func (c *cast) run(ctx context.Context) {
	webp := true
	err := c.start(ctx, &webp)
	if err != nil && !errors.Is(err, page.ErrTabCrashed) {
		c.end(err)
	}
	close(c.ready)
	tick := time.NewTicker(stale)
	defer tick.Stop()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	var acked time.Time
	crashed := err != nil
	for {
		select {
		case <-ctx.Done():
			c.tab.Main().Post(proto.PageStopScreencast{})
			return
		case <-c.tab.Done():
			c.end(c.tab.Err())
			return
		case <-tick.C:
			was := crashed
			if crashed = c.tab.Err() != nil; was && !crashed {
				c.restart()
			}
		case <-c.wake:
		case <-due.C:
		}
		c.read(ctx)
		if c.takeAgain() {
			if err := c.start(ctx, &webp); err != nil {
				c.log.Debug("screencast not started anew", "tab", c.tab.ID(), "error", err)
			}
			acked = time.Now()
		}
		if wait := c.acknowledge(&acked); wait > 0 {
			due.Reset(wait)
		}
	}
}

func (c *cast) takeAgain() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := c.again
	c.again = false
	return again
}

// start has Chromium begin, or begin anew. It then sends a frame even of a page that stands still.
func (c *cast) start(ctx context.Context, webp *bool) error {
	c.mu.Lock()
	o := c.wanted()
	c.inbox, c.owed = nil, 0
	c.mu.Unlock()
	req := proto.PageStartScreencast{Format: proto.PageStartScreencastFormatJpeg, Quality: &o.Quality}
	if o.MaxWidth > 0 {
		req.MaxWidth = &o.MaxWidth
	}
	if o.MaxHeight > 0 {
		req.MaxHeight = &o.MaxHeight
	}
	ask := func() error {
		c.tab.Main().Post(proto.PageStopScreencast{})
		return c.tab.Within(ctx, c.tab.Main().Timeout(), func(ctx context.Context) error {
			return c.tab.Main().Do(ctx, req)
		})
	}
	if o.WebP && *webp {
		req.Format = "webp" // not documented: ask, and take jpeg if it is refused
		err := ask()
		if err == nil || c.tab.Err() != nil {
			return err
		}
		*webp, req.Format = false, proto.PageStartScreencastFormatJpeg
	}
	return ask()
}

// read publishes the frame that came last, with what must not be seen covered.
func (c *cast) read(ctx context.Context) {
	c.mu.Lock()
	params := c.inbox
	c.inbox = nil
	c.mu.Unlock()
	if params == nil {
		return
	}
	f, session, err := parseFrame(params)
	if err == nil {
		err = f.veil(ctx, c.tab)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.taken, c.came = session, false, time.Now()
	if err != nil {
		c.log.Debug("screencast frame dropped", "tab", c.tab.ID(), "error", err)
		return
	}
	f.Number = 1
	if c.latest != nil {
		f.Number = c.latest.Number + 1
	}
	c.latest = &f
	close(c.changed)
	c.changed = make(chan struct{})
}

// acknowledge has Chromium go on if it is time for that, and otherwise tells how long to wait; 0 means for something to
// happen.
func (c *cast) acknowledge(acked *time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owed == 0 || c.ending {
		return 0
	}
	at := acked.Add(c.wanted().interval())
	if late := c.came.Add(stale); !c.taken && late.After(at) {
		at = late
	}
	if wait := time.Until(at); wait > 0 {
		return wait
	}
	for ; c.owed > 0; c.owed-- {
		c.tab.Main().Post(proto.PageScreencastFrameAck{SessionID: c.session})
	}
	*acked = time.Now()
	return 0
}
