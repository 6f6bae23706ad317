package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// stepPuller ranges over a backend's steps on a goroutine of its own, so that a backend which is stuck holds up
// nobody. The backend goes on after a step only when the next one is asked for.
type stepPuller struct {
	steps      chan pulledStep
	resume     chan struct{} // the next step is wanted
	quit       chan struct{} // closed when the consumer stops ranging
	once       sync.Once
	released   chan struct{} // closed when the backend has let go
	inTime     bool          // it let go within stopGrace of stop
	crash      error         // why it let go without saying so; set before gone is closed
	notStarted bool          // no step was asked for yet
}

type pulledStep struct {
	step Step
	err  error
}

// errNoAnswer is a breach of the contract of Backend.
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
	p.crash = errNoAnswer // until shown otherwise; also if the goroutine exits
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

// next lets the backend go on and returns its next step. Once ctx has ended it
// returns the cause, whatever the backend does.
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

// stop stops ranging and gives the backend a moment to let go. It returns nil if
// it has, otherwise what is closed when it does. It may be called again, and does
// not wait again then.
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

// end lets the backend come to its end after an answer; beyond that it is like stop.
func (p *stepPuller) end(ctx context.Context) <-chan struct{} {
	limit := time.NewTimer(endGrace)
	defer limit.Stop()
	more := p.resume
	for {
		select {
		case more <- struct{}{}:
			more = nil
			continue
		case <-p.released:
		case <-p.steps: // more than it may yield
		case <-ctx.Done():
		case <-limit.C:
		}
		return p.stop()
	}
}

func closedWithin(d time.Duration, gone <-chan struct{}) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-gone:
		return true
	case <-limit.C:
		return false
	}
}
