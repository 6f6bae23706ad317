package videosource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Defaults of a [Source].
const (
	DefaultActiveFPS     = 8.0 // frames per second
	DefaultIdleFPS       = 2.0
	DefaultActiveFor     = 2500 * time.Millisecond // how long after an activity the higher rate lasts
	DefaultHeartbeat     = 5 * time.Second
	DefaultMaxLoad       = 0.5
	DefaultMaxFrameBytes = 150 << 10
)

// Limits of the settings of a source.
const (
	minFPS, maxFPS   = 1.0, 30.0
	minLoad, maxLoad = 0.05, 1.0
)

const (
	captureTimeout = 15 * time.Second       // for one screenshot
	troubleAfter   = 3 * time.Second        // of failures in a row before they are reported
	refreshPause   = 200 * time.Millisecond // between frames requested by the same viewer
	maxReuseAge    = time.Second            // maximum age of a frame to send to a new viewer
	failurePause   = 500 * time.Millisecond // minimum pause after a failed screenshot
	// limit of the cost taken into account, so that one hanging page does not stop the stream for long
	maxCostMemory = 3 * time.Second
)

// Source provides the picture of one page as video to all its viewers. Set its fields before Run and do not change
// them; zero fields have defaults. All methods are safe for concurrent use.
//
// It captures only while there are viewers: at the higher rate shortly after an activity on the page, slowly
// otherwise, and never more often than MaxLoad allows. A picture equal to the last one is not sent again before the
// heartbeat. If a capture fails, viewers keep the last frame.
type Source struct {
	Screen Screenshotter
	Log    *slog.Logger // nil: nothing is logged

	ActiveFPS, IdleFPS float64 // frames per second shortly after an activity, and otherwise; 1 to 30
	// the last frame is sent again after this time without a frame; use 1 to 2 s if frames may get lost
	Heartbeat     time.Duration
	MaxLoad       float64 // the share of time to spend capturing, up to 1
	MaxFrameBytes int     // target size of a frame: quality is lowered first, then the resolution

	// OpenEncoder opens the encoder for viewers of [Video], which encodes the pictures of a [Screencaster]. If it is
	// nil or fails, those viewers get key frames.
	OpenEncoder func(ctx context.Context) (Encoder, error)

	// OnTrouble is called from Run when captures have failed for some seconds, and with nil when they work again. It
	// must not block. May be nil.
	OnTrouble func(err error)

	mu           sync.Mutex
	wakes        map[loopName]chan struct{} // signalled when a loop has to check its state again
	viewers      map[*Viewer]struct{}
	lastActivity time.Time // the last activity
	lastFrame    Frame     // the last key frame sent; no Data before the first
	lastSent     time.Time // time of lastFrame
	picture      Picture   // the latest picture of the screencast; no JPEG while none runs
	pictureCount uint64    // number of pictures from the screencast, to detect a new one
	stopCast     func()    // stops the screencast; nil if none runs
	streaming    bool      // the encoder serves viewers of Video
	ended        bool
	stats        Stats
}

// loopName identifies a loop of a source.
type loopName int

const (
	captures loopName = iota
	casts
	encodes
)

// Stats are counters and current values of a source.
type Stats struct {
	Viewers  int
	Frames   uint64        // sent, regardless of the number of viewers
	Pictures uint64        // from the screencast
	Encoded  uint64        // frames from the encoder
	Captures uint64        // screenshots taken
	Failed   uint64        // failed screenshots
	Cost     time.Duration // duration of the last screenshot
	Quality  int           // WebP quality of the next screenshot
	Scale    float64       // scale of the next screenshot
	Width    int           // in pixels, of the last frame
	Height   int
	URL      string
}

// Stats returns the current statistics.
func (s *Source) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Viewers = len(s.viewers)
	return st
}

// NoteActivity records an activity on the page, which raises the frame rate for a moment.
func (s *Source) NoteActivity() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastActivity = time.Now()
	s.signal()
}

// signal wakes the loops. s.mu is held.
func (s *Source) signal() {
	for _, wake := range s.wakes {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// bell returns the channel that wakes a loop.
func (s *Source) bell(l loopName) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wakes == nil {
		s.wakes = map[loopName]chan struct{}{}
	}
	s.wakes[l] = make(chan struct{}, 1)
	return s.wakes[l]
}

// casting reports whether a screencast reports changes. s.mu is held.
func (s *Source) casting() bool { return s.picture.JPEG != nil }

// Run captures until ctx ends and returns its cause. Then it closes the channels of all viewers. It can be called
// once.
func (s *Source) Run(ctx context.Context) error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return errors.New("run a video source: it has ended, make a new one")
	}
	s.mu.Unlock()
	bell := s.bell(captures)
	defer s.end()
	var work sync.WaitGroup
	defer work.Wait()
	if caster, ok := s.Screen.(Screencaster); ok {
		cast, encode := s.bell(casts), s.bell(encodes)
		work.Go(func() { s.runCasts(ctx, caster, cast) })
		work.Go(func() { s.runEncoder(ctx, encode) })
	}
	l := captureLoop{source: s, ladder: qualityLadder{budget: cmp.Or(max(0, s.MaxFrameBytes), DefaultMaxFrameBytes)}}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		now := time.Now()
		wait, idle := l.wait(now)
		if !idle && wait <= 0 {
			l.captureOnce(ctx)
			continue
		}
		if idle {
			timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-bell:
		case <-timer.C:
		}
	}
}

// end closes the channels of all viewers.
func (s *Source) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for v := range s.viewers {
		close(v.frames)
	}
	clear(s.viewers)
}

// captureFrame takes a screenshot and converts it to a frame.
func (s *Source) captureFrame(ctx context.Context, quality int, scale float64) (Frame, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, captureTimeout,
		fmt.Errorf("the page gave no picture within %s", captureTimeout))
	defer cancel()
	data, url, err := s.Screen.CaptureWebP(ctx, quality, scale)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
			err = cause
		}
		return Frame{}, err
	}
	vp8, width, height, err := VP8FromWebP(data)
	if err != nil {
		return Frame{}, err
	}
	return Frame{Data: vp8, Width: width, Height: height, URL: url, Taken: began}, nil
}

// Format is what a viewer accepts.
type Format int

// The formats.
const (
	KeyFrames Format = iota // VP8 key frames: each is a complete picture
	Video                   // VP8: frames depend on earlier ones, so frames may be dropped only before a key frame
	// pictures of the screencast; without one, VP8 key frames, which are pictures, too, when wrapped as WebP
	JPEG
	VideoOrJPEG // VP8 while an encoder runs, otherwise pictures of the screencast
)

// Viewer receives the frames of a [Source].
type Viewer struct {
	source *Source
	format Format
	frames chan Frame // frames not yet received: only the latest; for Video several that depend on each other

	// Guarded by the source's lock.
	noFrameYet    bool      // has not been sent a frame yet
	refreshWanted bool      // lost a frame; for Video only a key frame helps
	slow          bool      // Video only: it lost a frame because its queue was full
	sent          time.Time // when it was last sent a frame
	bitrate       int       // bandwidth in bits per second; 0: unknown
}

// videoQueue is how many Video frames may be queued for a viewer.
const videoQueue = 12

// Subscribe adds a viewer of key frames. See [Source.SubscribeTo].
func (s *Source) Subscribe() *Viewer { return s.SubscribeTo(KeyFrames) }

// SubscribeTo adds a viewer. The first frame is sent at once, or as soon as a capture succeeds. The caller must close
// the viewer.
func (s *Source) SubscribeTo(format Format) *Viewer {
	v := &Viewer{source: s, format: format, frames: make(chan Frame, videoQueue), noFrameYet: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		close(v.frames)
		return v
	}
	if s.viewers == nil {
		s.viewers = map[*Viewer]struct{}{}
	}
	s.viewers[v] = struct{}{}
	switch now := time.Now(); {
	case s.takesPictures(v) && s.casting():
		s.send(now, s.picture.frame(), Initial, v)
	case s.takesCaptures(v) && s.lastFrame.Data != nil && now.Sub(s.lastFrame.Taken) < maxReuseAge:
		s.send(now, s.lastFrame, Initial, v)
	}
	v.refreshWanted = format.encoded() && v.noFrameYet
	s.signal()
	return v
}

// encoded reports whether viewers may get frames that depend on others.
func (f Format) encoded() bool { return f == Video || f == VideoOrJPEG }

// takesPictures reports whether a viewer gets the pictures of the screencast. s.mu is held.
func (s *Source) takesPictures(v *Viewer) bool {
	return v.format == JPEG || v.format == VideoOrJPEG && !s.streaming
}

// takesCaptures reports whether a viewer gets screenshots. s.mu is held.
func (s *Source) takesCaptures(v *Viewer) bool {
	return v.format == KeyFrames || v.format == Video && !s.streaming || v.format == JPEG && !s.casting()
}

// SetBitrate sets the viewer's bandwidth in bits per second. The stream is encoded for the slowest viewer.
func (v *Viewer) SetBitrate(bitrate int) {
	v.source.mu.Lock()
	defer v.source.mu.Unlock()
	v.bitrate = bitrate
}

// Frames returns the channel of frames. A new frame replaces one that has not been received, unless frames depend on
// each other. The channel is closed when the viewer or the source ends.
func (v *Viewer) Frames() <-chan Frame { return v.frames }

// Refresh reports a lost frame (RTCP PLI or FIR): the last frame is sent again, at once or shortly after the previous
// one, however often Refresh is called.
func (v *Viewer) Refresh() {
	s := v.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.viewers[v]; !there || v.noFrameYet {
		return
	}
	if now := time.Now(); s.takesCaptures(v) && s.lastFrame.Data != nil && now.Sub(v.sent) >= refreshPause {
		s.send(now, s.lastFrame, Requested, v)
		return
	}
	if s.takesPictures(v) && s.casting() {
		s.send(time.Now(), s.picture.frame(), Requested, v)
		return
	}
	v.refreshWanted, v.slow = true, false
	s.signal()
}

// Close removes the viewer. Further calls do nothing.
func (v *Viewer) Close() {
	s := v.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.viewers[v]; there {
		delete(s.viewers, v)
		close(v.frames)
	}
	if len(s.viewers) == 0 && s.stopCast != nil {
		s.stopCast()
	}
	s.signal()
}

// send sends a frame to the given viewers. s.mu is held.
func (s *Source) send(now time.Time, f Frame, why Reason, to ...*Viewer) {
	s.stats.Frames++
	s.stats.Width, s.stats.Height, s.stats.URL = f.Width, f.Height, f.URL
	f.Sequence = s.stats.Frames
	whole := f.Whole()
	for _, v := range to {
		if f.Reason = why; v.noFrameYet {
			f.Reason = Initial
		}
		if !whole && (v.refreshWanted || v.noFrameYet) {
			continue
		}
		late := len(v.frames) == cap(v.frames)
		for (whole || late) && len(v.frames) > 0 { // older frames are of no use any more
			select {
			case <-v.frames:
			default: // the viewer has just received it
			}
		}
		if v.slow = late && !whole; v.slow {
			v.refreshWanted = true
			continue
		}
		v.frames <- f // there is room: only send adds frames
		v.noFrameYet, v.refreshWanted, v.sent = false, false, now
	}
}

// Screenshotter takes screenshots of a page. A browser window implements it.
type Screenshotter interface {
	// CaptureWebP returns the current viewport as lossy WebP (quality 30 to 99) and the URL of the page, which may be
	// empty. scale is the size relative to the page's device pixels, at most 1.
	CaptureWebP(ctx context.Context, quality int, scale float64) (data []byte, url string, err error)
}

// Reason says why a frame was sent.
type Reason string

// The reasons.
const (
	Initial   Reason = "initial"   // the first frame of the source or of a viewer
	Activity  Reason = "activity"  // the page changed shortly after an activity
	Poll      Reason = "poll"      // the page changed by itself
	Heartbeat Reason = "heartbeat" // nothing changed; sent in case a frame was lost
	Requested Reason = "asked"     // a viewer lost a frame (PLI, FIR)
)

// Frame is a VP8 frame (RFC 6386) or a picture. Data is shared by all viewers and must not be modified.
type Frame struct {
	Data          []byte
	JPEG          bool // Data is a JPEG picture
	Width, Height int
	View          Size
	URL           string
	Reason        Reason
	Sequence      uint64    // counts the frames sent by the source, from 1; slow viewers see gaps
	Taken         time.Time // when the capture began
}

// Whole reports whether the frame can be decoded without earlier frames.
func (f Frame) Whole() bool { return f.JPEG || len(f.Data) == 0 || f.Data[0]&1 == 0 }
