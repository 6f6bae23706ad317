package page

import "sync"

// EventQueue takes events and hands them on in their order. Make one with [NewFrameTree]. It is safe for concurrent use.
type EventQueue[T any] struct {
	mu      sync.Mutex
	queue   []T
	ended   bool
	wake    chan struct{}
	quit    chan struct{}
	stopped sync.Once
}

// NewEventQueue makes a feed without events.
func NewEventQueue[T any]() *EventQueue[T] {
	return &EventQueue[T]{wake: make(chan struct{}, 1), quit: make(chan struct{})}
}

// Deliver hands events to out until they have come to their [EventQueue.End], the reader has stopped, or gone is closed while the reader
// does not take one. It does not close out.
func (f *EventQueue[T]) Deliver(out chan<- T, gone <-chan struct{}) {
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
func (f *EventQueue[T]) Add(ev T) {
	f.mu.Lock()
	f.queue = append(f.queue, ev)
	f.mu.Unlock()
	f.signalWake()
}

// End says that no more events come. Those that are queued are still handed on.
func (f *EventQueue[T]) End() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.signalWake()
}

// Stop says that the reader wants no more. It may be called more than once.
func (f *EventQueue[T]) Stop() { f.stopped.Do(func() { close(f.quit) }) }

func (f *EventQueue[T]) signalWake() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
