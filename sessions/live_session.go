package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"clank/cancel"
)

// liveSession is a session that is open or has tasks. The Manager's lock guards every field except saveMu.
type liveSession struct {
	Session
	mayHoldPage bool          // the backend may have a page open for it
	mustPark    bool          // park even if page state would be lost; set while it is being parked
	parkRefused time.Time     // when parking was last refused because page state would have been lost
	busy        chan struct{} // non-nil while a task runs or the session is being closed; closed when it is free again
	tasks       []*queuedTask // queued or running
	pins        int           // callers that hold the session; it is not dropped from memory while there are any
	pageInUse   bool          // a task may be using the page
	lastWatched time.Time     // when a viewer last joined or left; it delays parking but does not count as use
	control     *Control      // the person who holds the page or waits for the current step to end
	// controlChanged is closed when control changes; nil if nobody waits for a change.
	controlChanged chan struct{}
	// usedRuntimes are the runtimes whose backends may hold resources for the session.
	usedRuntimes   map[string]bool
	secrets        Secrets // typed into password fields since the session was loaded
	vaultHintShown bool    // the person was already shown vaultHint

	saveMu sync.Mutex // held while the session is saved, so that the latest state wins
}

// idleSince returns when the session was last used or watched.
func (l *liveSession) idleSince() time.Time {
	if l.lastWatched.After(l.LastUsed) {
		return l.lastWatched
	}
	return l.LastUsed
}

// claim marks the session as busy. It must be free.
func (l *liveSession) claim() { l.busy = make(chan struct{}) }

func (l *liveSession) release() {
	close(l.busy)
	l.busy = nil
}

// stopAll cancels all tasks of the session with cause c.
func (l *liveSession) stopAll(c *cancel.Cause) {
	for _, j := range l.tasks {
		if j.handle != nil { // otherwise enqueue cancels it, see [Manager.enqueue]
			j.handle.Stop(c)
		}
	}
}

// endControl ends a person's control of the page, if there is any. The Manager's lock is held.
func (l *liveSession) endControl(err error) {
	if l.control != nil {
		l.control.end(err)
	}
}

// useRuntime records that a runtime's backend may hold resources for the session.
func (l *liveSession) useRuntime(runtime string) {
	if l.usedRuntimes == nil {
		l.usedRuntimes = make(map[string]bool)
	}
	l.usedRuntimes[runtime] = true
}

// parkable reports whether the session can be parked now.
func (l *liveSession) parkable() bool {
	return l.mayHoldPage && l.busy == nil && !l.Shared && l.control == nil && len(l.tasks) == 0
}

// parkIdle parks the sessions that have been idle for longer than [Limits.SessionIdle].
func (m *Manager) parkIdle() {
	idle := m.Limits().SessionIdle
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for _, l := range m.live {
		if !m.closed && idle > 0 && l.parkable() && now.Sub(l.idleSince()) >= idle && now.Sub(l.parkRefused) >= idle {
			m.park(l, false)
		}
	}
	m.dispatch()
}

// park queues a free session for parking. Without must, it is not parked if page state would be lost. The lock is
// held.
func (m *Manager) park(l *liveSession, must bool) {
	l.claim()
	l.mustPark = must
	m.parking++
	m.toPark = append(m.toPark, l)
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// startParking parks the queued sessions, each on its own goroutine.
func (m *Manager) startParking(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.toPark {
		m.background.Go(func() {
			if m.parkPage(ctx, l) {
				m.closePage(ctx, l, SessionParked)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.parking--
			m.dispatch()
		})
	}
	m.toPark = nil
}

// makeRoom parks the idle session that was used longest ago, preferring those that lose no page state. The lock is
// held.
func (m *Manager) makeRoom() {
	var oldest *liveSession
	for _, l := range m.live {
		if l.parkable() && (oldest == nil || l.parksBefore(oldest)) {
			oldest = l
		}
	}
	if oldest != nil {
		m.park(oldest, true)
	}
}

// parksBefore reports whether makeRoom prefers to park l rather than other.
func (l *liveSession) parksBefore(other *liveSession) bool {
	if kept := l.parkRefused.After(l.idleSince()); kept != other.parkRefused.After(other.idleSince()) {
		return !kept
	}
	return l.idleSince().Before(other.idleSince())
}

// parkPage parks the page of a session that the caller has claimed. If page state would be lost, parkPage leaves the
// page open, frees the session and returns false.
func (m *Manager) parkPage(ctx context.Context, l *liveSession) bool {
	m.mu.Lock()
	id, worked, must := l.ID, slices.Sorted(maps.Keys(l.usedRuntimes)), l.mustPark
	m.mu.Unlock()
	for _, runtime := range worked {
		parked, err := parkBackend(ctx, m.Backends[runtime], id, must)
		if err != nil {
			m.Logger.Warn("parking a session's page failed", "session", id, "runtime", runtime, "err", err)
		}
		m.mu.Lock()
		if !parked && err == nil {
			l.parkRefused = time.Now()
			l.release()
			m.dispatch()
			m.mu.Unlock()
			return false
		}
		if parked {
			delete(l.usedRuntimes, runtime) // otherwise closing would discard the parked state
		}
		m.mu.Unlock()
	}
	return true
}

// parkBackend parks a session's page within closeWait and turns a panic into an error.
func parkBackend(ctx context.Context, b Backend, id string, must bool) (parked bool, err error) {
	ctx, done := context.WithTimeout(ctx, closeWait)
	defer done()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the backend crashed: %v\n%s", p, debug.Stack())
		}
	}()
	return b.Park(ctx, id, must)
}

// closeWhenFree waits until the session is free and then closes its page.
func (m *Manager) closeWhenFree(ctx context.Context, l *liveSession, state SessionState) {
	for {
		m.mu.Lock()
		busy := l.busy
		if busy == nil {
			l.claim()
			m.mu.Unlock()
			break
		}
		m.mu.Unlock()
		<-busy // whoever holds it always frees it, and Close waits for them
	}
	m.closePage(ctx, l, state)
}

// closePage closes the page of a session that the caller has claimed, saves the session's new state and frees it. The
// session ends up parked or closed even if the backend fails.
func (m *Manager) closePage(ctx context.Context, l *liveSession, state SessionState) {
	m.mu.Lock()
	id, worked := l.ID, slices.Sorted(maps.Keys(l.usedRuntimes))
	m.mu.Unlock()
	if state == SessionClosed { // it may have been parked
		worked = slices.Sorted(maps.Keys(m.Backends))
	}
	for _, runtime := range worked {
		if err := closeBackend(ctx, m.Backends[runtime], id); err != nil {
			m.Logger.Warn("closing a session's page failed", "session", id, "runtime", runtime, "err", err)
		}
	}
	m.mu.Lock()
	l.mayHoldPage, l.usedRuntimes = false, nil
	if l.State != SessionClosed {
		l.State = state
	}
	closed := l.State == SessionClosed
	m.mu.Unlock()
	if closed && m.Files != nil {
		m.Files.Forget(id)
	}
	if err := m.saveSession(ctx, l); err != nil {
		m.Logger.Error("saving a session failed", "session", id, "err", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l.release()
	m.dropUnused(l)
	m.dispatch()
}

// closeBackend closes a session's page within closeWait and turns a panic into an error.
func closeBackend(ctx context.Context, b Backend, id string) (err error) {
	ctx, done := context.WithTimeout(ctx, closeWait)
	defer done()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the backend crashed: %v\n%s", p, debug.Stack())
		}
	}()
	return b.Close(ctx, id)
}

// dropUnused removes a session from memory if it is neither open nor needed. The lock is held.
func (m *Manager) dropUnused(l *liveSession) {
	if l.busy == nil && !l.mayHoldPage && len(l.tasks) == 0 && l.pins == 0 && l.control == nil {
		delete(m.live, l.ID)
	}
}

// saveSession saves the current state of the session.
func (m *Manager) saveSession(ctx context.Context, l *liveSession) error {
	return m.saveWith(ctx, l, func(ctx context.Context, s Session) error { return m.Store.SaveSession(ctx, s) })
}

// saveWith calls save with the current state of the session, one call at a time per session. It ignores the end of
// ctx and sets its own deadline, so that what happened is saved even if the task was stopped.
func (m *Manager) saveWith(ctx context.Context, l *liveSession, save func(context.Context, Session) error) error {
	ctx, done := context.WithTimeoutCause(context.WithoutCancel(ctx), storeWait, errStoreWait)
	defer done()
	l.saveMu.Lock()
	defer l.saveMu.Unlock()
	return save(ctx, m.current(l))
}

// current returns a copy of the session's current state.
func (m *Manager) current(l *liveSession) Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return l.Session
}

// pin returns the session with the given id, loading it from the store if necessary. The caller must unpin it.
func (m *Manager) pin(ctx context.Context, id string) (*liveSession, error) {
	if err := m.lockLoading(ctx); err != nil {
		return nil, err
	}
	defer m.unlockLoading()
	return m.pinLoading(ctx, id)
}

// pinLoading is like pin for a caller that holds the loading lock.
func (m *Manager) pinLoading(ctx context.Context, id string) (*liveSession, error) {
	m.mu.Lock()
	l := m.live[id]
	if l != nil {
		l.pins++
	}
	m.mu.Unlock()
	if l != nil {
		return l, nil
	}
	s, err := m.Store.Session(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, refuse(ErrNotFound, "there is no session %q, or it was forgotten; leave it out to start a new one", id)
	}
	if err != nil {
		return nil, fmt.Errorf("look up session %q: %w", id, err)
	}
	return m.addLive(s), nil
}

// addLive adds a session to those in memory and pins it.
func (m *Manager) addLive(s Session) *liveSession {
	l := &liveSession{Session: s, pins: 1}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live[l.ID] = l
	return l
}

func (m *Manager) unpin(l *liveSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.pins--
	m.dropUnused(l)
}

// CloseSession closes a session for good: it stops its queued and running tasks and closes its page. Only the
// session's owner or a moderator may do that; the operator of the dashboard counts as a moderator. If ctx ends before
// the page is closed, the session is closed nevertheless and the error says so.
func (m *Manager) CloseSession(ctx context.Context, id string, by cancel.Actor) error {
	l, err := m.pin(ctx, id)
	if err != nil {
		return err
	}
	defer m.unpin(l)
	if err := m.markClosed(l, by); err != nil {
		return err
	}
	if err := m.saveSession(ctx, l); err != nil {
		return fmt.Errorf("close session %s: %w", id, err)
	}
	done := make(chan struct{})
	m.mu.Lock()
	if m.closed { // Close frees the session
		m.mu.Unlock()
		return ErrShuttingDown
	}
	m.background.Go(func() {
		defer close(done)
		m.closeWhenFree(context.WithoutCancel(ctx), l, SessionClosed)
	})
	m.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("session %s is closed, but its page has not let go yet: %w", id, context.Cause(ctx))
	}
}

func (m *Manager) markClosed(l *liveSession, by cancel.Actor) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !by.Moderator && (by.ID == "" || by.ID != l.Origin.User) {
		return refuse(ErrNotOwner, "session %s belongs to %s, so only they or a moderator can close it", l.ID, l.owner())
	}
	l.State, l.Shared = SessionClosed, false
	l.stopAll(&cancel.Cause{Reason: cancel.Stopped, By: by.Name, Detail: "the session was closed"})
	l.endControl(errSessionClosed)
	l.signalControl()
	return nil
}

// SetShared sets whether somebody watches the session's page. A shared session is not parked, and one that was shared
// is parked later. Watching does not count as use: LastUsed does not change.
func (m *Manager) SetShared(ctx context.Context, id string, shared bool) error {
	l, err := m.pin(ctx, id)
	if err != nil {
		return err
	}
	defer m.unpin(l)
	m.mu.Lock()
	if shared && l.State == SessionClosed {
		m.mu.Unlock()
		return refuse(ErrSessionClosed, "session %s is closed, so there is nothing to watch", id)
	}
	l.Shared, l.lastWatched = shared, time.Now()
	m.dispatch()
	m.mu.Unlock()
	if err := m.saveSession(ctx, l); err != nil {
		return fmt.Errorf("share session %s: %w", id, err)
	}
	return nil
}
