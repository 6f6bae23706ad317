package discord

import (
	"sync"

	"clank/voice"
)

// maxSounds is how many packets wait for a reader that has fallen behind: five seconds of one voice.
const maxSounds = 250

// queue keeps events in order for a reader that may fall behind. Only packets of sound are ever dropped, the oldest first.
type queue struct {
	mu     sync.Mutex
	items  []voice.Event
	sounds int
	ended  bool
	more   chan struct{} // has one element when there may be something new
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

func (q *queue) push(e voice.Event) {
	q.mu.Lock()
	if !q.ended {
		if e.Kind == voice.Heard {
			if q.sounds++; q.sounds > maxSounds {
				q.dropSound()
			}
		}
		q.items = append(q.items, e)
	}
	q.mu.Unlock()
	q.wake()
}

func (q *queue) dropSound() {
	for i, e := range q.items {
		if e.Kind == voice.Heard {
			q.items = append(q.items[:i], q.items[i+1:]...)
			q.sounds--
			return
		}
	}
}

// end says that nothing more comes.
func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) pop() (e voice.Event, ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return voice.Event{}, false, q.ended
	}
	e = q.items[0]
	q.items[0] = voice.Event{}
	q.items = q.items[1:]
	if e.Kind == voice.Heard {
		q.sounds--
	}
	return e, true, false
}

// pump hands events to out until the queue has ended and is empty, or until stop is closed. Then it closes out.
func (q *queue) pump(out chan<- voice.Event, stop <-chan struct{}) {
	defer close(out)
	for {
		e, ok, ended := q.pop()
		switch {
		case ended:
			return
		case ok:
			select {
			case out <- e:
			case <-stop:
				return
			}
		default:
			select {
			case <-q.more:
			case <-stop:
				return
			}
		}
	}
}
