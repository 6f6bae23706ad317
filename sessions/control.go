package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/cancel"
)

// DefaultControlIdle is how long somebody may hold a page without doing anything.
const DefaultControlIdle = 3 * time.Minute

// Control is a person's hold on the page of a session: from the moment it is granted until it ends, no task reads or
// changes anything there, and no new one begins. The holder calls Touch with all that they do, and End.
// Its methods are safe for concurrent use.
type Control struct {
	manager *Manager
	live    *liveSession
	who     string // whose it is, by kind and id
	name    string
	granted chan struct{}
	ended   chan struct{}
	timer   *time.Timer // ends it when nothing is done
	idle    time.Duration

	// The Manager's lock guards these.
	since   time.Time // it was granted
	offered bool
	wanted  []string
	onEnd   func()
	err     error // why it ended; set before ended is closed
}

// ControlRequest says who wants to hold a session's page.
type ControlRequest struct {
	From    Origin
	Invited bool // by somebody who may, with a link for this session
}

// ControlState tells who holds the page of a session.
type ControlState struct {
	Holder  string          `json:"holder,omitempty"`  // as people read it; empty = nobody
	Waiting bool            `json:"waiting,omitempty"` // for the step that runs
	Since   time.Time       `json:"since,omitzero"`
	Offered bool            `json:"offered,omitempty"` // the next one who wants it gets it
	Wanted  []string        `json:"wanted,omitempty"`  // who else has asked for it since
	Closed  bool            `json:"closed,omitempty"`  // the session is: nobody can hold its page any more
	Changed <-chan struct{} `json:"-"`                 // closed when this is not so any more; nil if the session is not open
}

// Why somebody does not hold a page, or not any more. The refusals of [Manager.TakeControl] wrap ErrControlHeld.
var (
	ErrControlHeld   = errors.New("somebody else works this page")
	errControlIdle   = errors.New("nothing was done for a while")
	errControlGiven  = errors.New("it was handed over")
	errControlMoved  = errors.New("it goes on in another window of yours")
	errSessionClosed = errors.New("the session was closed")
)

// MayControl reports whether somebody who asks from o may work the session's page: its owner, and the operator unless
// it is private.
func (s Session) MayControl(o Origin) bool {
	return s.MayUse(o) || o.Kind != FromDiscord && o.User == "" && !s.Origin.Private
}

// TakeControl gives a person the page of a session. It returns when the step that runs there is over, or ctx is. One
// person holds a page at a time: the error wraps [ErrControlHeld] unless the holder has offered it, is the same person,
// or leaves it meanwhile; the holder learns that it is wanted. The others are [ErrNotOwner], [ErrSessionClosed],
// [ErrNotFound] and [ErrShuttingDown]. It ends with End, when the session is closed or its work stopped, or when
// nothing was done for [Limits.ControlIdle].
func (m *Manager) TakeControl(ctx context.Context, id string, req ControlRequest) (*Control, error) {
	l, err := m.pin(ctx, id)
	if err != nil {
		return nil, err
	}
	c, err := m.beginControl(l, req)
	if err != nil {
		m.unpin(l)
		return nil, err
	}
	select {
	case <-c.granted:
		return c, nil
	case <-c.ended:
		return nil, c.Err()
	case <-ctx.Done():
		c.End()
		return nil, fmt.Errorf("the step that runs on the page is not over yet: %w", context.Cause(ctx))
	}
}

// beginControl makes the hold of a session, which is pinned until its end.
func (m *Manager) beginControl(l *liveSession, req ControlRequest) (*Control, error) {
	o := l.Origin
	idle := m.Limits().ControlIdle
	if idle <= 0 {
		idle = DefaultControlIdle
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Control{
		manager: m, live: l, who: string(req.From.Kind) + ":" + req.From.User, name: req.From.RequesterName(), idle: idle,
		granted: make(chan struct{}), ended: make(chan struct{}),
	}
	switch held := l.control; {
	case m.closed:
		return nil, ErrShuttingDown
	case !req.Invited && !l.MayControl(req.From):
		return nil, refuse(ErrNotOwner, "session %s belongs to %s; ask them for a link that lets you work its page", l.ID, l.owner())
	case l.State == SessionClosed:
		return nil, refuse(ErrSessionClosed, "session %s is closed, so there is no page to work", l.ID)
	case held == nil:
	case held.who == c.who:
		held.end(errControlMoved)
	case held.offered:
		held.end(errControlGiven)
	default:
		if !slices.Contains(held.wanted, c.name) {
			held.wanted = append(held.wanted, c.name)
			l.noteControl()
		}
		return nil, refuse(ErrControlHeld, "%s works this page now; ask for it to be handed over", held.name)
	}
	l.control, l.mayHoldPage, l.LastUsed = c, true, m.Now()
	if l.State == SessionParked {
		l.State = SessionIdle
	}
	l.useRuntime(l.Runtime)
	ctx, handle := m.Scopes.Begin(context.Background(), cancel.Scope{Guild: o.Guild, Channel: o.Channel},
		cancel.Work{ID: "control-" + RandomID(taskIDLen), Owner: o.User, Label: "page worked by " + c.name})
	c.timer = time.AfterFunc(c.idle, func() { c.finish(errControlIdle) })
	m.background.Go(func() {
		defer handle.End()
		select {
		case <-c.ended:
		case <-ctx.Done():
			c.finish(context.Cause(ctx))
		}
		m.unpin(l)
	})
	if !l.touched {
		c.grant()
	}
	l.noteControl()
	return c, nil
}

// grant tells the holder that no task uses the page. The Manager's lock is held.
func (c *Control) grant() {
	if c.since.IsZero() {
		c.since = c.manager.Now()
		c.live.noteControl()
		close(c.granted)
	}
}

// Touch says that the holder has done something. It reports whether they still hold the page.
func (c *Control) Touch() bool {
	select {
	case <-c.ended:
		return false
	default:
		c.timer.Reset(c.idle)
		return true
	}
}

// Offer lets the next person who wants the page have it. Until then the holder keeps it.
func (c *Control) Offer() {
	c.manager.mu.Lock()
	defer c.manager.mu.Unlock()
	if c.live.control == c {
		c.offered = true
		c.live.noteControl()
	}
}

// End gives the page back to the tasks. It may be called again.
func (c *Control) End() { c.finish(nil) }

// OnEnd has f called when the hold is over and before any task goes on, or now if it is over. f must not wait.
func (c *Control) OnEnd(f func()) {
	c.manager.mu.Lock()
	defer c.manager.mu.Unlock()
	if c.live.control == c {
		c.onEnd = f
		return
	}
	f()
}

// Ended is closed when the hold is over.
func (c *Control) Ended() <-chan struct{} { return c.ended }

// Err says, after the end, why it came; nil if the holder has ended it.
func (c *Control) Err() error {
	c.manager.mu.Lock()
	defer c.manager.mu.Unlock()
	return c.err
}

func (c *Control) finish(err error) {
	c.manager.mu.Lock()
	defer c.manager.mu.Unlock()
	c.end(err)
}

// end ends the hold, and tells the task that runs what has happened. The Manager's lock is held.
func (c *Control) end(err error) {
	l := c.live
	if l.control != c {
		return
	}
	c.timer.Stop()
	l.control, c.err, l.LastUsed = nil, err, c.manager.Now()
	if !c.since.IsZero() {
		for _, j := range l.tasks {
			if j.started {
				j.inbox.Add(Note{By: c.name, TookOver: true, At: l.LastUsed})
			}
		}
	}
	l.noteControl()
	if c.onEnd != nil {
		c.onEnd()
	}
	close(c.ended)
	c.manager.dispatch()
}

// Control returns who holds the page of a session that is open.
func (m *Manager) Control(id string) ControlState {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.live[id]
	if l == nil {
		return ControlState{}
	}
	if l.controlChanged == nil {
		l.controlChanged = make(chan struct{})
	}
	s := ControlState{Changed: l.controlChanged, Closed: l.State == SessionClosed}
	if c := l.control; c != nil {
		s.Holder, s.Since, s.Waiting = c.name, c.since, c.since.IsZero()
		s.Offered, s.Wanted = c.offered, slices.Clone(c.wanted)
	}
	return s
}

// noteControl tells those who look at the session that its holder has changed. The Manager's lock is held.
func (l *liveSession) noteControl() {
	if l.controlChanged != nil {
		close(l.controlChanged)
		l.controlChanged = nil
	}
}

// awaitPage waits between two steps of j while a person holds the page. thinks says that the backend does nothing with
// the page before its next step.
func (m *Manager) awaitPage(ctx context.Context, j *queuedTask, thinks bool) error {
	l := j.live
	for {
		m.mu.Lock()
		c := l.control
		l.releasePage()
		if c == nil {
			l.touched = !thinks
			m.mu.Unlock()
			if j.rec.HeldBy != "" {
				j.rec.HeldBy = ""
				m.publish(j, nil)
			}
			return nil
		}
		m.mu.Unlock()
		j.rec.HeldBy = c.name
		m.publish(j, nil)
		j.clock.pause()
		select {
		case <-c.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		j.clock.resume()
	}
}

// releasePage says that no task uses the page. The Manager's lock is held.
func (l *liveSession) releasePage() {
	l.touched = false
	if l.control != nil {
		l.control.grant()
	}
}

// taskClock ends a task that takes too long. Its methods may be called on nil; the time while it is paused does not
// count.
type taskClock struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

func startClock(limit time.Duration, end func()) *taskClock {
	return &taskClock{timer: time.AfterFunc(limit, end), left: limit, since: time.Now()}
}

func (k *taskClock) pause() {
	if k != nil && k.timer.Stop() {
		k.left -= time.Since(k.since)
	}
}

func (k *taskClock) resume() {
	if k != nil {
		k.since = time.Now()
		k.timer.Reset(k.left)
	}
}
