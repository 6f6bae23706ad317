package sharing

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

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
	Call Call
	Text string // one or more sentences
	Link string // an address that goes with it; it has a secret in it and is for these people only
}

// Manager has the shares of all calls. Its fields are set before the first use. All methods are safe for concurrent use.
type Manager struct {
	Sessions Sessions

	// Screen gives what takes the pictures of a session's page. Nil means that there is no browser.
	Screen func(ctx context.Context, s sessions.Session) (videosource.Screenshotter, error)

	// Stages are the ways to show something to a call, the best first; none means that it has no way to show anything.
	Stages func(c Call) []Stage

	// May is asked whether a session may be shown on behalf of by, when a share begins and while it goes on: people may be shut out, and
	// profiles taken away. Its error is the refusal, in words for people. Nil means that it always may.
	May func(by sessions.Origin, s sessions.Session) error

	// Live reports whether a call is going on. Nil means that all that are asked about are.
	Live func(c Call) bool

	// Tell lets the people of a call know something. It must not block and may be nil.
	Tell func(n Notice)

	// Source sets up the pictures of a share, whose Screen, Log and Trouble are set afterwards. May be nil.
	Source func() *videosource.Source

	Logger *slog.Logger // nil is silent

	mu     sync.Mutex
	closed bool
	slots  map[string]*slot // by [Call.ID]
	films  map[string]*film // by the id of their session
	work   sync.WaitGroup
}

// slot is the place for the share of one call.
type slot struct {
	turn  chan struct{} // holds a token while somebody begins or ends a share
	users int           // who has the turn or waits for it
	share *share        // the turn guards it, and for readers mu
	climb *attempt      // what has the turn and looks for a stage; mu guards it
}

// attempt is a share that begins, or looks for another stage.
type attempt struct {
	by     sessions.Origin
	cancel context.CancelCauseFunc
}

// State is what a share is like now.
type State struct {
	ID        string
	Call      Call
	SessionID string
	By        sessions.Origin // who began it
	Since     time.Time
	Stage     string
	Place     Place
	Trouble   string // why the picture stands still; empty if it does not
	Picture   videosource.Stats
}

// Shares are the shares there are, the oldest first.
func (m *Manager) Shares() []State {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []State{}
	for _, s := range m.slots {
		if s.share != nil {
			out = append(out, s.share.state())
		}
	}
	slices.SortFunc(out, func(a, b State) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// Current is the share of a call, if it has one.
func (m *Manager) Current(c Call) (State, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.slots[c.ID]; s != nil && s.share != nil {
		return s.share.state(), true
	}
	return State{}, false
}

// Watch is a share as the viewer page shows it.
type Watch struct {
	ID     string
	Source *videosource.Source // to subscribe to
	Done   <-chan struct{}     // closed when the share has ended
}

// Watch finds a share by its id, as [Links.Check] tells it.
func (m *Manager) Watch(id string) (Watch, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.slots {
		if s.share != nil && s.share.id == id {
			return Watch{ID: id, Source: s.share.source, Done: s.share.done}, true
		}
	}
	return Watch{}, false
}

// enter takes the turn of a call. The caller leaves.
func (m *Manager) enter(ctx context.Context, c Call) (*slot, error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, refuse(ShuttingDown, "the program is shutting down, so nothing can be shared any more")
	}
	s := m.slots[c.ID]
	if s == nil {
		s = &slot{turn: make(chan struct{}, 1)}
		if m.slots == nil {
			m.slots = map[string]*slot{}
		}
		m.slots[c.ID] = s
	}
	s.users++
	m.mu.Unlock()
	select {
	case s.turn <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		m.forget(c, s)
		return nil, context.Cause(ctx)
	}
}

func (m *Manager) leave(c Call, s *slot) {
	<-s.turn
	m.forget(c, s)
}

func (m *Manager) forget(c Call, s *slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.users--; s.users == 0 && s.share == nil {
		delete(m.slots, c.ID)
	}
}

// climbing notes that the one who has the turn looks for a stage, until the returned function is called: whoever may end the share need
// not wait for that.
func (m *Manager) climbing(ctx context.Context, s *slot, by sessions.Origin) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	m.mu.Lock()
	s.climb = &attempt{by, cancel}
	if m.closed {
		cancel(errShutDown)
	}
	m.mu.Unlock()
	return ctx, func() {
		m.mu.Lock()
		s.climb = nil
		m.mu.Unlock()
		cancel(nil)
	}
}

// giveUp ends looking for a stage in a call, if somebody does and may says so, and reports whether it did.
func (m *Manager) giveUp(c Call, may func(by sessions.Origin) bool, cause error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.slots[c.ID]
	if s == nil || s.climb == nil || !may(s.climb.by) {
		return false
	}
	s.climb.cancel(cause)
	return true
}

// put makes a share that of a slot, whose turn the caller has. nil empties it.
func (m *Manager) put(s *slot, sh *share) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.share = sh
}

// Close ends all shares and waits for what belongs to them, at most until ctx ends. Nothing can be shared after that.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	var open []*slot
	for _, s := range m.slots {
		s.users++
		open = append(open, s)
		if s.climb != nil {
			s.climb.cancel(errShutDown)
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
			m.end(ctx, s, errShutDown)
		}
		<-s.turn
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.work.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *Manager) tell(n Notice) {
	if m.Tell != nil {
		m.Tell(n)
	}
}

func (m *Manager) logger() *slog.Logger {
	if m.Logger != nil {
		return m.Logger
	}
	return slog.New(slog.DiscardHandler)
}
