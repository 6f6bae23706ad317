package llmtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// errOver ends a reply early: the client or the server has closed, or the fault requires it.
var errOver = errors.New("answer over")

// player sends one reply, including faults.
type player struct {
	s   *Server
	w   http.ResponseWriter
	rc  *http.ResponseController
	ctx context.Context //nolint:containedctx // lives as long as the one request it belongs to
	rec *Request
}

func (p *player) play(wire wireFormat, req Request, reply Reply, n int) {
	f := reply.Fault
	if f.Hang == BeforeHeaders && p.pause(f) != nil {
		return
	}
	for k, v := range f.Header {
		p.w.Header().Set(k, v)
	}
	switch {
	case f.Body != nil:
		p.body(f, []byte(*f.Body))
	case f.Status != 0:
		p.body(f, mustEncode(wire.error(f.Status, f.Code, f.Message)))
	default:
		p.stream(wire, req, reply, n)
	}
}

// body sends a reply that is not streamed.
func (p *player) body(f Fault, data []byte) {
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", "application/json")
	}
	p.w.WriteHeader(cmp.Or(f.Status, http.StatusOK))
	_ = p.send(f, string(data))
}

func (p *player) stream(wire wireFormat, req Request, reply Reply, n int) {
	f := reply.Fault
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	if p.rc.Flush() != nil {
		return
	}
	frames := p.frames(wire, req, reply, n)
	for i, frame := range frames {
		if i == f.At && p.interrupt(wire, f) != nil {
			return
		}
		if p.send(f, strings.Repeat(": keep-alive\n\n", f.Comments)+frame) != nil {
			return
		}
	}
	if f.At >= len(frames) && p.interrupt(wire, f) != nil {
		return
	}
	_ = p.send(f, wire.form().done)
}

// frames returns the events in wire format.
func (p *player) frames(wire wireFormat, req Request, reply Reply, n int) []string {
	var frames []string
	form := wire.form()
	if reply.Events != nil {
		for _, e := range reply.Events {
			if w, ok := wire.(interface {
				raw(req Request, event []byte)
			}); ok {
				w.raw(req, []byte(e))
			}
			head := object{"type": "message"}
			_ = json.Unmarshal([]byte(e), &head) // it may be malformed on purpose
			frames = append(frames, form.frame(head, []byte(e)))
		}
		return frames
	}
	for _, e := range wire.events(req, reply, n) {
		data := mustEncode(e)
		if err := wire.check(form.event, req, data); err != nil {
			p.s.addProblem("reply %d is itself wrong: %v", n, err)
		}
		frames = append(frames, form.frame(e, data))
	}
	return frames
}

// interrupt applies a fault of the stream; it returns nil to continue.
func (p *player) interrupt(wire wireFormat, f Fault) error {
	switch {
	case f.StreamError != "":
		e := wire.failed(f.Code, f.StreamError)
		_ = p.send(f, wire.form().frame(e, mustEncode(e)))
		return errOver
	case f.Hang == InStream:
		return p.pause(f)
	case f.Cut != NoCut && f.Release != nil && p.pause(f) != nil:
		return errOver
	case f.Cut == CutClean:
		return errOver
	case f.Cut == CutClose, f.Cut == CutReset:
		p.hangUp(f.Cut == CutReset)
		return errOver
	}
	return nil
}

// pause waits until released. It returns an error if the client or server has closed.
func (p *player) pause(f Fault) error {
	select {
	case <-f.Release:
		return nil
	case <-p.s.quit:
	case <-p.ctx.Done():
		p.s.update(func() { p.rec.Gone = true })
	}
	return errOver
}

func (p *player) hangUp(reset bool) {
	conn, _, err := p.rc.Hijack()
	if err != nil {
		p.s.addProblem("hang up: %v", err)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// send writes and flushes data, slowly if requested.
func (p *player) send(f Fault, data string) error {
	step := len(data)
	if f.Trickle > 0 {
		step = 1
	}
	for len(data) > 0 {
		if _, err := p.w.Write([]byte(data[:step])); err != nil {
			p.s.update(func() { p.rec.Gone = true })
			return fmt.Errorf("send: %w", err)
		}
		if err := p.rc.Flush(); err != nil {
			p.s.update(func() { p.rec.Gone = true })
			return fmt.Errorf("send: %w", err)
		}
		p.s.update(func() { p.rec.Sent = time.Now() })
		data = data[step:]
		if f.Trickle > 0 {
			select {
			case <-time.After(f.Trickle):
			case <-p.s.quit:
				return errOver
			case <-p.ctx.Done():
				return errOver
			}
		}
	}
	return nil
}
