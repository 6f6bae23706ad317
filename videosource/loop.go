package videosource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"time"
)

// captureLoop is what Run knows from one picture to the next.
type captureLoop struct {
	source          *Source
	ladder          qualityLadder
	began           time.Time     // the last picture
	ended           time.Time     // of taking it
	pause           time.Duration // at least, after ended
	lastFingerprint [sha256.Size]byte
	captured        uint64    // the picture of the screencast that the last capture shows, or one after it
	failingSince    time.Time // since when no picture could be taken; zero while they can
	troubleReported bool
}

// interval returns the time between the beginnings of two pictures.
func (s *Source) interval(now time.Time) time.Duration {
	fps := cmp.Or(max(0, s.IdleFPS), DefaultIdleFPS)
	if s.casting() || !s.lastActivity.IsZero() && now.Sub(s.lastActivity) < DefaultActiveFor {
		fps = cmp.Or(max(0, s.ActiveFPS), DefaultActiveFPS)
	}
	return time.Duration(float64(time.Second) / min(max(fps, minFPS), maxFPS))
}

// viewers returns who is served with captures. The source's lock is held.
func (l *captureLoop) viewers() []*Viewer {
	var list []*Viewer
	for v := range l.source.viewers {
		if l.source.takesCaptures(v) {
			list = append(list, v)
		}
	}
	return list
}

// current reports whether the last frame shows the page as it is, as far as the screencast tells. The source's lock is
// held.
func (l *captureLoop) current() bool {
	s := l.source
	return s.casting() && l.captured == s.pictureCount && s.lastFrame.Data != nil
}

// wait says how long there is nothing to do, or that nobody watches.
func (l *captureLoop) wait(now time.Time) (wait time.Duration, idle bool) {
	s := l.source
	s.mu.Lock()
	defer s.mu.Unlock()
	viewers := l.viewers()
	if len(viewers) == 0 {
		return 0, true
	}
	next := l.began.Add(s.interval(now))
	switch current := l.current(); {
	case anyWaiting(viewers):
		next = now
	case current:
		next = s.lastSent.Add(s.heartbeat())
	}
	if rest := l.ended.Add(l.pause); next.Before(rest) {
		next = rest
	}
	if len(s.lastFrame.Data) > 0 {
		for _, v := range viewers {
			if due := v.sent.Add(refreshPause); v.refreshWanted && due.Before(next) {
				next = due
			}
		}
	}
	return next.Sub(now), false
}

// heartbeat returns after how long without a frame the last one is sent again.
func (s *Source) heartbeat() time.Duration { return cmp.Or(max(0, s.Heartbeat), DefaultHeartbeat) }

// anyWaiting reports whether somebody has not seen anything yet.
func anyWaiting(viewers []*Viewer) bool {
	return slices.ContainsFunc(viewers, func(v *Viewer) bool { return v.noFrameYet })
}

// captureOnce does what is due.
func (l *captureLoop) captureOnce(ctx context.Context) {
	if l.serveRefreshes(time.Now()) {
		return
	}
	s := l.source
	quality, scale := l.ladder.current()
	s.mu.Lock()
	shows := s.pictureCount
	s.mu.Unlock()
	l.began = time.Now()
	f, err := s.captureFrame(ctx, quality, scale)
	l.ended = time.Now()
	if ctx.Err() != nil {
		return
	}
	cost := l.ended.Sub(l.began)
	load := min(max(cmp.Or(max(0, s.MaxLoad), DefaultMaxLoad), minLoad), maxLoad)
	l.pause = time.Duration(float64(min(cost, maxCostMemory)) * (1 - load) / load)
	if err != nil {
		l.pause = max(l.pause, failurePause)
	} else {
		l.ladder.step(len(f.Data))
	}
	l.reportTrouble(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Captures++
	s.stats.Cost = cost
	s.stats.Quality, s.stats.Scale = l.ladder.current()
	if err != nil {
		s.stats.Failed++
	} else {
		l.captured = shows
	}
	l.publish(f, err == nil)
}

// serveRefreshes sends the last frame again to those who asked for it, and reports whether anybody had and no picture is needed.
func (l *captureLoop) serveRefreshes(now time.Time) bool {
	s := l.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lastFrame.Data) == 0 {
		return false
	}
	to, current := l.viewers(), l.current()
	if current && now.Sub(s.lastSent) >= s.heartbeat() {
		s.send(now, s.lastFrame, Heartbeat, to...)
		s.lastSent = now
		return true
	}
	to = slices.DeleteFunc(to, func(v *Viewer) bool {
		if v.noFrameYet {
			return !current // the last frame is as good as a new one
		}
		return !v.refreshWanted || now.Sub(v.sent) < refreshPause
	})
	if len(to) > 0 {
		s.send(now, s.lastFrame, Requested, to...)
	}
	return len(to) > 0
}

// publish sends what has become of a picture to those who should see it. The source's lock is held.
func (l *captureLoop) publish(f Frame, taken bool) {
	s, now := l.source, l.ended
	first := len(s.lastFrame.Data) == 0
	changed := false
	if taken {
		sum := fingerprint(f)
		changed = first || sum != l.lastFingerprint
		l.lastFingerprint, s.lastFrame = sum, f
	}
	if len(s.lastFrame.Data) == 0 {
		return
	}
	everybody := l.viewers()
	switch {
	case changed && first:
		s.send(now, f, Initial, everybody...)
	case changed && now.Sub(s.lastActivity) < DefaultActiveFor:
		s.send(now, f, Activity, everybody...)
	case changed:
		s.send(now, f, Poll, everybody...)
	case now.Sub(s.lastSent) >= s.heartbeat():
		s.send(now, s.lastFrame, Heartbeat, everybody...)
	default:
		everybody = slices.DeleteFunc(everybody, func(v *Viewer) bool { return !v.noFrameYet })
		if len(everybody) > 0 {
			s.send(now, s.lastFrame, Initial, everybody...)
		}
		return
	}
	s.lastSent = now
}

// fingerprint returns the same for frames that show the same page and picture.
func fingerprint(f Frame) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte(f.URL + "\x00"))
	h.Write(f.Data)
	h.Sum(sum[:0])
	return sum
}

func (s *Source) logger() *slog.Logger { return cmp.Or(s.Log, slog.New(slog.DiscardHandler)) }

// reportTrouble tells of pictures that cannot be taken, once, and that they can again.
func (l *captureLoop) reportTrouble(err error) {
	s := l.source
	log := s.logger()
	switch {
	case err == nil && l.troubleReported:
		log.Info("pictures of the page can be taken again")
		if s.OnTrouble != nil {
			s.OnTrouble(nil)
		}
		l.failingSince, l.troubleReported = time.Time{}, false
	case err == nil:
		l.failingSince = time.Time{}
	case l.failingSince.IsZero():
		l.failingSince = l.began
	}
	if err != nil && !l.troubleReported && l.ended.Sub(l.failingSince) >= troubleAfter {
		l.troubleReported = true
		log.Warn("no picture of the page can be taken", "error", err)
		if s.OnTrouble != nil {
			s.OnTrouble(err)
		}
	}
}

// qualityStep is one way to take a picture.
type qualityStep struct {
	quality int // as WebP counts; 100 would be lossless
	scale   float64
}

// qualitySteps are the ways from the best to the smallest: worse first, then smaller. Each makes less than half of the one before, so
// that a step back up does not lead straight down again.
var qualitySteps = [...]qualityStep{{80, 1}, {65, 1}, {50, 1}, {40, 1}, {30, 1}, {35, 0.75}, {30, 0.6}, {30, 0.5}}

// qualityLadder finds out how pictures are to be taken so that frames keep within a number of bytes.
type qualityLadder struct {
	budget      int
	index       int // in rungs
	smallFrames int // pictures in a row that left much room
}

const (
	smallFrameShare    = 0.4 // of the budget: what takes less leaves much room
	smallFramesToRaise = 8   // pictures that must leave much room before the next is a better one
)

// current returns how the next picture is to be taken.
func (l *qualityLadder) current() (quality int, scale float64) {
	return qualitySteps[l.index].quality, qualitySteps[l.index].scale
}

// step looks at how large a picture has come out.
func (l *qualityLadder) step(bytes int) {
	switch {
	case bytes > l.budget:
		l.smallFrames = 0
		for over := bytes; over > l.budget && l.index < len(qualitySteps)-1; over = over * 2 / 3 {
			l.index++
		}
	case l.index > 0 && float64(bytes) < smallFrameShare*float64(l.budget):
		if l.smallFrames++; l.smallFrames >= smallFramesToRaise {
			l.smallFrames = 0
			l.index--
		}
	default:
		l.smallFrames = 0
	}
}
