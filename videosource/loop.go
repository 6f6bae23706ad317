package videosource

import (
	"cmp"
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"time"
)

// captureLoop is the state of Run between screenshots.
type captureLoop struct {
	source          *Source
	ladder          qualityLadder
	began           time.Time     // start of the last screenshot
	ended           time.Time     // end of the last screenshot
	pause           time.Duration // minimum pause after ended
	lastFingerprint [sha256.Size]byte
	captured        uint64    // number of the screencast picture at the last screenshot
	failingSince    time.Time // since when screenshots have failed; zero if the last one succeeded
	troubleReported bool
}

// interval returns the time between the starts of two screenshots.
func (s *Source) interval(now time.Time) time.Duration {
	fps := cmp.Or(max(0, s.IdleFPS), DefaultIdleFPS)
	if s.casting() || !s.lastActivity.IsZero() && now.Sub(s.lastActivity) < DefaultActiveFor {
		fps = cmp.Or(max(0, s.ActiveFPS), DefaultActiveFPS)
	}
	return time.Duration(float64(time.Second) / min(max(fps, minFPS), maxFPS))
}

// viewers returns the viewers that get screenshots. The source's lock is held.
func (l *captureLoop) viewers() []*Viewer {
	var list []*Viewer
	for v := range l.source.viewers {
		if l.source.takesCaptures(v) {
			list = append(list, v)
		}
	}
	return list
}

// current reports whether the last frame is up to date, according to the screencast. The source's lock is held.
func (l *captureLoop) current() bool {
	s := l.source
	return s.casting() && l.captured == s.pictureCount && s.lastFrame.Data != nil
}

// wait returns how long there is nothing to do; idle means that there are no viewers.
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

// heartbeat returns the time without a frame after which the last one is sent again.
func (s *Source) heartbeat() time.Duration { return cmp.Or(max(0, s.Heartbeat), DefaultHeartbeat) }

// anyWaiting reports whether a viewer has not received a frame yet.
func anyWaiting(viewers []*Viewer) bool {
	return slices.ContainsFunc(viewers, func(v *Viewer) bool { return v.noFrameYet })
}

// captureOnce does the work that is due.
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

// serveRefreshes sends the last frame again to viewers that requested it. It reports whether there were any and no
// screenshot is needed.
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
			return !current // if up to date, the last frame is as good as a new one
		}
		return !v.refreshWanted || now.Sub(v.sent) < refreshPause
	})
	if len(to) > 0 {
		s.send(now, s.lastFrame, Requested, to...)
	}
	return len(to) > 0
}

// publish sends the result of a capture to the viewers that need it. The source's lock is held.
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

// fingerprint returns a hash that is equal for frames with the same URL and picture.
func fingerprint(f Frame) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte(f.URL + "\x00"))
	h.Write(f.Data)
	h.Sum(sum[:0])
	return sum
}

func (s *Source) logger() *slog.Logger { return cmp.Or(s.Log, slog.New(slog.DiscardHandler)) }

// reportTrouble reports once that captures fail, and once that they work again.
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

// qualityStep is a quality and scale of screenshots.
type qualityStep struct {
	quality int // of WebP; 100 would be lossless
	scale   float64
}

// qualitySteps are ordered from best to smallest: lower quality first, then lower resolution. Each step gives less
// than half the size of the one before, so that a step up does not lead straight down again.
var qualitySteps = [...]qualityStep{{80, 1}, {65, 1}, {50, 1}, {40, 1}, {30, 1}, {35, 0.75}, {30, 0.6}, {30, 0.5}}

// qualityLadder adapts quality and scale so that frames stay within a size.
type qualityLadder struct {
	budget      int
	index       int // into qualitySteps
	smallFrames int // screenshots in a row that are much smaller than the budget
}

const (
	smallFrameShare    = 0.4 // of the budget: smaller frames count as small
	smallFramesToRaise = 8   // small frames in a row before the quality is raised
)

// current returns the quality and scale of the next screenshot.
func (l *qualityLadder) current() (quality int, scale float64) {
	return qualitySteps[l.index].quality, qualitySteps[l.index].scale
}

// step adjusts the quality to the size of a screenshot.
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
