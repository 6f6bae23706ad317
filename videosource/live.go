package videosource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// Picture is an image of a page. Its JPEG must not be modified.
type Picture struct {
	JPEG          []byte
	Width, Height int
	View          Size
	URL           string
	Drawn         time.Time
}

// Size is the size of the shown viewport in CSS pixels; zero if unknown.
type Size struct{ Width, Height float64 }

func (p Picture) frame() Frame {
	return Frame{Data: p.JPEG, JPEG: true, Width: p.Width, Height: p.Height, View: p.View, URL: p.URL, Taken: p.Drawn}
}

// Screencaster is a [Screenshotter] that also reports each change of its page.
type Screencaster interface {
	// Screencast calls show with the current picture of the page, and again whenever the page was redrawn, until ctx
	// ends or the page cannot be shown. Secrets are masked. The next picture comes after show has returned.
	Screencast(ctx context.Context, show func(Picture)) error
}

// Encoder encodes the pictures of one page as VP8.
type Encoder interface {
	// Encode returns the frame for a JPEG, or none if it was dropped. A nil jpeg encodes the last picture again,
	// which improves its quality. key requests a key frame; bitrate is the target in bits per second.
	Encode(ctx context.Context, jpeg []byte, key bool, bitrate int) (vp8 []byte, err error)
	Close()
}

// Limits of the stream's bit rate, in bits per second.
const (
	minBitrate = 150_000
	maxBitrate = 4_000_000
)

const (
	openTimeout   = 30 * time.Second // for opening an encoder
	encodeTimeout = 5 * time.Second  // for one frame
	encoderPause  = 30 * time.Second // after an encoder failure
	slowPause     = time.Second      // between key frames for viewers that do not keep up
)

// refineAfter are the delays after which the same picture is encoded again: each improves the quality and lets a
// receiver detect a lost frame. The last delay repeats: after three seconds without a frame Chromium's receiver would
// request a key frame.
var refineAfter = [...]time.Duration{100 * time.Millisecond, 750 * time.Millisecond, 2500 * time.Millisecond}

// runCasts keeps a screencast running while there are viewers.
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

// beginCast stores the function that stops the screencast when there are no more viewers, and reports whether there
// are any.
func (s *Source) beginCast(stop func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.viewers) == 0 {
		return false
	}
	s.stopCast = stop
	return true
}

// endCast drops the picture of a screencast that has ended, since the page may have changed.
func (s *Source) endCast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopCast, s.picture = nil, Picture{}
	s.signal()
}

// showPicture receives a picture from the screencast.
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

// encodeLoop is the state of runEncoder between frames.
type encodeLoop struct {
	source        *Source
	encoder       Encoder   // nil: none is open
	retry         time.Time // after a failure: when to try again
	encoded       uint64    // number of the last encoded picture
	refined       int       // how often it was encoded again
	last, lastKey time.Time
	width, height int
}

// encodeJob is a frame to encode.
type encodeJob struct {
	picture Picture
	number  uint64 // of the picture
	key     bool
	bitrate int
	to      []*Viewer
	why     Reason
}

// runEncoder encodes pictures while viewers need encoded frames.
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
			l.close() // no viewer needs it
		}
		select {
		case <-ctx.Done():
		case <-bell:
		case <-timer.C:
		}
	}
}

// next returns the picture to encode now, or how long to wait; 0 means until the next signal.
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
		return nil // the picture may be outdated by now
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

// close closes the encoder. Its viewers get key frames or pictures from now on.
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
