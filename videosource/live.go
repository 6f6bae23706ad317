package videosource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// Picture is what a page looked like. Its JPEG must not be changed.
type Picture struct {
	JPEG          []byte
	Width, Height int
	View          Size
	URL           string
	Drawn         time.Time
}

// Size is that of the viewport which is shown, in CSS pixels; zero where that is not told.
type Size struct{ Width, Height float64 }

func (p Picture) frame() Frame {
	return Frame{Data: p.JPEG, JPEG: true, Width: p.Width, Height: p.Height, View: p.View, URL: p.URL, Taken: p.Drawn}
}

// Screencaster is a [Screenshotter] that tells of each change of its page.
type Screencaster interface {
	// Screencast calls show with what the page looks like, and again whenever it was drawn anew, until ctx ends or the
	// page cannot be shown. What must not be seen is covered. The next picture comes after show has returned.
	Screencast(ctx context.Context, show func(Picture)) error
}

// Encoder makes VP8 of one page's pictures.
type Encoder interface {
	// Encode returns the frame that shows a JPEG after those before it; none if it was left out. Without a JPEG it is
	// the last one again, which makes it finer. key wants a key frame, and bitrate is how many bits a second there may
	// be.
	Encode(ctx context.Context, jpeg []byte, key bool, bitrate int) (vp8 []byte, err error)
	Close()
}

// Bounds of the stream's bit rate, in bits a second.
const (
	minBitrate = 150_000
	maxBitrate = 4_000_000
)

const (
	openTimeout   = 30 * time.Second // for an encoder
	encodeTimeout = 5 * time.Second  // for one frame
	encoderPause  = 30 * time.Second // after an encoder that failed
	slowPause     = time.Second      // between key frames for those who do not keep up
)

// refineAfter are the times after a frame when the same picture is encoded again: each makes it finer, and shows a lost
// one before it to be lost. The last one holds from then on: after three seconds without a frame Chromium's receiver
// would ask for a key frame.
var refineAfter = [...]time.Duration{100 * time.Millisecond, 750 * time.Millisecond, 2500 * time.Millisecond}

// runCasts keeps a screencast going while somebody watches.
func (s *Source) runCasts(ctx context.Context, caster Screencaster, bell <-chan struct{}) {
	for ctx.Err() == nil {
		casting, stop := context.WithCancel(ctx)
		if !s.beginCast(stop) {
			stop()
			select {
			case <-bell:
			case <-ctx.Done():
			}
			continue
		}
		err := caster.Screencast(casting, s.showPicture)
		s.endCast()
		if casting.Err() == nil {
			s.logger().Debug("the screencast has ended", "error", err)
			select {
			case <-time.After(failurePause):
			case <-ctx.Done():
			}
		}
		stop()
	}
}

// beginCast notes what ends the screencast when nobody watches any more, and reports whether anybody does.
func (s *Source) beginCast(stop func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.viewers) == 0 {
		return false
	}
	s.stopCast = stop
	return true
}

// endCast forgets the picture of a screencast that has ended: nobody tells whether it still holds.
func (s *Source) endCast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopCast, s.picture = nil, Picture{}
	s.signal()
}

// showPicture takes a picture of the screencast.
func (s *Source) showPicture(p Picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || bytes.Equal(p.JPEG, s.picture.JPEG) && p.URL == s.picture.URL {
		return
	}
	s.picture = p
	s.pictureCount++
	s.stats.Pictures++
	var to []*Viewer
	for v := range s.viewers {
		if s.takesPictures(v) {
			to = append(to, v)
		}
	}
	if len(to) > 0 {
		s.send(time.Now(), p.frame(), Activity, to...)
	}
	s.signal()
}

// encodeLoop is what runEncoder knows from one frame to the next.
type encodeLoop struct {
	source        *Source
	encoder       Encoder   // nil: none is open
	retry         time.Time // not before; after a failure
	encoded       uint64    // the picture that was encoded last
	refined       int       // how often
	last, lastKey time.Time
	width, height int
}

// encodeJob is one frame to make.
type encodeJob struct {
	picture Picture
	number  uint64 // of the picture
	key     bool
	bitrate int
	to      []*Viewer
	why     Reason
}

// runEncoder encodes pictures while somebody takes what is encoded.
func (s *Source) runEncoder(ctx context.Context, bell <-chan struct{}) {
	if s.OpenEncoder == nil {
		return
	}
	l := encodeLoop{source: s}
	defer l.close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		job, wait := l.next(time.Now())
		if len(job.to) > 0 {
			if err := l.do(ctx, job); err != nil && ctx.Err() == nil {
				s.logger().Warn("no video is encoded; viewers get key frames", "error", err)
				l.retry = time.Now().Add(encoderPause)
				l.close()
			}
			continue
		}
		if timer.Stop(); wait > 0 {
			timer.Reset(wait)
		} else {
			l.close() // nobody wants anything
		}
		select {
		case <-ctx.Done():
		case <-bell:
		case <-timer.C:
		}
	}
}

// next returns what is to be encoded now, or how long to wait for it; 0 is until something happens.
func (l *encodeLoop) next(now time.Time) (job encodeJob, wait time.Duration) {
	s := l.source
	s.mu.Lock()
	defer s.mu.Unlock()
	job = encodeJob{picture: s.picture, number: s.pictureCount, bitrate: maxBitrate, why: Activity}
	var to []*Viewer
	keyDue := now.Add(time.Hour)
	for v := range s.viewers {
		if !v.format.encoded() {
			continue
		}
		to = append(to, v)
		if v.bitrate > 0 {
			job.bitrate = max(minBitrate, min(job.bitrate, v.bitrate))
		}
		if due := l.lastKey.Add(refreshPause); v.refreshWanted && !v.slow && due.Before(keyDue) {
			keyDue = due
		} else if due := l.lastKey.Add(slowPause); v.slow && due.Before(keyDue) {
			keyDue = due
		}
	}
	if len(to) == 0 {
		return encodeJob{}, 0
	}
	if !s.casting() {
		return encodeJob{}, time.Hour
	}
	due := l.last.Add(refineAfter[min(l.refined, len(refineAfter)-1)])
	switch job.key = !keyDue.After(now); {
	case now.Before(l.retry):
		return encodeJob{}, l.retry.Sub(now)
	case l.encoder == nil:
		job.key = true
	case job.key:
		job.why = Requested
	case job.number != l.encoded:
	case !due.After(now):
		job.why = Heartbeat
	case keyDue.Before(due):
		return encodeJob{}, keyDue.Sub(now)
	default:
		return encodeJob{}, due.Sub(now)
	}
	job.to = to
	return job, 0
}

// do encodes one frame and sends it.
func (l *encodeLoop) do(ctx context.Context, job encodeJob) error {
	s := l.source
	if l.encoder == nil {
		late := fmt.Errorf("it was not ready within %s", openTimeout)
		limited, cancel := context.WithTimeoutCause(ctx, openTimeout, late)
		defer cancel()
		encoder, err := s.OpenEncoder(limited)
		if err != nil {
			return fmt.Errorf("open an encoder: %w", err)
		}
		l.encoder = encoder
		s.mu.Lock()
		s.streaming = true
		for v := range s.viewers {
			v.refreshWanted = v.refreshWanted || v.format.encoded()
		}
		s.mu.Unlock()
		return nil // the picture may be another one by now
	}
	limited, cancel := context.WithTimeoutCause(ctx, encodeTimeout, fmt.Errorf("it took longer than %s", encodeTimeout))
	defer cancel()
	var jpeg []byte
	if job.number != l.encoded {
		jpeg = job.picture.JPEG
	}
	data, err := l.encoder.Encode(limited, jpeg, job.key, job.bitrate)
	if err != nil {
		return fmt.Errorf("encode a frame: %w", err)
	}
	now := time.Now()
	l.refined++
	if l.last = now; job.number != l.encoded {
		l.encoded, l.refined = job.number, 0
	}
	switch {
	case len(data) == 0 && job.key:
		return errors.New("encode a frame: the key frame was left out")
	case len(data) == 0:
		return nil
	}
	f := Frame{Data: data, View: job.picture.View, URL: job.picture.URL, Taken: job.picture.Drawn}
	if f.Whole() {
		if l.width, l.height, err = keyFrame(data); err != nil {
			return fmt.Errorf("encode a frame: %w", err)
		}
		l.lastKey = now
	}
	f.Width, f.Height = l.width, l.height
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Encoded++
	var to []*Viewer
	for _, v := range job.to {
		if _, there := s.viewers[v]; there {
			to = append(to, v)
		}
	}
	s.send(now, f, job.why, to...)
	return nil
}

// close lets go of the encoder. Who took its frames gets key frames or pictures from now on.
func (l *encodeLoop) close() {
	if l.encoder == nil {
		return
	}
	l.encoder.Close()
	l.encoder, l.encoded = nil, 0
	s := l.source
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streaming = false
	for v := range s.viewers {
		if v.format == VideoOrJPEG && s.casting() {
			s.send(time.Now(), s.picture.frame(), Requested, v)
		}
	}
	s.signal()
}
