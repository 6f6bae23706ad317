package screenshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
	_ "golang.org/x/image/webp" // so that the size of a frame can be read
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

// screencast is the screencast of one tab and those who watch it. Chromium sends a frame when the page was drawn anew,
// and the next only after that one was acknowledged: when a viewer has taken it, or, so that the latest is never old, a
// second later.
type screencast struct {
	tab   *page.Tab
	log   *slog.Logger
	ready chan struct{}      // closed when the first start has been answered
	done  chan struct{}      // closed by Casts when run has returned
	wake  chan struct{}      // holds a token when run has something to look at
	stop  context.CancelFunc // ends run

	mu             sync.Mutex
	viewers        map[*Viewer]struct{}
	err            error // why it ended
	ending         bool
	restartWanted  bool // start anew
	inbox          []byte
	latest         *Frame
	unacknowledged int  // frames that were not acknowledged
	session        int  // what Chromium calls the present start
	latestTaken    bool // by a viewer
	lastReceived   time.Time
	changed        chan struct{} // closed and replaced with each frame, and at the end
}

func newScreencast(t *page.Tab, log *slog.Logger, stop context.CancelFunc) *screencast {
	return &screencast{
		tab: t, log: log, stop: stop, ready: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		viewers: map[*Viewer]struct{}{}, changed: make(chan struct{}),
	}
}

// droppedPause is how long after a frame that had to be dropped another is asked for.
const droppedPause = 50 * time.Millisecond

// staleAfter is after how long an untaken frame is replaced by a newer one, and how often it is looked whether the tab
// came back from a crash.
const staleAfter = time.Second

// addViewer adds v. It returns false if the cast is about to end.
func (c *screencast) addViewer(v *Viewer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	before := c.mergedOptions()
	c.viewers[v] = struct{}{}
	c.restartWanted = c.restartWanted || len(c.viewers) > 1 && c.mergedOptions() != before
	c.signalWake()
	return true
}

// removeViewer removes v and reports whether no viewer is left.
func (c *screencast) removeViewer(v *Viewer) bool {
	c.mu.Lock()
	_, present := c.viewers[v]
	before := c.mergedOptions()
	delete(c.viewers, v)
	last := len(c.viewers) == 0
	if present && !last && c.mergedOptions() != before {
		c.restartWanted = true
		c.signalWake()
	}
	c.mu.Unlock()
	if last {
		c.endWith(ErrScreencastOver)
	}
	return last
}

// mergedOptions returns options that serve all viewers. The caller holds c.mu.
func (c *screencast) mergedOptions() WatchOptions {
	var o WatchOptions
	first := true
	for v := range c.viewers {
		if first {
			o, first = v.options, false
		}
		o = o.merge(v.options)
	}
	return o
}

func (c *screencast) signalWake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *screencast) endWith(reason error) {
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

func (c *screencast) endError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *screencast) restart() {
	c.mu.Lock()
	c.restartWanted = true
	c.mu.Unlock()
	c.signalWake()
}

// receive takes a frame. It runs on the reading goroutine; what it costs to read the frame is left to run.
func (c *screencast) receive(ev cdp.Event) {
	c.mu.Lock()
	c.inbox = ev.Params
	c.unacknowledged++
	c.mu.Unlock()
	c.signalWake()
}

// latestFor returns the latest frame if a viewer has not seen it and may, or what to wait for.
func (c *screencast) latestFor(v *Viewer) (*Frame, <-chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, nil, c.err
	}
	if c.latest == nil || c.latest.Number <= v.lastSeen || !c.tab.MayShow(v.hold, c.latest.At) {
		return nil, c.changed, nil
	}
	if !c.latestTaken {
		c.latestTaken = true
		c.signalWake()
	}
	return c.latest, nil, nil
}

// run keeps the cast going until it ends.
func (c *screencast) run(ctx context.Context) {
	webp := true
	err := c.start(ctx, &webp)
	if err != nil && !errors.Is(err, page.ErrTabCrashed) {
		c.endWith(err)
	}
	close(c.ready)
	tick := time.NewTicker(staleAfter)
	defer tick.Stop()
	due := time.NewTimer(time.Hour)
	defer due.Stop()
	var acked time.Time
	crashed := err != nil
	for {
		select {
		case <-ctx.Done():
			c.tab.MainFrame().Post(proto.PageStopScreencast{})
			return
		case <-c.tab.Done():
			c.endWith(c.tab.Err())
			return
		case <-tick.C:
			was := crashed
			if crashed = c.tab.Err() != nil; was && !crashed {
				c.restart()
			}
		case <-c.wake:
		case <-due.C:
		}
		c.publishFrame(ctx)
		if c.takeRestart() {
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

func (c *screencast) takeRestart() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := c.restartWanted
	c.restartWanted = false
	return again
}

// start has Chromium begin, or begin anew. It then sends a frame even of a page that stands still.
func (c *screencast) start(ctx context.Context, webp *bool) error {
	c.mu.Lock()
	o := c.mergedOptions()
	c.inbox, c.unacknowledged = nil, 0
	c.mu.Unlock()
	req := proto.PageStartScreencast{Format: proto.PageStartScreencastFormatJpeg, Quality: &o.Quality}
	if o.MaxWidth > 0 {
		req.MaxWidth = &o.MaxWidth
	}
	if o.MaxHeight > 0 {
		req.MaxHeight = &o.MaxHeight
	}
	ask := func() error {
		c.tab.MainFrame().Post(proto.PageStopScreencast{})
		return c.tab.RunConcurrently(ctx, c.tab.MainFrame().Timeout(), func(ctx context.Context) error {
			return c.tab.MainFrame().Do(ctx, req)
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

// publishFrame publishes the frame that came last, with what must not be seen covered.
func (c *screencast) publishFrame(ctx context.Context) {
	c.mu.Lock()
	params := c.inbox
	c.inbox = nil
	c.mu.Unlock()
	if params == nil {
		return
	}
	f, session, err := parseFrame(params)
	if err == nil {
		err = f.applyMask(ctx, c.tab)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.latestTaken, c.lastReceived = session, false, time.Now()
	if err != nil {
		c.log.Debug("screencast frame dropped", "tab", c.tab.ID(), "error", err)
		time.AfterFunc(droppedPause, c.restart) // the page may stand still from now on
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
func (c *screencast) acknowledge(acked *time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unacknowledged == 0 || c.ending {
		return 0
	}
	at := acked.Add(c.mergedOptions().interval())
	if late := c.lastReceived.Add(staleAfter); !c.latestTaken && late.After(at) {
		at = late
	}
	if wait := time.Until(at); wait > 0 {
		return wait
	}
	for ; c.unacknowledged > 0; c.unacknowledged-- {
		c.tab.MainFrame().Post(proto.PageScreencastFrameAck{SessionID: c.session})
	}
	*acked = time.Now()
	return 0
}

// Frame is one picture of a live view, of that width and height in pixels. Its JSON tells what it is, without the
// picture. For input a point of the picture is scaled by the ratio to the view.
type Frame struct {
	Number     int       `json:"number"` // counts the frames of a cast from 1
	Data       []byte    `json:"-"`
	Type       string    `json:"type"` // jpeg, webp or png
	Width      int       `json:"width"`
	Height     int       `json:"height"`
	ViewWidth  float64   `json:"viewWidth"` // of the viewport it shows, in CSS pixels
	ViewHeight float64   `json:"viewHeight"`
	Scale      float64   `json:"scale"` // of pinching
	At         time.Time `json:"at"`    // when the page was drawn
}

// applyMask covers what the frame must not show.
func (f *Frame) applyMask(ctx context.Context, t *page.Tab) error {
	data, err := t.MaskImage(ctx, f.Data, f.ViewWidth, f.Scale)
	if err != nil {
		return err
	}
	if f.Type == "webp" && !bytes.Equal(data, f.Data) {
		f.Type = "jpeg"
	}
	f.Data = data
	return nil
}

// parseFrame reads the parameters of Page.screencastFrame. session is what Chromium wants to have acknowledged, 0 if
// that could not be read.
func parseFrame(params []byte) (f Frame, session int, err error) {
	var p struct {
		Data     []byte `json:"data"`
		Metadata struct {
			Scale     float64 `json:"pageScaleFactor"`
			Width     float64 `json:"deviceWidth"`
			Height    float64 `json:"deviceHeight"`
			Timestamp float64 `json:"timestamp"`
		} `json:"metadata"`
		SessionID int `json:"sessionId"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return Frame{}, p.SessionID, fmt.Errorf("read a frame: %w", err)
	}
	config, kind, err := image.DecodeConfig(bytes.NewReader(p.Data))
	if err == nil && (config.Width <= 0 || config.Height <= 0) {
		err = errors.New("it is empty")
	}
	if err != nil {
		return Frame{}, p.SessionID, fmt.Errorf("read a frame: %w", err)
	}
	f = Frame{
		Data: p.Data, Type: kind, Width: config.Width, Height: config.Height,
		ViewWidth: p.Metadata.Width, ViewHeight: p.Metadata.Height, Scale: p.Metadata.Scale, At: time.Now(),
	}
	if s := p.Metadata.Timestamp; s > 0 && s < 1e11 {
		f.At = time.UnixMicro(int64(s * 1e6))
	}
	return f, p.SessionID, nil
}
