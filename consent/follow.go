package consent

import (
	"context"
	"sync"
)

// Event tells a door that a question was asked, or that it is over.
type Event struct {
	Question Question `json:"question"`
	Over     bool     `json:"over,omitempty"`
	Answer   Answer   `json:"answer,omitzero"` // how it ended, if Over
}

// Follower is a door's view of the desk: every question that is asked from now on,
// and those that wait already. It must be closed.
type Follower struct {
	desk   *Desk
	serves func(Question) bool
	news   chan struct{} // holds one when queue is not empty

	mu    sync.Mutex
	queue []Event
}

// Follow begins to follow the desk. serves says whether the door can bring a
// question before a person just now; a question that no door serves is refused at
// once. It is called with the desk locked: it must not wait and not use the desk.
// The follower is told of every question, whether it serves it or not.
func (d *Desk) Follow(serves func(Question) bool) *Follower {
	f := &Follower{desk: d, serves: serves, news: make(chan struct{}, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.followers == nil {
		d.followers = map[*Follower]struct{}{}
	}
	d.followers[f] = struct{}{}
	for _, p := range d.pending {
		f.put(Event{Question: p.question})
	}
	return f
}

// Next waits for the next event. The error is the cause of ctx.
func (f *Follower) Next(ctx context.Context) (Event, error) {
	for {
		if ev, ok := f.take(); ok {
			return ev, nil
		}
		select {
		case <-f.news:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Close ends following. Closing twice is no error.
func (f *Follower) Close() {
	f.desk.mu.Lock()
	defer f.desk.mu.Unlock()
	delete(f.desk.followers, f)
}

func (f *Follower) take() (Event, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) == 0 {
		return Event{}, false
	}
	ev := f.queue[0]
	f.queue = f.queue[1:]
	return ev, true
}

// maxBehind is how far a follower may fall behind: that of a door that is stuck is
// shortened at its old end.
const maxBehind = 10 * maxPending

func (f *Follower) put(ev Event) {
	f.mu.Lock()
	if len(f.queue) >= maxBehind {
		f.queue = f.queue[1:]
	}
	f.queue = append(f.queue, ev)
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// tell passes ev on to all followers. The desk's lock is held.
func (d *Desk) tell(ev Event) {
	for f := range d.followers {
		f.put(ev)
	}
}
