package sessions

import (
	"slices"
	"time"

	"clank/cancel"
)

// queuedTask is an accepted task. Its record belongs to the goroutine that called Run; the fields that the queue
// needs are constant or guarded by the Manager's lock.
type queuedTask struct {
	rec             TaskRecord // without known passwords
	prompt          string     // the original prompt: for backends only
	likely          []string   // likely passwords in it that are not plain words
	live            *liveSession
	user, guild     string // keys for fair queueing
	handle          *cancel.Handle
	watch           func(Event)
	start           chan struct{} // closed when its turn has come
	positionChanged chan struct{} // holds a token when there are positions to publish

	inbox            *Inbox
	downloads        []File // guarded by the Manager's lock
	runtimeRequested bool   // the person asked for this runtime
	requestedModel   string // the model that the person asked for
	inboxClosed      bool   // notes no longer reach the backend; guarded by the Manager's lock
	totals           runTotals
	clock            *taskClock // nil if there is no time limit

	queueStatus queueStatus
	unpublished []queueStatus // position changes not yet published
	awaitsRoom  bool          // an idle session is being parked for it, which is all that it waits for
	started     bool
}

// queueStatus says where a task stands in the queue.
type queueStatus struct {
	position int    // from 1; 0 = not queued
	shortage string // the resource that the machine lacks
}

// setQueueStatus records where j stands in the queue. The lock is held.
func (j *queuedTask) setQueueStatus(position int, shortage string) {
	status := queueStatus{position, shortage}
	if j.queueStatus == status {
		return
	}
	j.queueStatus = status
	j.unpublished = append(j.unpublished, status)
	select {
	case j.positionChanged <- struct{}{}:
	default:
	}
}

// dispatch starts every task that can start, parks sessions to make room and updates the positions of the others. It
// is called after every change that may let a task start. The lock is held.
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
		if j.awaitsRoom && shortage == "" {
			j.setQueueStatus(0, "") // nobody is ahead of it
		} else {
			j.setQueueStatus(i+1, shortage)
		}
	}
}

// shortageInterval is how often to check whether the machine has room again.
const shortageInterval = 2 * time.Second

// shortage returns the resource that does not suffice to start another task, or "". One task may always run.
func (m *Manager) shortage() string {
	if m.Machine == nil || m.queue.running == 0 {
		return ""
	}
	return m.Machine.Shortage()
}

// retryHeld starts tasks that wait for machine resources, if there are enough now.
func (m *Manager) retryHeld() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held != "" {
		m.dispatch()
	}
}

// nextStartable returns the index of the first task in order that can start now, or -1. If a task only needs room for
// a page, it parks an idle session.
func (m *Manager) nextStartable(order []*queuedTask, lim Limits) int {
	wanted := 0 // pages needed by tasks further ahead
	for i, j := range order {
		j.awaitsRoom = false
		if !m.queue.allowsStart(j, lim) || j.live.busy != nil || j.live.control != nil {
			continue
		}
		if j.live.mayHoldPage || lim.Sessions <= 0 || m.openPages() < lim.Sessions {
			return i
		}
		if wanted++; wanted > m.parking {
			m.makeRoom()
		}
		j.awaitsRoom = wanted <= m.parking
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

// startJob takes j out of the queue and starts it. The lock is held.
func (m *Manager) startJob(j *queuedTask) {
	m.queue.start(j)
	j.started, j.queueStatus = true, queueStatus{}
	j.live.claim()
	j.live.mayHoldPage = true
	if j.live.State != SessionClosed {
		j.live.State = SessionRunning
	}
	close(j.start)
}

// endJob removes j from the queue or the running tasks, and from its session. Further calls do nothing. held says
// that the backend has not released the session.
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
