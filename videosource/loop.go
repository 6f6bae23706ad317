package videosource

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// loop is what Run knows from one picture to the next.
type loop struct {
	source  *Source
	ladder  ladder
	began   time.Time     // the last picture
	ended   time.Time     // of taking it
	pause   time.Duration // at least, after ended
	shown   [sha256.Size]byte
	failing time.Time // since when no picture could be taken; zero while they can
	told    bool
}

// interval is the time between the beginnings of two pictures.
func (s *Source) interval(now time.Time) time.Duration {
	fps := orElse(s.Slow, DefaultSlow)
	if !s.acted.IsZero() && now.Sub(s.acted) < orElse(s.Burst, DefaultBurst) {
		fps = orElse(s.Fast, DefaultFast)
	}
	return time.Duration(float64(time.Second) / min(max(fps, minFPS), maxFPS))
}

// wait says how long there is nothing to do, or that nobody watches.
func (l *loop) wait(now time.Time) (wait time.Duration, idle bool) {
	s := l.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.viewers) == 0 {
		return 0, true
	}
	next := l.began.Add(s.interval(now))
	if waiting(s.viewers) {
		next = now
	}
	if rest := l.ended.Add(l.pause); next.Before(rest) {
		next = rest
	}
	if len(s.last.Data) > 0 {
		for v := range s.viewers {
			if due := v.sent.Add(refreshPause); v.wanted && due.Before(next) {
				next = due
			}
		}
	}
	return next.Sub(now), false
}

// waiting reports whether somebody has not seen anything yet.
func waiting(viewers map[*Viewer]struct{}) bool {
	for v := range viewers {
		if v.fresh {
			return true
		}
	}
	return false
}

// turn does what is due.
func (l *loop) turn(ctx context.Context) {
	if l.answer(time.Now()) {
		return
	}
	s := l.source
	quality, scale := l.ladder.rung()
	l.began = time.Now()
	f, err := s.shoot(ctx, quality, scale)
	l.ended = time.Now()
	if ctx.Err() != nil {
		return
	}
	cost := l.ended.Sub(l.began)
	load := min(max(orElse(s.Load, DefaultLoad), minLoad), maxLoad)
	l.pause = time.Duration(float64(min(cost, maxCostMemory)) * (1 - load) / load)
	if err != nil {
		l.pause = max(l.pause, failurePause)
	} else {
		l.ladder.step(len(f.Data))
	}
	l.report(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Captures++
	s.stats.Cost = cost
	s.stats.Quality, s.stats.Scale = l.ladder.rung()
	if err != nil {
		s.stats.Failed++
	}
	l.publish(f, err == nil)
}

// answer sends the last frame again to those who asked for it, and reports whether anybody had and no picture is needed.
func (l *loop) answer(now time.Time) bool {
	s := l.source
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last.Data) == 0 {
		return false
	}
	var to []*Viewer
	for v := range s.viewers {
		if v.wanted && now.Sub(v.sent) >= refreshPause {
			to = append(to, v)
		}
	}
	if len(to) > 0 {
		s.send(now, s.last, Asked, to...)
	}
	return len(to) > 0
}

// publish sends what has become of a picture to those who should see it. The source's lock is held.
func (l *loop) publish(f Frame, taken bool) {
	s, now := l.source, l.ended
	first := len(s.last.Data) == 0
	changed := false
	if taken {
		sum := fingerprint(f)
		changed = first || sum != l.shown
		l.shown, s.last = sum, f
	}
	if len(s.last.Data) == 0 {
		return
	}
	everybody := slices.Collect(maps.Keys(s.viewers))
	switch {
	case changed && first:
		s.send(now, f, Initial, everybody...)
	case changed && now.Sub(s.acted) < orElse(s.Burst, DefaultBurst):
		s.send(now, f, Activity, everybody...)
	case changed:
		s.send(now, f, Poll, everybody...)
	case now.Sub(s.sent) >= orElse(s.Heartbeat, DefaultHeartbeat):
		s.send(now, s.last, Heartbeat, everybody...)
	default:
		everybody = slices.DeleteFunc(everybody, func(v *Viewer) bool { return !v.fresh })
		if len(everybody) > 0 {
			s.send(now, s.last, Initial, everybody...)
		}
		return
	}
	s.sent = now
}

// fingerprint is the same for frames that show the same page and picture.
func fingerprint(f Frame) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte(f.URL + "\x00"))
	h.Write(f.Data)
	h.Sum(sum[:0])
	return sum
}

// report tells of pictures that cannot be taken, once, and that they can again.
func (l *loop) report(err error) {
	s := l.source
	log := s.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	switch {
	case err == nil && l.told:
		log.Info("pictures of the page can be taken again")
		if s.Trouble != nil {
			s.Trouble(nil)
		}
		l.failing, l.told = time.Time{}, false
	case err == nil:
		l.failing = time.Time{}
	case l.failing.IsZero():
		l.failing = l.began
	}
	if err != nil && !l.told && l.ended.Sub(l.failing) >= troubleAfter {
		l.told = true
		log.Warn("no picture of the page can be taken", "error", err)
		if s.Trouble != nil {
			s.Trouble(err)
		}
	}
}
