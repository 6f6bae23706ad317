package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// stepPuller ranges over a backend's steps on its own goroutine, so that a stuck backend blocks nobody. The backend
// continues after a step only when the next one is requested.
type stepPuller struct {
	steps      chan pulledStep
	resume     chan struct{} // requests the next step
	quit       chan struct{} // closed when the consumer stops ranging
	once       sync.Once
	released   chan struct{} // closed when the backend has returned
	inTime     bool          // it returned within stopGrace of stop
	crash      error         // why it returned without an answer; set before released is closed
	notStarted bool          // no step was requested yet
}

type pulledStep struct {
	step Step
	err  error
}

// errNoAnswer is a violation of the contract of Backend.
var errNoAnswer = errors.New("the backend ended without an answer")

func newStepPuller(ctx context.Context, b Backend, s Session, t Task) *stepPuller {
	p := &stepPuller{
		steps: make(chan pulledStep), resume: make(chan struct{}), quit: make(chan struct{}), released: make(chan struct{}),
		notStarted: true,
	}
	go p.run(ctx, b, s, t)
	return p
}

func (p *stepPuller) run(ctx context.Context, b Backend, s Session, t Task) {
	defer close(p.released)
	p.crash = errNoAnswer // until it yields an answer or an error; also if the goroutine exits
	defer func() {
		if r := recover(); r != nil {
			p.crash = fmt.Errorf("the backend crashed: %v", r)
		}
	}()
	for step, err := range b.Run(ctx, s, t) {
		select {
		case p.steps <- pulledStep{step, err}:
		case <-p.quit:
			return
		}
		select {
		case <-p.resume:
		case <-p.quit:
			return
		}
	}
}

// next lets the backend continue and returns its next step. Once ctx has ended it returns the cause, whatever the
// backend does.
func (p *stepPuller) next(ctx context.Context) (Step, error) {
	if !p.notStarted {
		select {
		case p.resume <- struct{}{}:
		case <-ctx.Done():
			return Step{}, context.Cause(ctx)
		}
	}
	p.notStarted = false
	select {
	case got := <-p.steps:
		if ctx.Err() != nil {
			return Step{}, context.Cause(ctx)
		}
		return got.step, got.err
	case <-ctx.Done():
		return Step{}, context.Cause(ctx)
	case <-p.released:
		return Step{}, p.crash
	}
}

// stop stops ranging and waits briefly for the backend to return. It returns nil if the backend has returned,
// otherwise a channel that is closed when it does. Further calls do not wait.
func (p *stepPuller) stop() <-chan struct{} {
	p.once.Do(func() {
		close(p.quit)
		p.inTime = closedWithin(stopGrace, p.released)
	})
	if p.inTime {
		return nil
	}
	return p.released
}

// end lets the backend return after an answer, for up to endGrace; apart from that it is like stop.
func (p *stepPuller) end(ctx context.Context) <-chan struct{} {
	limit := time.After(endGrace)
	more := p.resume
	for {
		select {
		case more <- struct{}{}:
			more = nil
			continue
		case <-p.released:
		case <-p.steps: // a step after the last one: ignored
		case <-ctx.Done():
		case <-limit:
		}
		return p.stop()
	}
}

func closedWithin(d time.Duration, gone <-chan struct{}) bool {
	select {
	case <-gone:
		return true
	case <-time.After(d):
		return false
	}
}
