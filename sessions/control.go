package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/cancel"
)

// DefaultControlIdle is how long a person may control a page without input.
const DefaultControlIdle = 3 * time.Minute

// Control is a person's exclusive control of a session's page: from the grant until the end, no task reads or changes
// the page, and no new task starts. The holder calls Touch for every input, and End at the end. Its methods are safe
// for concurrent use.
type Control struct {
	manager *Manager
	live    *liveSession
	holder  string // the holder's origin kind and user id
	name    string
	granted chan struct{}
	ended   chan struct{}
	timer   *time.Timer // ends control after a time without input
	idle    time.Duration

	// Guarded by the Manager's lock.
	since   time.Time // when it was granted
	offered bool
	wanted  []string
	onEnd   func()
	err     error // why it ended; set before ended is closed
}

// ControlRequest says who asks for control of a session's page.
type ControlRequest struct {
	From    Origin
	Invited bool // they have an invitation link for this session
}

// ControlState describes who controls a session's page.
type ControlState struct {
	Holder  string          `json:"holder,omitempty"`  // display name; empty = nobody
	Waiting bool            `json:"waiting,omitempty"` // for the current step to end
	Since   time.Time       `json:"since,omitzero"`
	Offered bool            `json:"offered,omitempty"` // the next person who asks gets control
	Wanted  []string        `json:"wanted,omitempty"`  // others who have asked since
	Closed  bool            `json:"closed,omitempty"`  // the session is closed, so nobody can take control any more
	Changed <-chan struct{} `json:"-"`                 // closed when the state changes; nil if the session is not open
}

// Why a person does not get control, or lost it. The refusals of [Manager.TakeControl] wrap ErrControlHeld.
var (
	ErrControlHeld       = errors.New("somebody else works this page")
	errControlIdle       = errors.New("nothing was done for a while")
	errControlHandedOver = errors.New("it was handed over")
	errControlMoved      = errors.New("it goes on in another window of yours")
	errSessionClosed     = errors.New("the session was closed")
)

// MayControl reports whether a person asking from o may control the session's page: its owner may, and the operator
// unless it is private.
func (s Session) MayControl(o Origin) bool {
	return s.MayUse(o) || o.Kind != FromDiscord && o.User == "" && !s.Origin.Private
}

// TakeControl gives a person control of a session's page. It returns when the current step has ended, or ctx has. One
// person has control at a time: the error wraps [ErrControlHeld] unless the holder has offered control, is the same
// person or has ended it; the holder is told who asked. Other errors are [ErrNotOwner], [ErrSessionClosed],
// [ErrNotFound] and [ErrShuttingDown]. Control ends with End, when the session is closed or its work is stopped, or
// after [Limits.ControlIdle] without input.
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

// beginControl registers a Control for a session, which stays pinned until it ends.
func (m *Manager) beginControl(l *liveSession, req ControlRequest) (*Control, error) {
	o := l.Origin
	idle := m.Limits().ControlIdle
	if idle <= 0 {
		idle = DefaultControlIdle
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Control{
		manager: m, live: l, holder: string(req.From.Kind) + ":" + req.From.User, name: req.From.RequesterName(), idle: idle,
		granted: make(chan struct{}), ended: make(chan struct{}),
	}
	switch held := l.control; {
	case m.closed:
		return nil, ErrShuttingDown
	case !req.Invited && !l.MayControl(req.From):
		return nil, refuse(ErrNotOwner, "session %s belongs to %s; ask them for a link that lets you work its page", l.ID,
			l.owner())
	case l.State == SessionClosed:
		return nil, refuse(ErrSessionClosed, "session %s is closed, so there is no page to work", l.ID)
	case held == nil:
	case held.holder == c.holder:
		held.end(errControlMoved)
	case held.offered:
		held.end(errControlHandedOver)
	default:
		if !slices.Contains(held.wanted, c.name) {
			held.wanted = append(held.wanted, c.name)
			l.signalControl()
		}
		return nil, refuse(ErrControlHeld, "%s works this page now; ask for it to be handed over", held.name)
	}
	l.control, l.mayHoldPage, l.LastUsed = c, true, time.Now()
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
	if !l.pageInUse {
		c.grant()
	}
	l.signalControl()
	return c, nil
}

// grant unblocks TakeControl: no task uses the page any more. The Manager's lock is held.
func (c *Control) grant() {
	if c.since.IsZero() {
		c.since = time.Now()
		c.live.signalControl()
		close(c.granted)
	}
}

// Touch records input by the holder. It reports whether they still have control.
func (c *Control) Touch() bool {
	select {
	case <-c.ended:
		return false
	default:
		c.timer.Reset(c.idle)
		return true
	}
}

// Offer lets the next person who asks take control. The holder keeps it until then.
func (c *Control) Offer() {
	c.manager.mu.Lock()
	defer c.manager.mu.Unlock()
	if c.live.control == c {
		c.offered = true
		c.live.signalControl()
	}
}

// End returns the page to the tasks. Further calls do nothing.
func (c *Control) End() { c.finish(nil) }

// OnEnd registers f to be called when control ends, before any task continues; if it has ended, f is called now. f
// must not block.
func (c *Control) OnEnd(f func()) {
	c.manager.mu.Lock()
	defer c.manager.mu.Unlock()
	if c.live.control == c {
		c.onEnd = f
		return
	}
	f()
}

// Ended returns a channel that is closed when control has ended.
func (c *Control) Ended() <-chan struct{} { return c.ended }

// Err returns why control ended, or nil if it has not or if the holder ended it.
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

// end ends control and tells the running task that the page may have changed. The Manager's lock is held.
func (c *Control) end(err error) {
	l := c.live
	if l.control != c {
		return
	}
	c.timer.Stop()
	l.control, c.err, l.LastUsed = nil, err, time.Now()
	if !c.since.IsZero() {
		for _, j := range l.tasks {
			if j.started {
				j.inbox.Add(Note{By: c.name, TookOver: true, At: l.LastUsed})
			}
		}
	}
	l.signalControl()
	if c.onEnd != nil {
		c.onEnd()
	}
	close(c.ended)
	c.manager.dispatch()
}

// Control returns who controls the page of an open session.
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

// signalControl tells those who wait in ControlState.Changed that control has changed. The Manager's lock is held.
func (l *liveSession) signalControl() {
	if l.controlChanged != nil {
		close(l.controlChanged)
		l.controlChanged = nil
	}
}

// awaitPage waits between two steps of j while a person controls the page. thinks says that the backend does not use
// the page before its next step.
func (m *Manager) awaitPage(ctx context.Context, j *queuedTask, thinks bool) error {
	l := j.live
	for {
		m.mu.Lock()
		c := l.control
		l.releasePage()
		if c == nil {
			l.pageInUse = !thinks
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

// releasePage records that no task uses the page. The Manager's lock is held.
func (l *liveSession) releasePage() {
	l.pageInUse = false
	if l.control != nil {
		l.control.grant()
	}
}

// taskClock limits the running time of a task. Paused time does not count. All methods accept a nil receiver.
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
