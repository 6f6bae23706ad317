package voice

import (
	"slices"
	"sync"
)

// Queue is a queue for one consumer. Its methods are safe for concurrent use; the zero value is empty.
type Queue[T any] struct {
	mu    sync.Mutex
	items []T
	wake  chan struct{} // holds a token while items wait; created by the first caller
}

// Put adds an item. Where more than most wait, the oldest goes; 0 is no bound.
func (q *Queue[T]) Put(item T, most int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if most > 0 && len(q.items) >= most {
		q.items = q.items[1:]
	}
	q.items = append(q.items, item)
	select {
	case q.wakeChannel() <- struct{}{}:
	default:
	}
}

// Len returns how many items wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// Drain removes and returns all items.
func (q *Queue[T]) Drain() []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	items := q.items
	q.items = nil
	return items
}

// Wake returns a channel that receives when items were added since the last Drain.
func (q *Queue[T]) Wake() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.wakeChannel()
}

func (q *Queue[T]) wakeChannel() chan struct{} {
	if q.wake == nil {
		q.wake = make(chan struct{}, 1)
	}
	return q.wake
}

// maxQueuedPackets is how many packets of sound wait for a reader that has fallen behind: five seconds of one person.
const maxQueuedPackets = 250

// EventQueue keeps the events of a [Line] in order for a reader that may fall behind. It drops only packets of sound,
// the oldest first. Its methods are safe for concurrent use.
type EventQueue struct {
	Events chan Event // to the reader; closed when Run returns

	mu      sync.Mutex
	queued  []Event
	packets int // among queued
	ended   bool
	wake    chan struct{}
}

// NewEventQueue returns an empty queue.
func NewEventQueue() *EventQueue {
	return &EventQueue{Events: make(chan Event), wake: make(chan struct{}, 1)}
}

// Push adds an event. It does not wait.
func (q *EventQueue) Push(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return
	}
	if e.Kind == PacketReceived {
		if q.packets++; q.packets > maxQueuedPackets {
			oldest := slices.IndexFunc(q.queued, func(e Event) bool { return e.Kind == PacketReceived })
			q.queued = slices.Delete(q.queued, oldest, oldest+1)
			q.packets--
		}
	}
	q.queued = append(q.queued, e)
	q.signal()
}

// End refuses further events. Run returns once all queued events were read.
func (q *EventQueue) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.signal()
}

// signal wakes Run. The lock is held.
func (q *EventQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *EventQueue) next() (e Event, ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queued) == 0 {
		return e, false, q.ended
	}
	e = q.queued[0]
	q.queued = slices.Delete(q.queued, 0, 1)
	if e.Kind == PacketReceived {
		q.packets--
	}
	return e, true, false
}

// Run hands events to the reader until the queue has ended and is empty, or stop is closed.
func (q *EventQueue) Run(stop <-chan struct{}) {
	defer close(q.Events)
	for {
		e, ok, ended := q.next()
		events, wake := q.Events, q.wake
		switch {
		case ended:
			return
		case ok:
			wake = nil
		default:
			events = nil
		}
		select {
		case events <- e:
		case <-wake:
		case <-stop:
			return
		}
	}
}
