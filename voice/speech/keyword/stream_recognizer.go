package keyword

import (
	"context"
	"time"
)

// ensureRecognizer starts the process if none runs. It may not: too many others have a better claim to be listened to, or it has just failed.
func (l *stream) ensureRecognizer(ctx context.Context) bool {
	claim := *l.priority.Load()
	if l.recognizer != nil {
		l.spotter.slots.update(l, claim, false)
		return true
	}
	if time.Since(l.started) < restartAfter {
		return false
	}
	ok, instead := l.spotter.slots.acquire(l, claim)
	l.crowdedOut.Store(!ok)
	if !ok {
		l.crowded.Do(func() {
			l.spotter.log.Warn("too many people speak to listen to all for stop words", "from", l.from, "most", l.spotter.slots.limit)
		})
		return false
	}
	if instead != nil {
		instead.stop()
	}
	l.started = time.Now()
	e, err := l.spotter.startRecognizer(ctx)
	if err != nil {
		l.spotter.slots.release(l)
		l.spotter.log.Error("cannot listen for stop words", "from", l.from, "error", err)
		return false
	}
	l.recognizer = e
	l.spotter.slots.setRecognizer(l, e)
	return true
}

// stopRecognizer ends the process, and reports whether it still had its place.
func (l *stream) stopRecognizer() (had bool) {
	if l.recognizer == nil {
		return false
	}
	l.recognizer.stop()
	l.recognizer = nil
	l.pieces = nil
	l.started = time.Time{}
	return l.spotter.slots.release(l)
}

// handleCrash handles a process that ended by itself or gave way to a person with higher priority.
func (l *stream) handleCrash() {
	began, err := l.started, l.recognizer.err
	l.refused = true
	if !l.stopRecognizer() {
		l.spotter.log.Info("listening for stop words ended in favour of somebody else", "from", l.from)
		return
	}
	l.started = began
	l.spotter.log.Warn("listening for stop words broke off, it goes on with the next words", "from", l.from, "error", err)
}

// stopWith ends a process that does not take sound any more.
func (l *stream) stopWith(err error) {
	began := l.started
	l.refused = true
	if !l.stopRecognizer() { // that is why
		return
	}
	l.started = began
	l.spotter.log.Warn("listening for stop words hangs, it is started again", "from", l.from, "error", err)
}
