package discord

import (
	"sync"

	"clank/voice"
)

// maxQueuedSounds is how many packets wait for a reader that has fallen behind: five seconds of one voice.
const maxQueuedSounds = 250

// eventQueue keeps events in order for a reader that may fall behind. Only packets of sound are ever dropped, the oldest first.
type eventQueue struct {
	mu     sync.Mutex
	items  []voice.Event
	sounds int
	ended  bool
	more   chan struct{} // has one element when there may be something new
}

func newEventQueue() *eventQueue { return &eventQueue{more: make(chan struct{}, 1)} }

func (q *eventQueue) push(e voice.Event) {
	q.mu.Lock()
	if !q.ended {
		if e.Kind == voice.PacketReceived {
			if q.sounds++; q.sounds > maxQueuedSounds {
				q.dropSound()
			}
		}
		q.items = append(q.items, e)
	}
	q.mu.Unlock()
	q.wake()
}

func (q *eventQueue) dropSound() {
	for i, e := range q.items {
		if e.Kind == voice.PacketReceived {
			q.items = append(q.items[:i], q.items[i+1:]...)
			q.sounds--
			return
		}
	}
}

// end says that nothing more comes.
func (q *eventQueue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.wake()
}

func (q *eventQueue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *eventQueue) pop() (e voice.Event, ok, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return voice.Event{}, false, q.ended
	}
	e = q.items[0]
	q.items[0] = voice.Event{}
	q.items = q.items[1:]
	if e.Kind == voice.PacketReceived {
		q.sounds--
	}
	return e, true, false
}

// pump hands events to out until the queue has ended and is empty, or until stop is closed. Then it closes out.
func (q *eventQueue) pump(out chan<- voice.Event, stop <-chan struct{}) {
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
