package share

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"clank/cancel"
	"clank/sessions"
	"clank/videosource"
)

// Sessions is what sharing needs of the sessions. A [*sessions.Manager] is one.
type Sessions interface {
	Session(ctx context.Context, id string) (sessions.Session, error)
	SetShared(ctx context.Context, id string, shared bool) error
	Subscribe() (events <-chan sessions.Event, end func())
}

// Notice is something for the people of a call to know.
type Notice struct {
	Call CallRef
	Text string // one or more sentences
	Link string // an address that goes with it; it has a secret in it and is for these people only
}

// Host is what a [Manager] needs of the program. Its methods are safe for concurrent use.
type Host interface {
	// Screenshotter returns what captures the page of a session.
	Screenshotter(ctx context.Context, s sessions.Session) (videosource.Screenshotter, error)

	// ShareTargets returns the targets of a call, the best first; it may be empty.
	ShareTargets(c CallRef) []Target

	// CheckShare returns an error if by may not share a session. It is called when a share begins and during the share,
	// because access and profiles can be revoked. Its error is the refusal, for people.
	CheckShare(by sessions.Origin, s sessions.Session) error

	// PlaySound plays the sound of a session's page into a call, if possible, until ctx ends.
	PlaySound(ctx context.Context, c CallRef, s sessions.Session)

	// SendNotice sends a notice to the people of a call. It must not block.
	SendNotice(n Notice)
}

// Manager has the shares of all calls. Its fields are set before the first use. All methods are safe for concurrent
// use.
type Manager struct {
	Sessions Sessions
	Host     Host
	Links    *Links // for [Manager.Invite]; may be nil if that is not used

	// NewSource sets up the pictures of a share, whose Screen, Log and OnTrouble are set afterwards. May be nil.
	NewSource func() *videosource.Source

	Logger *slog.Logger // nil is silent

	mu       sync.Mutex
	closed   bool
	slots    map[string]*callSlot // by [CallRef.ID]
	captures map[string]*capture  // by the id of their session
	work     sync.WaitGroup
}

// callSlot is the place for the share of one call.
type callSlot struct {
	turn   chan struct{} // holds a token while a share begins or ends
	users  int           // how many hold or wait for the turn
	share  *share        // the turn guards it, and for readers mu
	search *targetSearch // what has the turn and looks for a target; mu guards it
}

// targetSearch is a share that begins, or looks for another target.
type targetSearch struct {
	requestedBy sessions.Origin
	cancel      context.CancelCauseFunc
}

// State describes a share.
type State struct {
	ID          string
	Call        CallRef
	SessionID   string
	RequestedBy sessions.Origin // who began it
	Since       time.Time
	Target      string
	Location    ViewLocation
	Trouble     string // why the picture is frozen; empty if it is not
	Picture     videosource.Stats
}

// Current returns the share of a call, if it has one.
func (m *Manager) Current(c CallRef) (State, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.slots[c.ID]; s != nil && s.share != nil {
		return s.share.state(), true
	}
	return State{}, false
}

// WatchedShare is a share as the viewer page shows it.
type WatchedShare struct {
	ID     string
	Source *videosource.Source // to subscribe to
	Done   <-chan struct{}     // closed when the share has ended
}

// Watch returns the share with an id, which [Links.Check] returns.
func (m *Manager) Watch(id string) (WatchedShare, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.slots {
		if s.share != nil && s.share.id == id {
			return WatchedShare{ID: id, Source: s.share.source, Done: s.share.done}, true
		}
	}
	return WatchedShare{}, false
}

// acquireSlot takes the turn of a call. The caller returns it with leave.
func (m *Manager) acquireSlot(ctx context.Context, c CallRef) (*callSlot, error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, newRefusal(ShuttingDown, "the program is shutting down, so nothing can be shared any more")
	}
	s := m.slots[c.ID]
	if s == nil {
		s = &callSlot{turn: make(chan struct{}, 1)}
		if m.slots == nil {
			m.slots = map[string]*callSlot{}
		}
		m.slots[c.ID] = s
	}
	s.users++
	m.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		m.dropSlotUser(c, s)
		return nil, context.Cause(ctx)
	}
}

func (m *Manager) releaseSlot(c CallRef, s *callSlot) {
	<-s.turn
	m.dropSlotUser(c, s)
}

func (m *Manager) dropSlotUser(c CallRef, s *callSlot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.users--; s.users == 0 && s.share == nil {
		delete(m.slots, c.ID)
	}
}

// startSearch records that the holder of the turn looks for a target, until the returned function is called: people who
// may end the share need not wait for that.
func (m *Manager) startSearch(ctx context.Context, s *callSlot, by sessions.Origin) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	m.mu.Lock()
	s.search = &targetSearch{by, cancel}
	if m.closed {
		cancel(errShutDown)
	}
	m.mu.Unlock()
	return ctx, func() {
		m.mu.Lock()
		s.search = nil
		m.mu.Unlock()
		cancel(nil)
	}
}

// cancelSearch cancels a running search for a target in a call if may allows it, and reports whether it did.
func (m *Manager) cancelSearch(c CallRef, may func(by sessions.Origin) bool, cause error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slots[c.ID]
	if s == nil || s.search == nil || !may(s.search.requestedBy) {
		return false
	}
	s.search.cancel(cause)
	return true
}

// setShare sets the share of a slot, whose turn the caller holds; nil removes it.
func (m *Manager) setShare(s *callSlot, sh *share) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.share = sh
}

// Close ends all shares and waits for what belongs to them, at most until ctx ends. Nothing can be shared after that.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	var open []*callSlot
	for _, s := range m.slots {
		s.users++
		open = append(open, s)
		if s.search != nil {
			s.search.cancel(errShutDown)
		}
	}
	m.mu.Unlock()
	for _, s := range open {
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if s.share != nil {
			m.endShare(ctx, s, errShutDown)
		}
		<-s.turn
	}
	return cancel.WaitFor(ctx, &m.work)
}

func (m *Manager) logger() *slog.Logger { return cmp.Or(m.Logger, slog.New(slog.DiscardHandler)) }
