package liveview

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/cancel"
	"clank/sessions"
	"clank/videosource"

	"github.com/coder/websocket"
)

// Server serves viewers. Set its fields before first use, and call Close at the end.
type Server struct {
	Sessions *sessions.Manager
	Scopes   *cancel.Scopes // the scopes of the Manager
	// Window returns the window of a session. If there is none, it is opened if open is set; otherwise the result is
	// nil.
	Window func(ctx context.Context, s sessions.Session, open bool) (*browsermgr.Window, error)
	// OpenEncoder opens a video encoder for slow connections. It may be nil.
	OpenEncoder func(ctx context.Context) (videosource.Encoder, error)

	mu      sync.Mutex
	viewers map[string][]*viewing // by session
	streams map[streamKey]*stream
	changed chan struct{} // closed and replaced when viewers connect or disconnect
	closed  bool
	wg      sync.WaitGroup
	enders  map[*viewing]context.CancelCauseFunc
}

// maxViewers is the maximum number of viewers of one session.
const maxViewers = 50

// Reasons why a view ends, in addition to those of contexts.
var (
	errClosing    = errors.New("clank is shutting down")
	errTooMany    = errors.New("too many people watch this page already")
	errNotAllowed = errors.New("this session is private")
	errNoSession  = errors.New("this session is not there, or not any more")
)

// closeEnded is the status code with which the WebSocket is closed if there is nothing to watch (any more) (RFC 6455,
// section 7.4.2, private use).
const closeEnded websocket.StatusCode = 4404

// Serve shows a session to a viewer until they leave, ctx ends or the session is closed, and closes conn.
func (s *Server) Serve(ctx context.Context, conn *websocket.Conn, session string, v sessions.Viewer) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &viewing{
		server: s, conn: conn, viewer: v, acks: make(chan struct{}, 1), streamChanged: make(chan struct{}, 1),
		commands: make(chan func(context.Context), maxCommands),
	}
	err := s.admit(ctx, c, session, cancel)
	if err == nil {
		err = c.run(ctx)
		s.leave(c)
	}
	c.end(err)
}

// admit registers a viewer, or returns why they may not watch.
func (s *Server) admit(ctx context.Context, c *viewing, id string, cancel context.CancelCauseFunc) error {
	session, err := s.Sessions.Session(ctx, id)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return errNoSession
	case err != nil:
		return err
	}
	switch owns := session.MayUse(c.viewer.From); {
	case session.State == sessions.SessionClosed:
		return sessions.ErrSessionClosed
	case session.Origin.Private && !owns:
		return errNotAllowed
	case !owns && !c.viewer.Invited && !session.MayControl(c.viewer.From):
		return sessions.ErrNotOwner
	}
	c.session = session
	c.viewer.May.Control = c.viewer.May.Control && (c.viewer.Invited || session.MayControl(c.viewer.From))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosing
	case len(s.viewers[id]) >= maxViewers:
		return errTooMany
	case s.viewers == nil:
		s.viewers, s.enders = map[string][]*viewing{}, map[*viewing]context.CancelCauseFunc{}
	}
	s.wg.Add(1)
	s.viewers[id] = append(s.viewers[id], c)
	s.enders[c] = cancel
	s.signalChange()
	return nil
}

func (s *Server) leave(c *viewing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := c.session.ID
	s.viewers[id] = slices.DeleteFunc(s.viewers[id], func(other *viewing) bool { return other == c })
	if len(s.viewers[id]) == 0 {
		delete(s.viewers, id)
	}
	delete(s.enders, c)
	s.signalChange()
	s.wg.Done()
}

// signalChange tells viewers that the list of viewers has changed. The caller holds the lock.
func (s *Server) signalChange() {
	if s.changed != nil {
		close(s.changed)
	}
	s.changed = make(chan struct{})
}

// names returns the names of a session's viewers, and a channel that is closed when they change.
func (s *Server) names(session string) (names []string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names = []string{}
	for _, c := range s.viewers[session] {
		names = append(names, c.viewer.Name)
	}
	return names, s.changed
}

// Viewers returns the names of a session's current viewers.
func (s *Server) Viewers(session string) []string {
	names, _ := s.names(session)
	return names
}

// Drop ends the views of a session for which which returns true, such as after a link was revoked.
func (s *Server) Drop(session string, which func(sessions.Viewer) bool, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.viewers[session] {
		if which(c.viewer) {
			s.enders[c](why)
		}
	}
}

// Close ends all views and waits for them until ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for _, end := range s.enders {
		end(errClosing)
	}
	s.mu.Unlock()
	return cancel.WaitFor(ctx, &s.wg)
}

// end tells the viewer that the view has ended, and why.
func (c *viewing) end(err error) {
	if err == nil {
		err = errors.New("the view has ended")
	}
	if cause, ok := errors.AsType[*cancel.Cause](err); ok && cause.Reason == cancel.ShuttingDown {
		err = errClosing
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c.sendMessage(ctx, map[string]string{"type": "ended", "reason": err.Error()})
	reason := []rune(err.Error())
	_ = c.conn.Close(closeEnded, string(reason[:min(len(reason), 40)])) // the view has ended in any case
}
