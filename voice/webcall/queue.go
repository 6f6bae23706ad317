package webcall

import (
	"slices"
	"sync"

	"clank/voice"
)

// maxPackets is how many packets of sound wait for a reader that has fallen behind: five seconds of one person.
const maxPackets = 250

// queue passes events on in order. It never makes anybody wait who puts one in.
type queue struct {
	out  chan voice.Event
	news chan struct{}

	mu      sync.Mutex
	events  []voice.Event
	packets int // among events
}

func newQueue() *queue { return &queue{out: make(chan voice.Event), news: make(chan struct{}, 1)} }

func (q *queue) push(e voice.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.Kind == voice.Heard {
		if q.packets++; q.packets > maxPackets {
			oldest := slices.IndexFunc(q.events, func(e voice.Event) bool { return e.Kind == voice.Heard })
			q.events = slices.Delete(q.events, oldest, oldest+1)
			q.packets--
		}
	}
	q.events = append(q.events, e)
	select {
	case q.news <- struct{}{}:
	default:
	}
}

func (q *queue) next() (e voice.Event, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		return e, false
	}
	e = q.events[0]
	q.events = slices.Delete(q.events, 0, 1)
	if e.Kind == voice.Heard {
		q.packets--
	}
	return e, true
}

// pump hands events to the reader until done is closed.
func (q *queue) pump(done <-chan struct{}) {
	defer close(q.out)
	for {
		e, ok := q.next()
		if !ok {
			select {
			case <-q.news:
			case <-done:
				return
			}
			continue
		}
		select {
		case q.out <- e:
		case <-done:
			return
		}
	}
}
