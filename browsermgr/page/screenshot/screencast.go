package screenshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
	_ "golang.org/x/image/webp" // to read the size of WebP frames
)

// screencast is the screencast of one tab for all its viewers. Chromium sends a frame when the page was redrawn, and
// stops until frames are acknowledged: when a viewer has taken one or, so that the latest frame is never old, after a
// second.
type screencast struct {
	tab   *page.Tab
	log   *slog.Logger
	ready chan struct{}      // closed when the first start was answered
	done  chan struct{}      // closed by Screencasts when run has returned
	wake  chan struct{}      // holds a token when there is work for run
	stop  context.CancelFunc // ends run

	mu             sync.Mutex
	viewers        map[*Viewer]struct{}
	err            error // why it ended
	ending         bool
	restartWanted  bool // run is to restart it
	inbox          []byte
	latest         *Frame
	unacknowledged int  // number of frames not acknowledged yet
	session        int  // CDP session number of the present start
	latestTaken    bool // a viewer has taken the latest frame
	lastReceived   time.Time
	burst          int           // number of frames in quick succession
	changed        chan struct{} // closed and replaced with each frame, and at the end
}

func newScreencast(t *page.Tab, log *slog.Logger, stop context.CancelFunc) *screencast {
	return &screencast{
		tab: t, log: log, stop: stop, ready: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
		viewers: map[*Viewer]struct{}{}, changed: make(chan struct{}),
	}
}

// droppedPause is the delay before another frame is requested in place of a dropped one.
const droppedPause = 50 * time.Millisecond

// staleAfter is when a frame that nobody has taken is replaced by a newer one. It is also the interval of checks
// whether the tab has recovered from a crash or the last frame is missing.
const staleAfter = time.Second

// framesInFlight is how many unacknowledged frames Chromium sends. It drops what the page draws after that, so that the
// last frame is missing if the page then stops changing.
const framesInFlight = 3

// addViewer adds v. It returns false if the screencast is ending.
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

// mergedOptions returns options that satisfy all viewers. The caller holds c.mu.
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

// receive stores a frame. It runs on the connection's reading goroutine, so run parses the frame.
func (c *screencast) receive(ev cdp.Event) {
	c.mu.Lock()
	if time.Since(c.lastReceived) > staleAfter {
		c.burst = 0
	}
	c.inbox = ev.Params
	c.unacknowledged++
	c.burst++
	c.mu.Unlock()
	c.signalWake()
}

// latestFor returns the latest frame if the viewer may see it and has not, or a channel to wait for.
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

// run runs the screencast until it ends.
func (c *screencast) run(ctx context.Context) {
	webp := true
	err := c.start(ctx, &webp)
	if err != nil && !errors.Is(err, page.ErrTabCrashed) {
		c.endWith(err)
	}
	close(c.ready)
	tick := time.Tick(staleAfter)
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
		case <-tick:
			c.tab.Wake() // a watched page is not frozen
			was := crashed
			if crashed = c.tab.Err() != nil; was && !crashed || c.lastMayBeMissing() {
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

// lastMayBeMissing reports, once, that Chromium may have dropped the last frame because many came and none since.
func (c *screencast) lastMayBeMissing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.burst < framesInFlight || time.Since(c.lastReceived) < staleAfter {
		return false
	}
	c.burst = 0
	return true
}

func (c *screencast) takeRestart() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := c.restartWanted
	c.restartWanted = false
	return again
}

// start starts or restarts the screencast. Chromium then sends a frame even if the page does not change.
func (c *screencast) start(ctx context.Context, webp *bool) error {
	c.mu.Lock()
	o := c.mergedOptions()
	c.inbox, c.unacknowledged, c.burst = nil, 0, 0
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
		req.Format = "webp" // undocumented: try it, and fall back to jpeg
		err := ask()
		if err == nil || c.tab.Err() != nil {
			return err
		}
		*webp, req.Format = false, proto.PageStartScreencastFormatJpeg
	}
	return ask()
}

// publishFrame masks the last frame and publishes it.
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
		time.AfterFunc(droppedPause, c.restart) // the page may not change any more
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

// acknowledge acknowledges frames if it is time, and otherwise returns how long to wait; 0 means until the next event.
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

// Frame is a picture of a screencast, with its width and height in pixels. Its JSON omits the picture. To send input at
// a point of the picture, scale by the ratio of view size to picture size.
type Frame struct {
	Number     int       `json:"number"` // counts the frames of a screencast from 1
	Data       []byte    `json:"-"`
	Type       string    `json:"type"` // jpeg, webp or png
	Width      int       `json:"width"`
	Height     int       `json:"height"`
	ViewWidth  float64   `json:"viewWidth"` // of the viewport, in CSS pixels
	ViewHeight float64   `json:"viewHeight"`
	Scale      float64   `json:"scale"` // pinch zoom
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

// parseFrame parses the parameters of Page.screencastFrame. session is the number to acknowledge, 0 if it could not be
// read.
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
