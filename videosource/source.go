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
	DefaultActiveFor     = 2500 * time.Millisecond // how long an activity is followed closely
	DefaultHeartbeat     = 5 * time.Second
	DefaultMaxLoad       = 0.5
	DefaultMaxFrameBytes = 150 << 10
)

// Bounds of what a source may be set to.
const (
	minFPS, maxFPS   = 1.0, 30.0
	minLoad, maxLoad = 0.05, 1.0
)

const (
	captureTimeout = 15 * time.Second       // for one picture
	troubleAfter   = 3 * time.Second        // of failures in a row before they are told
	refreshPause   = 200 * time.Millisecond // between frames that one viewer asks for
	maxReuseAge    = time.Second            // how old a frame may be that a new viewer is given
	failurePause   = 500 * time.Millisecond // at least, after a picture that could not be taken
	maxCostMemory  = 3 * time.Second        // of how long a picture took, so that one hanging page does not stop the stream for long
)

// Source is the picture of one page as video, for all who watch it. Its fields are set before Run and not changed after that;
// a zero takes the default. All methods are safe for concurrent use.
//
// It takes pictures only while somebody watches: fast for a moment after something was done on the page, slowly otherwise, and
// never so often that it passes its share of the time. A picture that shows what the last one showed is not sent again before the
// heartbeat. One that cannot be taken is left out: those who watch keep what they have.
type Source struct {
	Screen Screenshotter
	Log    *slog.Logger // nil: nothing is logged

	ActiveFPS, IdleFPS float64       // frames per second within Burst of an activity, and otherwise; 1 to 30
	Heartbeat          time.Duration // after so long without a frame the last one is sent again; 1 to 2 s where frames get lost
	MaxLoad            float64       // the part of the time that may be spent taking pictures, up to 1
	MaxFrameBytes      int           // how large a frame should be at most: quality is lowered first, then size

	// OpenEncoder opens what encodes the pictures of a [Screencaster] for those who take [Video]. Nil, or while it
	// fails: they get key frames.
	OpenEncoder func(ctx context.Context) (Encoder, error)

	// OnTrouble is called from Run when no picture could be taken for some seconds, and with nil when it works again. It must not
	// block. May be nil.
	OnTrouble func(err error)

	mu           sync.Mutex
	wakes        map[loopName]chan struct{} // rung when a loop has a reason to look again
	viewers      map[*Viewer]struct{}
	lastActivity time.Time // the last activity
	lastFrame    Frame     // the key frame that was sent last; no Data before the first
	lastSent     time.Time // when
	picture      Picture   // the last one of the screencast; no JPEG while there is none
	pictureCount uint64    // of the screencast, so that loops see that it is another one
	stopCast     func()    // nil: none runs
	streaming    bool      // the encoder serves who takes Video
	ended        bool
	stats        Stats
}

// loopName tells the loops of a source from each other.
type loopName int

const (
	captures loopName = iota
	casts
	encodes
)

// Stats count what a source has done so far, and tell how it is doing.
type Stats struct {
	Viewers  int
	Frames   uint64        // sent, to however many
	Pictures uint64        // that the screencast has brought
	Encoded  uint64        // frames of the encoder
	Captures uint64        // pictures taken
	Failed   uint64        // pictures that could not be taken
	Cost     time.Duration // of the last picture
	Quality  int           // of the next one, as WebP counts
	Scale    float64       // of the next one
	Width    int           // of the last frame
	Height   int
	URL      string
}

// Stats tells how the source is doing.
func (s *Source) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Viewers = len(s.viewers)
	return st
}

// NoteActivity says that something was done on the page: it is followed closely for a moment.
func (s *Source) NoteActivity() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastActivity = time.Now()
	s.signal()
}

// signal makes the loops look again. s.mu is held.
func (s *Source) signal() {
	for _, wake := range s.wakes {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// bell returns what rings when a loop is to look again.
func (s *Source) bell(l loopName) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wakes == nil {
		s.wakes = map[loopName]chan struct{}{}
	}
	s.wakes[l] = make(chan struct{}, 1)
	return s.wakes[l]
}

// casting reports whether a screencast tells of changes. s.mu is held.
func (s *Source) casting() bool { return s.picture.JPEG != nil }

// Run takes pictures until ctx ends, and returns its cause. Then the channels of all viewers are closed. It can be run once.
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

// end closes all channels.
func (s *Source) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for v := range s.viewers {
		close(v.frames)
	}
	clear(s.viewers)
}

// captureFrame takes one picture and makes a frame of it.
func (s *Source) captureFrame(ctx context.Context, quality int, scale float64) (Frame, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, captureTimeout, fmt.Errorf("the page gave no picture within %s", captureTimeout))
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

// Format describes what a viewer takes.
type Format int

// The formats there are.
const (
	KeyFrames   Format = iota // VP8 key frames: each shows all
	Video                     // VP8: frames build on those before, so none may be left out but before a key frame
	JPEG                      // pictures; without a screencast VP8 key frames, which as WebP are pictures, too
	VideoOrJPEG               // VP8 while the pictures of a screencast are encoded, and the pictures themselves while they are not
)

// Viewer is somebody who watches a [Source].
type Viewer struct {
	source *Source
	format Format
	frames chan Frame // those that were not taken yet: the newest one, or of Video a few that belong together

	// The source's lock guards these.
	noFrameYet    bool      // has not been given a frame yet
	refreshWanted bool      // lost the picture; of Video nothing but a key frame is of use
	slow          bool      // of Video: it has lost the picture because it did not take what was there
	sent          time.Time // when it was given a frame
	bitrate       int       // what its line carries, in bits a second; 0: not known
}

// videoQueue is how many frames of Video may wait for a viewer to take them.
const videoQueue = 12

// Subscribe begins to watch key frames. See [Source.SubscribeTo].
func (s *Source) Subscribe() *Viewer { return s.SubscribeTo(KeyFrames) }

// SubscribeTo begins to watch. The first frame comes at once, or as soon as a picture can be taken. The caller closes
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

// encoded reports whether viewers may get frames that build on others.
func (f Format) encoded() bool { return f == Video || f == VideoOrJPEG }

// takesPictures reports whether a viewer is given the pictures of a screencast as they are. s.mu is held.
func (s *Source) takesPictures(v *Viewer) bool {
	return v.format == JPEG || v.format == VideoOrJPEG && !s.streaming
}

// takesCaptures reports whether a viewer is served with screenshots. s.mu is held.
func (s *Source) takesCaptures(v *Viewer) bool {
	return v.format == KeyFrames || v.format == Video && !s.streaming || v.format == JPEG && !s.casting()
}

// SetBitrate says what the viewer's line carries, in bits a second. The stream is encoded for the slowest.
func (v *Viewer) SetBitrate(bitrate int) {
	v.source.mu.Lock()
	defer v.source.mu.Unlock()
	v.bitrate = bitrate
}

// Frames gives the newest frame: one that comes while another waits to be taken replaces it, but for frames that build
// on others. The channel is closed when the viewer or the source has ended.
func (v *Viewer) Frames() <-chan Frame { return v.frames }

// Refresh says that the picture was lost on the way (RTCP's PLI or FIR): the last frame is sent again, at once or shortly after
// the one that has just gone out, however often this is called.
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

// Close ends watching. Closing twice is no error.
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

// send gives a frame to some viewers. s.mu is held.
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
		for (whole || late) && len(v.frames) > 0 { // what is older is of no use any more
			select {
			case <-v.frames:
			default: // it has just been taken
			}
		}
		if v.slow = late && !whole; v.slow {
			v.refreshWanted = true
			continue
		}
		v.frames <- f // there is room: nobody else puts anything in
		v.noFrameYet, v.refreshWanted, v.sent = false, false, now
	}
}

// Screenshotter takes pictures of a page. A browser window is one.
type Screenshotter interface {
	// CaptureWebP is a picture of the current viewport as lossy WebP (quality 30 to 99), and the address of the page; the address
	// may be empty. scale is how large the picture is of what the page has in pixels: 1, or less to save bytes.
	CaptureWebP(ctx context.Context, quality int, scale float64) (data []byte, url string, err error)
}

// Reason says why a frame was sent.
type Reason string

// The reasons for a frame.
const (
	Initial   Reason = "initial"   // the first one, or the first for somebody who began to watch
	Activity  Reason = "activity"  // the page changed shortly after something was done
	Poll      Reason = "poll"      // the page changed by itself
	Heartbeat Reason = "heartbeat" // it has not changed; sent so that a lost frame is made good
	Requested Reason = "asked"     // a viewer lost the picture (PLI, FIR)
)

// Frame is one frame of VP8 (RFC 6386), or a picture. Data is shared by all who get it and must not be changed.
type Frame struct {
	Data          []byte
	JPEG          bool // it is a picture
	Width, Height int
	View          Size
	URL           string
	Reason        Reason
	Sequence      uint64    // counts what the source has sent, from 1; a viewer that is slow sees gaps
	Taken         time.Time // when the capture began
}

// Whole reports whether the frame shows all without any before it.
func (f Frame) Whole() bool { return f.JPEG || len(f.Data) == 0 || f.Data[0]&1 == 0 }
