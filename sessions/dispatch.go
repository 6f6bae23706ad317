package sessions

import (
	"slices"
	"time"

	"clank/cancel"
)

// queuedTask is a task that was accepted. Its record belongs to the goroutine that called Run; what the line needs of
// it never changes or is guarded by the Manager's lock.
type queuedTask struct {
	rec             TaskRecord // without passwords, as far as they are known
	prompt          string     // as it was asked: for backends alone
	likely          []string   // what seems to be a password in it, and is no plain word
	live            *liveSession
	user, guild     string // whose turn it takes
	handle          *cancel.Handle
	watch           func(Event)
	start           chan struct{} // closed when its turn has come
	positionChanged chan struct{} // holds a token when there are places to tell

	inbox            *Inbox
	downloads        []File // guarded by the Manager's lock
	runtimeRequested bool   // the runtime was asked for
	requestedModel   string // that was asked for
	inboxClosed      bool   // nothing that is said to it reaches the backend any more; guarded by the Manager's lock
	totals           runTotals
	clock            *taskClock // nil if it may take as long as it likes

	place            queuePlace
	unreportedPlaces []queuePlace // that it has had and nobody was told of
	started          bool
}

// queuePlace is where a task stands in line.
type queuePlace struct {
	position int    // from 1; 0 = not in line
	shortage string // of what the machine has too little
}

// setPlace tells j its place in line. The lock is held.
func (j *queuedTask) setPlace(position int, shortage string) {
	place := queuePlace{position, shortage}
	if j.place == place {
		return
	}
	j.place = place
	j.unreportedPlaces = append(j.unreportedPlaces, place)
	select {
	case j.positionChanged <- struct{}{}:
	default:
	}
}

// dispatch starts every task that can start, parks sessions where tasks need the room, and tells the others their
// place. It is called whenever something has changed that can let a task start. The lock is held.
func (m *Manager) dispatch() {
	if m.noteDrained(); m.closed || m.drained != nil {
		return
	}
	lim := m.Limits()
	order := m.queue.order()
	shortage := ""
	for i := m.nextStartable(order, lim); i >= 0; i = m.nextStartable(order, lim) {
		if shortage = m.shortage(); shortage != "" {
			if m.parking == 0 {
				m.makeRoom()
			}
			break
		}
		m.startJob(order[i])
		order = m.queue.order()
	}
	m.held = shortage
	for i, j := range order {
		j.setPlace(i+1, shortage)
	}
}

// shortageInterval is how often it is looked whether the machine has room again.
const shortageInterval = 2 * time.Second

// shortage says of what the machine has too little to start a task beside those that run. One task always runs.
func (m *Manager) shortage() string {
	if m.Machine == nil || m.queue.running == 0 {
		return ""
	}
	return m.Machine.Shortage()
}

// retryHeld starts tasks that waited for room on the machine, if there is some now.
func (m *Manager) retryHeld() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != "" {
		m.dispatch()
	}
}

// nextStartable returns the index of the first task in order that can start now, or -1.
// Where only an idle session is in the way of one, that session is parked.
func (m *Manager) nextStartable(order []*queuedTask, lim Limits) int {
	wanted := 0 // pages that tasks further ahead wait for
	for i, j := range order {
		if !m.queue.allowsStart(j, lim) || j.live.busy != nil || j.live.control != nil {
			continue
		}
		if j.live.mayHoldPage || lim.Sessions <= 0 || m.openPages() < lim.Sessions {
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
		if l.mayHoldPage {
			n++
		}
	}
	return n
}

// startJob gives j its place. The lock is held.
func (m *Manager) startJob(j *queuedTask) {
	m.queue.start(j)
	j.started, j.place = true, queuePlace{}
	j.live.claim()
	j.live.mayHoldPage = true
	if j.live.State != SessionClosed {
		j.live.State = SessionRunning
	}
	close(j.start)
}

// endJob takes j out of wherever it is: the line, its place, its session. It may be
// called again. held says that its backend has not let go of the session.
func (m *Manager) endJob(j *queuedTask, held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(j.live.tasks, j)
	if i < 0 {
		return
	}
	j.live.tasks = slices.Delete(j.live.tasks, i, i+1)
	if j.started {
		m.queue.end(j)
		if !held {
			j.live.release()
		}
	} else {
		m.queue.remove(j)
	}
	m.dropUnused(j.live)
	m.dispatch()
}
