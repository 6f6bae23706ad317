// Package feed queues events for a reader that may fall behind and must delay nobody. It is not for telling several readers: each
// has a feed of its own.
package feed

import "sync"

// Feed takes events and hands them on in their order. Make one with [New]. It is safe for concurrent use.
type Feed[T any] struct {
	mu      sync.Mutex
	queue   []T
	ended   bool
	wake    chan struct{}
	quit    chan struct{}
	stopped sync.Once
}

// New makes a feed without events.
func New[T any]() *Feed[T] {
	return &Feed[T]{wake: make(chan struct{}, 1), quit: make(chan struct{})}
}

// Run hands events to out until they have come to their [Feed.End], the reader has stopped, or gone is closed while the reader
// does not take one. It does not close out.
func (f *Feed[T]) Run(out chan<- T, gone <-chan struct{}) {
	for {
		f.mu.Lock()
		batch, ended := f.queue, f.ended
		f.queue = nil
		f.mu.Unlock()
		for _, ev := range batch {
			select {
			case out <- ev:
			case <-f.quit:
				return
			case <-gone: // nobody may be reading any more
				return
			}
		}
		if ended { // nothing was queued since
			return
		}
		select {
		case <-f.wake:
		case <-f.quit:
			return
		}
	}
}

// Add queues an event. It never blocks.
func (f *Feed[T]) Add(ev T) {
	f.mu.Lock()
	f.queue = append(f.queue, ev)
	f.mu.Unlock()
	f.nudge()
}

// End says that no more events come. Those that are queued are still handed on.
func (f *Feed[T]) End() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.nudge()
}

// Stop says that the reader wants no more. It may be called more than once.
func (f *Feed[T]) Stop() { f.stopped.Do(func() { close(f.quit) }) }

func (f *Feed[T]) nudge() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
