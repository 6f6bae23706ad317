package spot

import (
	"context"
	"time"
)

// haveEngine starts the process if none runs. It may not: too many others are listened to, or it has just failed.
func (l *listening) haveEngine(ctx context.Context) bool {
	if l.engine != nil {
		return true
	}
	if time.Since(l.started) < restartAfter {
		return false
	}
	select {
	case l.s.slots <- struct{}{}:
	default:
		l.s.log.Warn("too many people speak to listen to all for stop words", "from", l.from, "most", cap(l.s.slots))
		return false
	}
	l.started = time.Now()
	e, err := l.s.startEngine(ctx)
	if err != nil {
		<-l.s.slots
		l.s.log.Error("cannot listen for stop words", "from", l.from, "error", err)
		return false
	}
	l.engine = e
	return true
}

func (l *listening) stopEngine() {
	if l.engine == nil {
		return
	}
	l.engine.stop()
	l.engine = nil
	l.pieces = nil
	l.started = time.Time{}
	<-l.s.slots
}

// crashed is for a process that has ended by itself.
func (l *listening) crashed() {
	began, err := l.started, l.engine.err
	l.stopEngine()
	l.started, l.refused = began, true
	l.s.log.Warn("listening for stop words broke off, it goes on with the next words", "from", l.from, "error", err)
}

// giveUp ends a process that does not take sound any more.
func (l *listening) giveUp(err error) {
	began := l.started
	l.stopEngine()
	l.started, l.refused = began, true
	l.s.log.Warn("listening for stop words hangs, it is started again", "from", l.from, "error", err)
}
