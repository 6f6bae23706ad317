package share

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"clank/sessions"
	"clank/videosource"
)

// Limits of a share's beginning and end.
const (
	targetTimeout      = 15 * time.Second // for one target to show it
	endTimeout         = 10 * time.Second // to end it
	checkEvery         = 2 * time.Second  // at whether the session is still there
	troubleNoticeEvery = time.Minute      // between two notices that the picture is frozen
	moveTimeout        = 5 * time.Second  // for the call to follow its target, which someone moved
)

// Why shares end.
var (
	errShutDown      = errors.New("the program is shutting down")
	errReplaced      = errors.New("another session is shared instead")
	errSessionClosed = errors.New("the session was closed")
	errSessionGone   = errors.New("the session is gone")
	errCallEnded     = errors.New("the call has ended")
)

// share is one page shown to one call.
type share struct {
	id          string
	call        CallRef
	session     sessions.Session
	requestedBy sessions.Origin
	since       time.Time
	source      *videosource.Source
	capture     *capture // whose source it is

	cancel context.CancelCauseFunc
	done   <-chan struct{} // closed when it has ended
	watch  func()          // looks after it until it has ended

	playSound func() // until it has ended

	lost chan targetLoss

	// The turn of the slot guards these.
	target       Target
	presentation Presentation
	remaining    []Target // the targets after the current one

	mu              sync.Mutex
	name            string // of the target
	location        ViewLocation
	trouble         string
	troubleReported time.Time // of the trouble
}

// targetLoss means that a target can no longer show a share.
type targetLoss struct {
	target Target
	err    error
}

func (sh *share) state() State {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return State{
		ID: sh.id, Call: sh.call, SessionID: sh.session.ID, RequestedBy: sh.requestedBy, Since: sh.since,
		Target: sh.name, Location: sh.location, Trouble: sh.trouble, Picture: sh.source.Stats(),
	}
}

// newShare returns a share that ends with run. It has no target yet. Calls that show the same session share its
// capture.
func (m *Manager) newShare(run context.Context, c CallRef, s sessions.Session, by sessions.Origin,
	screen videosource.Screenshotter,
) *share {
	run, cancel := context.WithCancelCause(run)
	sh := &share{
		id: rand.Text(), call: c, session: s, requestedBy: by, since: time.Now(),
		done: run.Done(), cancel: cancel, lost: make(chan targetLoss, 1), remaining: m.targets(c),
	}
	sh.capture = m.startCapture(run, sh, screen)
	sh.source = sh.capture.source
	sh.watch = func() { m.watchShare(run, sh) }
	sh.playSound = func() { m.Host.PlaySound(run, c, s) }
	return sh
}

// refusedTargets are targets that would not show a share, with why.
type refusedTargets []targetLoss

// before returns the message about them, and then text. The catalogue of texts knows the formats.
func (r refusedTargets) before(text string) string {
	for _, l := range slices.Backward(r) {
		text = fmt.Sprintf("It cannot be shown by %v: %v. %v", l.target.Name(), l.err, text)
	}
	return text
}

// findTarget shows a share on the first target that accepts it. It returns the targets that refused.
func (m *Manager) findTarget(ctx context.Context, sh *share) (refused refusedTargets, err error) {
	late := false
	for len(sh.remaining) > 0 {
		target := sh.remaining[0]
		sh.remaining = sh.remaining[1:]
		var once sync.Once
		show := Presentation{ID: sh.id, Call: sh.call, Session: sh.session, Source: sh.source, Lost: func(err error) {
			once.Do(func() {
				select {
				case sh.lost <- targetLoss{target, err}:
				default: // an older loss is being seen to
				}
			})
		}}
		limited, cancel := context.WithTimeoutCause(ctx, targetTimeout,
			fmt.Errorf("it was not ready within %s", targetTimeout))
		place, err := target.Begin(limited, show)
		late = late || limited.Err() != nil
		cancel()
		if err == nil {
			sh.target, sh.presentation = target, show
			sh.mu.Lock()
			sh.name, sh.location = target.Name(), place
			sh.mu.Unlock()
			return refused, nil
		}
		if ctx.Err() != nil {
			return refused, context.Cause(ctx)
		}
		m.logger().Info("a way to share was refused", "call", sh.call.ID, "target", target.Name(), "error", err)
		refused = append(refused, targetLoss{target, err})
	}
	code := NoTarget
	if late {
		code = NotReady
	}
	return refused, newRefusal(code, "%s", refused.before("There is no other way to show it to this call"))
}

// unwind ends what begin and climb have begun, and waits for it.
func (m *Manager) unwind(ctx context.Context, sh *share, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	sh.cancel(cause)
	if sh.target != nil {
		if err := sh.target.End(ctx, sh.presentation); err != nil {
			m.logger().Warn("a share did not end as it should", "call", sh.call.ID, "target", sh.target.Name(), "error", err)
		}
		sh.target = nil
	}
	if !m.releaseCapture(ctx, sh) {
		m.logger().Warn("the pictures of a share have not ended yet", "call", sh.call.ID)
	}
	if m.sharedElsewhere(sh) {
		return
	}
	err := m.Sessions.SetShared(ctx, sh.session.ID, false)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) && !errors.Is(err, sessions.ErrShuttingDown) {
		m.logger().Warn("could not note the end of a share", "session", sh.session.ID, "error", err)
	}
}

// sharedElsewhere reports whether another call shows the same session.
func (m *Manager) sharedElsewhere(sh *share) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.slots {
		if s.share != nil && s.share != sh && s.share.session.ID == sh.session.ID {
			return true
		}
	}
	return false
}

// endShare ends the share of a slot, whose turn the caller has.
func (m *Manager) endShare(ctx context.Context, s *callSlot, cause error) {
	sh := s.share
	m.setShare(s, nil)
	m.unwind(ctx, sh, cause)
	m.logger().Info("a share has ended", "call", sh.call.ID, "session", sh.session.ID, "reason", cause)
}

// watchShare looks after a share until it has ended.
func (m *Manager) watchShare(run context.Context, sh *share) {
	cause := m.waitForEnd(run, sh)
	after := context.WithoutCancel(run)
	s, err := m.acquireSlot(after, sh.call)
	if err != nil {
		return // Close ends it
	}
	defer m.releaseSlot(sh.call, s)
	if s.share != sh {
		return // someone ended it
	}
	if errors.Is(cause, errNoLinks) && len(m.Links.List(ofShare(sh.id))) > 0 { // one was created meanwhile
		m.work.Go(sh.watch)
		return
	}
	m.endShare(after, s, cause)
	m.notify(Notice{Call: sh.call, Text: fmt.Sprintf("The page is not shared any more: %v.", cause)})
}

// waitForEnd returns why a share cannot go on, or that it has ended.
func (m *Manager) waitForEnd(run context.Context, sh *share) error {
	events, done := m.Sessions.Subscribe()
	defer func() { done() }()
	look := time.Tick(checkEvery)
	alone := time.NewTimer(moveTimeout) // of a target that was moved without the call
	alone.Stop()
	defer alone.Stop()
	var moved targetLoss
	for {
		select {
		case <-run.Done():
			return context.Cause(run)
		case ev, ok := <-events:
			if !ok { // it fell behind
				done()
				events, done = m.Sessions.Subscribe()
				continue
			}
			if ev.Record.SessionID == sh.session.ID {
				sh.source.NoteActivity()
				if ev.Record.State.Final() && ev.Record.Closed {
					return errSessionClosed
				}
			}
		case <-look:
			if err := m.sessionGone(run, sh); err != nil {
				return err
			}
		case <-alone.C:
			if err := m.nextTarget(run, sh, moved); err != nil {
				return err
			}
		case l := <-sh.lost:
			if errors.Is(l.err, ErrTargetMoved) {
				moved = l
				alone.Reset(moveTimeout)
				continue
			}
			if err := m.nextTarget(run, sh, l); err != nil {
				return err
			}
		}
	}
}

// sessionGone returns an error if the session of a share no longer exists or may no longer be shown.
func (m *Manager) sessionGone(run context.Context, sh *share) error {
	s, err := m.Sessions.Session(run, sh.session.ID)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return errSessionGone
	case err == nil && s.State == sessions.SessionClosed:
		return errSessionClosed
	case err == nil && sh.call.Session != "":
		return m.checkLinks(sh, s)
	case err == nil:
		return m.Host.CheckShare(sh.requestedBy, s)
	}
	return nil // it may exist although the lookup failed
}

// nextTarget finds the next target of a share that has lost its own.
func (m *Manager) nextTarget(run context.Context, sh *share, l targetLoss) error {
	s, err := m.acquireSlot(run, sh.call)
	if err != nil {
		return err
	}
	defer m.releaseSlot(sh.call, s)
	if s.share != sh || sh.target != l.target {
		return nil
	}
	ctx, cancel := context.WithTimeout(run, endTimeout)
	err = sh.target.End(ctx, sh.presentation)
	cancel()
	if err != nil {
		m.logger().Warn("a target did not end as it should", "call", sh.call.ID, "target", l.target.Name(), "error", err)
	}
	sh.target = nil
	looking, found := m.startSearch(run, s, sh.requestedBy)
	refused, err := m.findTarget(looking, sh)
	found()
	if err != nil {
		return fmt.Errorf("%v has ended: %w", l.target.Name(), l.err)
	}
	place := sh.state().Location
	m.notify(Notice{
		Call: sh.call, Link: place.Link,
		Text: fmt.Sprintf("%v has ended: %v. %v", l.target.Name(), l.err, refused.before(place.Text)),
	})
	return nil
}

// reportTrouble reports that the picture of a share is frozen, or with nil that it moves again.
func (m *Manager) reportTrouble(sh *share, err error) {
	sh.mu.Lock()
	sh.trouble = ""
	tell := false
	if err != nil {
		sh.trouble = err.Error()
		if now := time.Now(); now.Sub(sh.troubleReported) >= troubleNoticeEvery {
			sh.troubleReported, tell = now, true
		}
	}
	sh.mu.Unlock()
	if tell {
		m.notify(Notice{Call: sh.call, Text: fmt.Sprintf("The picture of the page is frozen for now: %v.", err)})
	}
}

var errMoved = errors.New("the call has moved to another channel")

// Move moves the share of a call, if any, to the channel where the call is now: the share ends for everyone who watches
// it in the old channel, and begins in the channel of c, on the first target that accepts it. People are told once, in
// the new channel. An error means that the share has ended instead, and people are told that.
func (m *Manager) Move(ctx context.Context, c CallRef) error {
	s, err := m.acquireSlot(ctx, c)
	if err != nil {
		return err
	}
	defer m.releaseSlot(c, s)
	old := s.share
	if old == nil || old.call == c {
		return nil
	}
	m.endShare(ctx, s, errMoved)
	sh, refused, err := m.restartFor(ctx, c, old)
	if err != nil {
		m.notify(Notice{Call: c, Text: fmt.Sprintf("The page is not shared any more: %v, and %v.", errMoved, err)})
		return err
	}
	m.setShare(s, sh)
	m.work.Go(sh.watch)
	m.work.Go(sh.playSound)
	st := sh.state()
	m.logger().Info("a share has moved with its call", "call", c.ID, "session", st.SessionID, "target", st.Target)
	m.notify(Notice{
		Call: c, Link: st.Location.Link,
		Text: fmt.Sprintf("The call has moved, and the page that %s shares with it. %v", st.RequestedBy.RequesterName(),
			refused.before(fmt.Sprintf("It is shown by %v now. %v", st.Target, st.Location.Text))),
	})
	return nil
}

// restartFor begins a share that has ended, for another call.
func (m *Manager) restartFor(ctx context.Context, c CallRef,
	old *share,
) (sh *share, refused refusedTargets, err error) {
	session, err := m.Sessions.Session(ctx, old.session.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("look up session %s: %w", old.session.ID, err)
	}
	screen, err := m.Host.Screenshotter(ctx, session)
	if err != nil {
		return nil, nil, fmt.Errorf("session %s has no page that could be shown: %w", session.ID, err)
	}
	if err := m.Sessions.SetShared(ctx, session.ID, true); err != nil {
		return nil, nil, fmt.Errorf("keep the session open: %w", err)
	}
	sh = m.newShare(context.WithoutCancel(ctx), c, session, old.requestedBy, screen)
	if refused, err = m.findTarget(ctx, sh); err != nil {
		m.unwind(ctx, sh, err)
		return nil, nil, err
	}
	return sh, refused, nil
}
