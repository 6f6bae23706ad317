package sharing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/sessions"
	"clank/videosource"
)

// Limits of a share's beginning and end.
const (
	stageLimit = 15 * time.Second // for one stage to show it
	endLimit   = 10 * time.Second // to end it
	lookEvery  = 2 * time.Second  // at whether the session is still there
	quiet      = time.Minute      // between two notices that the picture stands still
	moveLimit  = 5 * time.Second  // for the call to follow its stage, which somebody has moved
)

// Why shares end.
var (
	errShutDown = errors.New("the program is shutting down")
	errReplaced = errors.New("another session is shared instead")
	errClosed   = errors.New("the session was closed")
	errForgot   = errors.New("the session is gone")
	errOver     = errors.New("the call has ended")
)

// share is one page shown to one call.
type share struct {
	id      string
	call    Call
	session sessions.Session
	by      sessions.Origin
	since   time.Time
	source  *videosource.Source
	film    *film // whose source it is

	cancel context.CancelCauseFunc
	done   <-chan struct{} // closed when it has ended
	keep   func()          // looks after it until it has ended
	lost   chan loss

	// The turn of the slot guards these.
	stage Stage
	show  Show
	rest  []Stage // what is left of the ladder below stage

	mu      sync.Mutex
	name    string // of the stage
	place   Place
	trouble string
	told    time.Time // of the trouble
}

// loss says that a stage cannot show a share any more.
type loss struct {
	stage Stage
	err   error
}

func (sh *share) state() State {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return State{
		ID: sh.id, Call: sh.call, SessionID: sh.session.ID, By: sh.by, Since: sh.since,
		Stage: sh.name, Place: sh.place, Trouble: sh.trouble, Picture: sh.source.Stats(),
	}
}

// begin makes a share, whose life run is, and its source run. No stage has it yet. Calls that show the same session share its pictures.
func (m *Manager) begin(run context.Context, c Call, s sessions.Session, by sessions.Origin, screen videosource.Screenshotter) *share {
	run, cancel := context.WithCancelCause(run)
	sh := &share{
		id: rand.Text(), call: c, session: s, by: by, since: time.Now(),
		done: run.Done(), cancel: cancel, lost: make(chan loss, 1), rest: m.Stages(c),
	}
	sh.film = m.roll(run, sh, screen)
	sh.source = sh.film.source
	sh.keep = func() { m.keep(run, sh) }
	return sh
}

// climb shows a share on the first stage of the ladder that will have it. The text says which stages would not, and why.
func (m *Manager) climb(ctx context.Context, sh *share) (refused string, err error) {
	late := false
	for len(sh.rest) > 0 {
		stage := sh.rest[0]
		sh.rest = sh.rest[1:]
		var once sync.Once
		show := Show{ID: sh.id, Call: sh.call, Session: sh.session, Source: sh.source, Lost: func(err error) {
			once.Do(func() {
				select {
				case sh.lost <- loss{stage, err}:
				default: // an older loss is being seen to
				}
			})
		}}
		limited, cancel := context.WithTimeoutCause(ctx, stageLimit, fmt.Errorf("it was not ready within %s", stageLimit))
		place, err := stage.Begin(limited, show)
		late = late || limited.Err() != nil
		cancel()
		if err == nil {
			sh.stage, sh.show = stage, show
			sh.mu.Lock()
			sh.name, sh.place = stage.Name(), place
			sh.mu.Unlock()
			return refused, nil
		}
		if ctx.Err() != nil {
			return refused, context.Cause(ctx)
		}
		m.logger().Info("a way to share was refused", "call", sh.call.ID, "stage", stage.Name(), "error", err)
		refused += fmt.Sprintf("It cannot be shown by %s: %v. ", stage.Name(), err)
	}
	if late {
		return refused, refuse(NotReady, "%sThere is no other way to show it to this call", refused)
	}
	return refused, refuse(NoStage, "%sThere is no other way to show it to this call", refused)
}

// unwind ends what begin and climb have begun, and waits for it.
func (m *Manager) unwind(ctx context.Context, sh *share, cause error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	sh.cancel(cause)
	if sh.stage != nil {
		if err := sh.stage.End(ctx, sh.show); err != nil {
			m.logger().Warn("a share did not end as it should", "call", sh.call.ID, "stage", sh.stage.Name(), "error", err)
		}
		sh.stage = nil
	}
	if !m.cut(ctx, sh) {
		m.logger().Warn("the pictures of a share have not ended yet", "call", sh.call.ID)
	}
	if m.elsewhere(sh) {
		return
	}
	err := m.Sessions.SetShared(ctx, sh.session.ID, false)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) && !errors.Is(err, sessions.ErrShuttingDown) {
		m.logger().Warn("could not note the end of a share", "session", sh.session.ID, "error", err)
	}
}

// elsewhere reports whether another call shows the same session.
func (m *Manager) elsewhere(sh *share) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.slots {
		if s.share != nil && s.share != sh && s.share.session.ID == sh.session.ID {
			return true
		}
	}
	return false
}

// end ends the share of a slot, whose turn the caller has.
func (m *Manager) end(ctx context.Context, s *slot, cause error) {
	sh := s.share
	m.put(s, nil)
	m.unwind(ctx, sh, cause)
	m.logger().Info("a share has ended", "call", sh.call.ID, "session", sh.session.ID, "reason", cause)
}

// keep looks after a share until it has ended.
func (m *Manager) keep(run context.Context, sh *share) {
	cause := m.follow(run, sh)
	after := context.WithoutCancel(run)
	s, err := m.enter(after, sh.call)
	if err != nil {
		return // Close ends it
	}
	defer m.leave(sh.call, s)
	if s.share != sh {
		return // somebody has ended it
	}
	m.end(after, s, cause)
	m.tell(Notice{Call: sh.call, Text: fmt.Sprintf("The page is not shared any more: %v.", cause)})
}

// follow returns why a share cannot go on, or that it has ended.
func (m *Manager) follow(run context.Context, sh *share) error {
	events, done := m.Sessions.Subscribe()
	defer func() { done() }()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	alone := time.NewTimer(moveLimit) // of a stage that was moved without the call
	alone.Stop()
	defer alone.Stop()
	var moved loss
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
				sh.source.Note()
				if ev.Record.State.Final() && ev.Record.Closed {
					return errClosed
				}
			}
		case <-look.C:
			if err := m.gone(run, sh); err != nil {
				return err
			}
		case <-alone.C:
			if err := m.descend(run, sh, moved); err != nil {
				return err
			}
		case l := <-sh.lost:
			if errors.Is(l.err, ErrStageMoved) {
				moved = l
				alone.Reset(moveLimit)
				continue
			}
			if err := m.descend(run, sh, l); err != nil {
				return err
			}
		}
	}
}

// gone says that the session of a share is not there any more, or may not be shown any more.
func (m *Manager) gone(run context.Context, sh *share) error {
	s, err := m.Sessions.Session(run, sh.session.ID)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return errForgot
	case err == nil && s.State == sessions.SessionClosed:
		return errClosed
	case err == nil:
		return m.may(sh.by, s)
	}
	return nil // what could not be looked up may be there
}

// descend takes the next stage for a share that has lost its own.
func (m *Manager) descend(run context.Context, sh *share, l loss) error {
	s, err := m.enter(run, sh.call)
	if err != nil {
		return err
	}
	defer m.leave(sh.call, s)
	if s.share != sh || sh.stage != l.stage {
		return nil
	}
	ctx, cancel := context.WithTimeout(run, endLimit)
	err = sh.stage.End(ctx, sh.show)
	cancel()
	if err != nil {
		m.logger().Warn("a stage did not end as it should", "call", sh.call.ID, "stage", l.stage.Name(), "error", err)
	}
	sh.stage = nil
	looking, found := m.climbing(run, s, sh.by)
	refused, err := m.climb(looking, sh)
	found()
	if err != nil {
		return fmt.Errorf("%s has ended: %w", l.stage.Name(), l.err)
	}
	place := sh.state().Place
	m.tell(Notice{Call: sh.call, Link: place.Link, Text: fmt.Sprintf("%s has ended: %v. %s%s", l.stage.Name(), l.err, refused, place.Text)})
	return nil
}

// trouble notes that the picture of a share stands still, or with nil that it moves again.
func (m *Manager) trouble(sh *share, err error) {
	sh.mu.Lock()
	sh.trouble = ""
	tell := false
	if err != nil {
		sh.trouble = err.Error()
		if now := time.Now(); now.Sub(sh.told) >= quiet {
			sh.told, tell = now, true
		}
	}
	sh.mu.Unlock()
	if tell {
		m.tell(Notice{Call: sh.call, Text: fmt.Sprintf("The picture of the page stands still for now: %v.", err)})
	}
}
