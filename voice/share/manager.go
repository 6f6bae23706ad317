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
	// Screenshotter returns what takes the pictures of a session's page.
	Screenshotter(ctx context.Context, s sessions.Session) (videosource.Screenshotter, error)

	// ShareTargets returns the ways to show something to a call, the best first; none means that there is none.
	ShareTargets(c CallRef) []Target

	// CheckShare says whether a session may be shown on behalf of by. It is asked when a share begins and while it
	// continues: people may be shut out, and profiles taken away. Its error is the refusal, in words for people.
	CheckShare(by sessions.Origin, s sessions.Session) error

	// PlaySound plays into a call what the page of a session sounds like, as far as it can, until ctx ends.
	PlaySound(ctx context.Context, c CallRef, s sessions.Session)

	// SendNotice lets the people of a call know something. It must not block.
	SendNotice(n Notice)
}

// Manager has the shares of all calls. Its fields are set before the first use. All methods are safe for concurrent
// use.
type Manager struct {
	Sessions Sessions
	Host     Host
	Links    *Links // for [Manager.Invite]; may be nil without it

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
	turn   chan struct{} // holds a token while somebody begins or ends a share
	users  int           // who has the turn or waits for it
	share  *share        // the turn guards it, and for readers mu
	search *targetSearch // what has the turn and looks for a stage; mu guards it
}

// targetSearch is a share that begins, or looks for another stage.
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
	Trouble     string // why the picture stands still; empty if it does not
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

// Watch finds a share by its id, as [Links.Check] tells it.
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

// acquireSlot takes the turn of a call. The caller leaves.
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

// startSearch notes that the one who has the turn looks for a stage, until the returned function is called: whoever may
// end the share need not wait for that.
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

// cancelSearch ends looking for a stage in a call, if somebody does and may says so, and reports whether it did.
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

// setShare makes a share that of a slot, whose turn the caller has. nil empties it.
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
