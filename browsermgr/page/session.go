package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// session is one attachment: to the browser (empty id), to a tab, or to a frame that lives in a process of its own.
// The root frame of an attachment has the id of its target.
type session struct {
	conn   *conn
	id     string
	target string
	tab    *Tab
	parent *session // the attachment whose document embeds this frame; nil for tabs
	gone   chan struct{}
	ready  chan struct{} // closed when it is set up

	mu    sync.Mutex
	world *world
	owner ownerRef // where the frame sits in its parent, see frames.go
}

func (s *session) frameID() proto.PageFrameID { return proto.PageFrameID(s.target) }

// post sends a request whose answer nobody needs. It never blocks.
func (s *session) post(reqs ...proto.Request) {
	for _, req := range reqs {
		_, _, _ = s.conn.send(s.id, req, false)
	}
}

// call is a request on its way.
type call struct {
	s      *session
	method string
	id     int
	ch     chan []byte
	limit  time.Duration
	err    error
}

// begin sends a request; several may be on their way, Chromium handles those of one session in order.
func (s *session) begin(req proto.Request) *call { return s.beginWithin(s.conn.timeout, req) }

func (s *session) beginWithin(limit time.Duration, req proto.Request) *call {
	id, ch, err := s.conn.send(s.id, req, true)
	return &call{s: s, method: req.ProtoReq(), id: id, ch: ch, limit: limit, err: err}
}

// errNoAnswer says that Chromium did not answer one protocol call in time.
var errNoAnswer = errors.New("the page does not answer")

// wait returns the answer, or as soon as ctx ends, the time is over, or the target or the browser is gone.
func (c *call) wait(ctx context.Context, result any) error {
	if c.err != nil {
		return c.err
	}
	timer := time.NewTimer(c.limit)
	defer timer.Stop()
	var data []byte
	select {
	case data = <-c.ch:
	case <-ctx.Done():
		c.s.conn.forget(c.id)
		return context.Cause(ctx)
	case <-timer.C:
		c.s.conn.forget(c.id)
		return fmt.Errorf("%w: no reply to %s within %s; it may be busy: stop it or reload", errNoAnswer, c.method, c.limit)
	case <-c.s.conn.done:
		return c.s.conn.gone()
	case <-c.s.gone:
		c.s.conn.forget(c.id)
		return c.s.lost()
	}
	return c.decode(data, result)
}

func (c *call) decode(data []byte, result any) error {
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

// lost is the error of calls to a target that went away.
func (s *session) lost() error {
	if s.parent != nil {
		return errContextLost
	}
	return ErrTabGone
}

// do sends a request and waits until Chromium has handled it.
func (s *session) do(ctx context.Context, req proto.Request) error {
	return s.begin(req).wait(ctx, nil)
}

// ask sends a request and returns its result.
func ask[R any](ctx context.Context, s *session, req proto.Request) (R, error) {
	var res R
	err := s.begin(req).wait(ctx, &res)
	return res, err
}

// errContextLost says that the document a script ran in went away: the frame navigated or was removed.
var errContextLost = errors.New("the document went away")

// documentGone recognises the ways in which Chromium says errContextLost.
func documentGone(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, errContextLost) {
		return true
	}
	var e *cdp.Error
	if !errors.As(err, &e) {
		return false
	}
	for _, s := range []string{
		"Cannot find context", "context was destroyed", "navigated or closed", "No frame", "Frame with the given",
		"Session with given id not found", "Cannot find default execution context",
	} {
		if strings.Contains(e.Message, s) {
			return true
		}
	}
	return false
}
