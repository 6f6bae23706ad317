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

// liveSession is a session that is open or that tasks wait for. All of it is guarded by
// the Manager's lock, but for saving.
type liveSession struct {
	Session
	mayHoldPage bool          // the backend may hold a page for it
	mustPark    bool          // whatever is lost; while it is being parked
	keptOpen    time.Time     // when parking it would have lost something
	busy        chan struct{} // not nil: it is worked at, or being closed; closed when it is free again
	tasks       []*queuedTask // in line or running
	pins        int           // calls that hold it; not forgotten meanwhile
	touched     bool          // a task may be using the page
	watched     time.Time     // when somebody last began or ended to watch it, which is no use of it but keeps it
	control     *Control      // of the person who holds the page, or waits for the step that runs
	// controlChanged is closed when control changes; nil if nobody waits for that.
	controlChanged chan struct{}
	// usedRuntimes are the runtimes whose backends may hold something for it.
	usedRuntimes map[string]bool
	secrets      Secrets // that were typed into password fields, since it is live
	vaultTold    bool    // the person was told of the vault

	saveMu sync.Mutex // held while the session is saved, so that the last state wins
}

// idleSince returns since when nobody has used or watched the session.
func (l *liveSession) idleSince() time.Time {
	if l.watched.After(l.LastUsed) {
		return l.watched
	}
	return l.LastUsed
}

// claim claims the session, which must be free.
func (l *liveSession) claim() { l.busy = make(chan struct{}) }

func (l *liveSession) release() {
	close(l.busy)
	l.busy = nil
}

// stopAll stops all tasks of the session.
func (l *liveSession) stopAll(c *cancel.Cause) {
	for _, j := range l.tasks {
		if j.handle != nil { // otherwise it will find out by itself, see [Manager.queue]
			j.handle.Stop(c)
		}
	}
}

// endControl ends the hold on the page, if there is one. The Manager's lock is held.
func (l *liveSession) endControl(err error) {
	if l.control != nil {
		l.control.end(err)
	}
}

// useRuntime notes that a runtime's backend may hold something for the session.
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

// parkIdle parks the sessions that nothing has used for long enough.
func (m *Manager) parkIdle() {
	idle := m.Limits().SessionIdle
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Now()
	for _, l := range m.live {
		if !m.closed && idle > 0 && l.parkable() && now.Sub(l.idleSince()) >= idle && now.Sub(l.keptOpen) >= idle {
			m.park(l, false)
		}
	}
	m.dispatch()
}

// park has a session parked, which must be free; one of which something would be lost only if it must. The lock is held.
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

// startParking starts to park what is to be parked.
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

// makeRoom parks the idle session that was used longest ago, if possible one of which nothing is lost. The lock is held.
func (m *Manager) makeRoom() {
	var oldest *liveSession
	for _, l := range m.live {
		if l.parkable() && (oldest == nil || l.goesBefore(oldest)) {
			oldest = l
		}
	}
	if oldest != nil {
		m.park(oldest, true)
	}
}

// goesBefore reports whether a session is parked before another, where one has to be.
func (l *liveSession) goesBefore(other *liveSession) bool {
	if kept := l.keptOpen.After(l.idleSince()); kept != other.keptOpen.After(other.idleSince()) {
		return !kept
	}
	return l.idleSince().Before(other.idleSince())
}

// parkPage parks the page of a session that the caller has occupied. If something of it would be lost, the page stays
// open and the session is free again: it returns false.
func (m *Manager) parkPage(ctx context.Context, l *liveSession) bool {
	m.mu.Lock()
	id, worked, must := l.ID, slices.Sorted(maps.Keys(l.usedRuntimes)), l.mustPark
	m.mu.Unlock()
	for _, runtime := range worked {
		p, ok := m.Backends[runtime].(Parker)
		if !ok {
			continue // its page is closed
		}
		parked, err := parkBackend(ctx, p, id, must)
		if err != nil {
			m.Logger.Warn("parking a session's page failed", "session", id, "runtime", runtime, "err", err)
		}
		m.mu.Lock()
		if !parked && err == nil {
			l.keptOpen = m.Now()
			l.release()
			m.dispatch()
			m.mu.Unlock()
			return false
		}
		if parked {
			delete(l.usedRuntimes, runtime) // or closing would lose what was kept
		}
		m.mu.Unlock()
	}
	return true
}

// parkBackend parks a session's page, with a deadline, and turns a panic into an error.
func parkBackend(ctx context.Context, p Parker, id string, must bool) (parked bool, err error) {
	ctx, done := context.WithTimeout(ctx, closeWait)
	defer done()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the backend crashed: %v\n%s", p, debug.Stack())
		}
	}()
	return p.Park(ctx, id, must)
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
		<-busy // its owner always frees it, and is waited for by Close
	}
	m.closePage(ctx, l, state)
}

// closePage closes the page of a session that the caller has occupied, saves its
// new state and frees it. It is parked or closed then, whatever the backend says.
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

// closeBackend closes a session's page, with a deadline, and turns a panic into an error.
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

// dropUnused drops a session that is neither open nor waited for. The lock is held.
func (m *Manager) dropUnused(l *liveSession) {
	if l.busy == nil && !l.mayHoldPage && len(l.tasks) == 0 && l.pins == 0 && l.control == nil {
		delete(m.live, l.ID)
	}
}

// saveSession saves the session as it is now.
func (m *Manager) saveSession(ctx context.Context, l *liveSession) error {
	return m.saveWith(ctx, l, func(ctx context.Context, s Session) error { return m.Store.SaveSession(ctx, s) })
}

// saveWith calls save with the session as it is now, one at a time for each session, and with a deadline instead of
// the end of ctx: what has happened is written down also when the task has been stopped meanwhile.
func (m *Manager) saveWith(ctx context.Context, l *liveSession, save func(context.Context, Session) error) error {
	ctx, done := context.WithTimeoutCause(context.WithoutCancel(ctx), storeWait, errStoreWait)
	defer done()
	l.saveMu.Lock()
	defer l.saveMu.Unlock()
	return save(ctx, m.current(l))
}

// current returns the session as it is now.
func (m *Manager) current(l *liveSession) Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return l.Session
}

// pin returns the session of that id, pinned: the caller must unpin it. One
// that is not live is brought in from the store.
func (m *Manager) pin(ctx context.Context, id string) (*liveSession, error) {
	if err := m.lockLoading(ctx); err != nil {
		return nil, err
	}
	defer m.unlockLoading()
	return m.pinLoading(ctx, id)
}

// pinLoading pins a session as pin does. The caller holds the loading lock.
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

// addLive makes a session live, pinned.
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

// CloseSession closes a session for good: its tasks, running and in line, are stopped, and its page is closed. by may
// do so if he owns it or is a moderator, which the operator of the dashboard is. If ctx ends before the page is
// closed, the session is closed all the same, and the error says so.
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
	if m.closed { // Close lets go of it
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
	l.noteControl()
	return nil
}

// SetShared says whether somebody watches the session's page. A shared session
// is not parked, and one that was is parked later. To watch is not to use: which
// session was used last stays the same.
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
	l.Shared, l.watched = shared, m.Now()
	m.dispatch()
	m.mu.Unlock()
	if err := m.saveSession(ctx, l); err != nil {
		return fmt.Errorf("share session %s: %w", id, err)
	}
	return nil
}
