package approval

import (
	"context"
	"sync"
)

// Event says that a question was asked or resolved.
type Event struct {
	Question Question `json:"question"`
	Resolved bool     `json:"over,omitempty"`
	Answer   Answer   `json:"answer,omitzero"` // if Resolved
}

// Follower receives the questions of a Queue: those already pending and all later ones. It must be closed.
type Follower struct {
	source *Queue
	serves func(Question) bool
	ready  chan struct{} // holds a token when the queue is not empty

	mu    sync.Mutex
	queue []Event
}

// Follow returns a new Follower. serves reports whether the front end can show a question to a person right now; a
// question that no follower serves is refused at once. serves is called with the Queue locked: it must not block or
// use the Queue. The follower receives every question, whether it serves it or not.
func (d *Queue) Follow(serves func(Question) bool) *Follower {
	f := &Follower{source: d, serves: serves, ready: make(chan struct{}, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.followers == nil {
		d.followers = map[*Follower]struct{}{}
	}
	d.followers[f] = struct{}{}
	for _, p := range d.pending {
		f.enqueue(Event{Question: p.question})
	}
	return f
}

// Next waits for the next event. The error is the cause of ctx.
func (f *Follower) Next(ctx context.Context) (Event, error) {
	for {
		if ev, ok := f.dequeue(); ok {
			return ev, nil
		}
		select {
		case <-f.ready:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Close ends following. Further calls do nothing.
func (f *Follower) Close() {
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	delete(f.source.followers, f)
}

func (f *Follower) dequeue() (Event, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return Event{}, false
	}
	ev := f.queue[0]
	f.queue = f.queue[1:]
	return ev, true
}

// maxQueuedEvents is how far a follower may fall behind before its oldest events are dropped.
const maxQueuedEvents = 10 * maxPending

func (f *Follower) enqueue(ev Event) {
	f.mu.Lock()
	if len(f.queue) >= maxQueuedEvents {
		f.queue = f.queue[1:]
	}
	f.queue = append(f.queue, ev)
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// publish sends ev to all followers. The Queue's lock is held.
func (d *Queue) publish(ev Event) {
	for f := range d.followers {
		f.enqueue(ev)
	}
}
