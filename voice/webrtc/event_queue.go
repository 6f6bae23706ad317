package webrtc

import (
	"slices"
	"sync"

	"clank/voice"
)

// maxQueuedPackets is how many packets of sound wait for a reader that has fallen behind: five seconds of one person.
const maxQueuedPackets = 250

// eventQueue passes events on in order. It never makes anybody wait who puts one in.
type eventQueue struct {
	events chan voice.Event
	wake   chan struct{}

	mu      sync.Mutex
	queued  []voice.Event
	packets int // among events
}

func newEventQueue() *eventQueue {
	return &eventQueue{events: make(chan voice.Event), wake: make(chan struct{}, 1)}
}

func (q *eventQueue) push(e voice.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.Kind == voice.PacketReceived {
		if q.packets++; q.packets > maxQueuedPackets {
			oldest := slices.IndexFunc(q.queued, func(e voice.Event) bool { return e.Kind == voice.PacketReceived })
			q.queued = slices.Delete(q.queued, oldest, oldest+1)
			q.packets--
		}
	}
	q.queued = append(q.queued, e)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *eventQueue) next() (e voice.Event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queued) == 0 {
		return e, false
	}
	e = q.queued[0]
	q.queued = slices.Delete(q.queued, 0, 1)
	if e.Kind == voice.PacketReceived {
		q.packets--
	}
	return e, true
}

// pump hands events to the reader until done is closed.
func (q *eventQueue) pump(done <-chan struct{}) {
	defer close(q.events)
	for {
		e, ok := q.next()
		if !ok {
			select {
			case <-q.wake:
			case <-done:
				return
			}
			continue
		}
		select {
		case q.events <- e:
		case <-done:
			return
		}
	}
}
