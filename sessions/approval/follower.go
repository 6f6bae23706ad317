package approval

import (
	"context"
	"sync"
)

// Event tells a door that a question was asked, or that it is over.
type Event struct {
	Question Question `json:"question"`
	Resolved bool     `json:"over,omitempty"`
	Answer   Answer   `json:"answer,omitzero"` // how it ended, if Over
}

// Follower is a door's view of the desk: every question that is asked from now on,
// and those that wait already. It must be closed.
type Follower struct {
	source *Queue
	serves func(Question) bool
	ready  chan struct{} // holds one when queue is not empty

	mu    sync.Mutex
	queue []Event
}

// Follow begins to follow the desk. serves says whether the door can bring a question before a person just now; a
// question that no door serves is refused at once. It is called with the desk locked: it must not wait and not use
// the desk. The follower is told of every question, whether it serves it or not.
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

// Close ends following. Closing twice is no error.
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

// maxQueuedEvents is how far a follower may fall behind: that of a door that is stuck is shortened at its old end.
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

// publish passes ev on to all followers. The desk's lock is held.
func (d *Queue) publish(ev Event) {
	for f := range d.followers {
		f.enqueue(ev)
	}
}
