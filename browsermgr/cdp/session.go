package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// Session is one flat session: to the browser (empty id) or to a target. It is safe for concurrent use.
type Session struct {
	conn    *Conn
	id      string
	goneErr error
	gone    chan struct{}
}

// Session returns the session with this id. lost is the error of its calls once [Session.End] was called.
func (c *Conn) Session(id string, lost error) *Session {
	return &Session{conn: c, id: id, goneErr: lost, gone: make(chan struct{})}
}

// ID returns the protocol's id of the session.
func (s *Session) ID() string { return s.id }

// Timeout returns the bound of a single call.
func (s *Session) Timeout() time.Duration { return s.conn.timeout }

// End notes that the target went away: pending and later calls fail. It is called once.
func (s *Session) End() { close(s.gone) }

// Post sends a request whose answer nobody needs. It never blocks.
func (s *Session) Post(reqs ...proto.Request) {
	for _, req := range reqs {
		_, _, _ = s.conn.send(s.id, req, false)
	}
}

// Call is a request on its way.
type Call struct {
	s      *Session
	method string
	id     int
	ch     chan []byte
	limit  time.Duration
	err    error
}

// Begin sends a request; several may be on their way, Chromium handles those of one session in order.
func (s *Session) Begin(req proto.Request) *Call { return s.BeginWithin(s.conn.timeout, req) }

// BeginWithin starts a request as Begin does, with a limit of its own.
func (s *Session) BeginWithin(limit time.Duration, req proto.Request) *Call {
	id, ch, err := s.conn.send(s.id, req, true)
	return &Call{s: s, method: req.ProtoReq(), id: id, ch: ch, limit: limit, err: err}
}

// ErrNoAnswer says that Chromium did not answer one protocol call in time.
var ErrNoAnswer = errors.New("the page does not answer")

// Wait returns the answer, or as soon as ctx ends, the time is over, or the target or the browser is gone.
func (c *Call) Wait(ctx context.Context, result any) error {
	if c.err != nil {
		return c.err
	}
	timer := time.NewTimer(c.limit)
	defer timer.Stop()
	var data []byte
	select {
	case data = <-c.ch:
	case <-ctx.Done():
		c.s.conn.forgetCall(c.id)
		return context.Cause(ctx)
	case <-timer.C:
		c.s.conn.forgetCall(c.id)
		return fmt.Errorf("%w: no reply to %s within %s; it may be busy: stop it or reload", ErrNoAnswer, c.method, c.limit)
	case <-c.s.conn.done:
		return c.s.conn.GoneError()
	case <-c.s.gone:
		c.s.conn.forgetCall(c.id)
		return c.s.goneErr
	}
	return c.decode(data, result)
}

func (c *Call) decode(data []byte, result any) error {
	envelope := struct {
		Result any        `json:"result"`
		Error  *cdp.Error `json:"error"`
	}{Result: result}
	if err := json.Unmarshal(data, &envelope); err != nil {
		return fmt.Errorf("decode answer to %s: %w", c.method, err)
	}
	if envelope.Error != nil {
		return fmt.Errorf("%s: %w", c.method, envelope.Error)
	}
	return nil
}

// Answered reports whether [Call.Wait] would return at once with what Chromium said.
func (c *Call) Answered() bool { return len(c.ch) > 0 }

// Abandon gives up the answer: nobody will wait for it.
func (c *Call) Abandon() { c.s.conn.forgetCall(c.id) }

// Do sends a request and waits until Chromium has handled it.
func (s *Session) Do(ctx context.Context, req proto.Request) error {
	return s.Begin(req).Wait(ctx, nil)
}

// Ask sends a request and returns its result.
func Ask[R any](ctx context.Context, s *Session, req proto.Request) (R, error) {
	var res R
	err := s.Begin(req).Wait(ctx, &res)
	return res, err
}

// ErrDocumentGone says that the document a script ran in went away: the frame navigated or was removed.
var ErrDocumentGone = errors.New("the document went away")

// IsDocumentGone recognises the ways in which Chromium says ErrDocumentGone.
func IsDocumentGone(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, ErrDocumentGone) {
		return true
	}
	var e *cdp.Error
	if !errors.As(err, &e) {
		return false
	}
	return slices.ContainsFunc([]string{
		"Cannot find context", "context was destroyed", "navigated or closed", "No frame", "Frame with the given",
		"Session with given id not found", "Cannot find default execution context",
	}, func(s string) bool { return strings.Contains(e.Message, s) })
}
