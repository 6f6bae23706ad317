package spot

import (
	"context"
	"time"
)

// haveEngine starts the process if none runs. It may not: too many others have a better claim to be listened to, or it has just failed.
func (l *listening) haveEngine(ctx context.Context) bool {
	claim := *l.claim.Load()
	if l.engine != nil {
		l.s.places.speaks(l, claim, false)
		return true
	}
	if time.Since(l.started) < restartAfter {
		return false
	}
	ok, instead := l.s.places.take(l, claim)
	l.without.Store(!ok)
	if !ok {
		l.crowded.Do(func() {
			l.s.log.Warn("too many people speak to listen to all for stop words", "from", l.from, "most", l.s.places.most)
		})
		return false
	}
	if instead != nil {
		instead.stop()
	}
	l.started = time.Now()
	e, err := l.s.startEngine(ctx)
	if err != nil {
		l.s.places.leave(l)
		l.s.log.Error("cannot listen for stop words", "from", l.from, "error", err)
		return false
	}
	l.engine = e
	l.s.places.started(l, e)
	return true
}

// stopEngine ends the process, and reports whether it still had its place.
func (l *listening) stopEngine() (had bool) {
	if l.engine == nil {
		return false
	}
	l.engine.stop()
	l.engine = nil
	l.pieces = nil
	l.started = time.Time{}
	return l.s.places.leave(l)
}

// crashed is for a process that has ended by itself, or for that of somebody with a better claim.
func (l *listening) crashed() {
	began, err := l.started, l.engine.err
	l.refused = true
	if !l.stopEngine() {
		l.s.log.Info("listening for stop words ended in favour of somebody else", "from", l.from)
		return
	}
	l.started = began
	l.s.log.Warn("listening for stop words broke off, it goes on with the next words", "from", l.from, "error", err)
}

// giveUp ends a process that does not take sound any more.
func (l *listening) giveUp(err error) {
	began := l.started
	l.refused = true
	if !l.stopEngine() { // that is why
		return
	}
	l.started = began
	l.s.log.Warn("listening for stop words hangs, it is started again", "from", l.from, "error", err)
}
