package sessions

import (
	"slices"

	"clank/cancel"
)

// job is a task that was accepted. Its record belongs to the goroutine that
// called Run; what the line needs of it never changes or is guarded by the
// Manager's lock.
type job struct {
	rec         Record
	live        *live
	user, guild string // whose turn it takes
	handle      *cancel.Handle
	watch       func(Event)
	start       chan struct{} // closed when its turn has come
	moved       chan struct{} // holds a token when there are places to tell

	inbox  *Inbox
	chosen bool   // the runtime was asked for
	model  string // that was asked for
	deaf   bool   // nothing that is said to it reaches the backend any more; guarded by the Manager's lock
	legs   legs

	place   int   // in line, from 1
	places  []int // that it has had and nobody was told of
	started bool
}

// move tells j its place in line. The lock is held.
func (j *job) move(place int) {
	if j.place == place {
		return
	}
	j.place = place
	j.places = append(j.places, place)
	select {
	case j.moved <- struct{}{}:
	default:
	}
}

// dispatch starts every task that can start, parks sessions where tasks need
// the room, and tells the others their place. It is called whenever something
// has changed that can let a task start. The lock is held.
func (m *Manager) dispatch() {
	if m.closed {
		return
	}
	lim := m.Limits()
	order := m.line.order()
	for i := m.next(order, lim); i >= 0; i = m.next(order, lim) {
		m.begin(order[i])
		order = m.line.order()
	}
	for i, j := range order {
		j.move(i + 1)
	}
}

// next returns the index of the first task in order that can start now, or -1.
// Where only an idle session is in the way of one, that session is parked.
func (m *Manager) next(order []*job, lim Limits) int {
	wanted := 0 // pages that tasks further ahead wait for
	for i, j := range order {
		if !m.line.room(j, lim) || j.live.busy != nil {
			continue
		}
		if j.live.open || lim.Sessions <= 0 || m.openPages() < lim.Sessions {
			return i
		}
		if wanted++; wanted > m.parking {
			m.makeRoom()
		}
	}
	return -1
}

// openPages counts the sessions that may hold a page. The lock is held.
func (m *Manager) openPages() int {
	n := 0
	for _, l := range m.live {
		if l.open {
			n++
		}
	}
	return n
}

// begin gives j its place. The lock is held.
func (m *Manager) begin(j *job) {
	m.line.start(j)
	j.started, j.place = true, 0
	j.live.occupy()
	j.live.open = true
	if j.live.State != SessionClosed {
		j.live.State = SessionRunning
	}
	close(j.start)
}

// end takes j out of wherever it is: the line, its place, its session. It may be
// called again. held says that its backend has not let go of the session.
func (m *Manager) end(j *job, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(j.live.tasks, j)
	if i < 0 {
		return
	}
	j.live.tasks = slices.Delete(j.live.tasks, i, i+1)
	if j.started {
		m.line.end(j)
		if !held {
			j.live.release()
		}
	} else {
		m.line.remove(j)
	}
	m.forget(j.live)
	m.dispatch()
}
