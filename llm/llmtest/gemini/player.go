package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genai"

	"clank/llm/llmtest"
)

// errOver ends an answer early: the client or the server is gone, or the
// fault asked for it.
var errOver = errors.New("answer over")

// player sends one answer, faults included.
type player struct {
	s   *Server
	w   http.ResponseWriter
	rc  *http.ResponseController
	ctx context.Context //nolint:containedctx // lives as long as the one request it belongs to
	rec *llmtest.Request
}

func (p *player) play(req llmtest.Request, wire Wire, reply llmtest.Reply, n int) {
	f := reply.Fault
	if f.Hang == llmtest.BeforeHeaders && p.pause(f) != nil {
		return
	}
	for k, v := range f.Header {
		p.w.Header().Set(k, v)
	}
	switch {
	case f.Body != nil:
		p.body(f, []byte(*f.Body))
	case f.Status != 0:
		p.body(f, errorObject(f.Status, f.Code, f.Message))
	case req.Stream:
		p.stream(f, p.frames(req, wire, reply, n))
	default:
		r := whole(req.Model, reply, n)
		p.judge(req.Model, wire, r, n)
		p.body(f, encode(r))
	}
}

// body sends an answer of one piece.
func (p *player) body(f llmtest.Fault, data []byte) {
	if p.w.Header().Get("Content-Type") == "" {
		p.w.Header().Set("Content-Type", "application/json")
	}
	if f.Status == 0 {
		f.Status = http.StatusOK
	}
	p.w.WriteHeader(f.Status)
	_ = p.send(f, string(data))
}

// frames are the events as they go over the wire.
func (p *player) frames(req llmtest.Request, wire Wire, reply llmtest.Reply, n int) []string {
	events := reply.Events
	if events != nil {
		for _, e := range events {
			var r genai.GenerateContentResponse
			if strings.HasPrefix(e, "{") && json.Unmarshal([]byte(e), &r) == nil { // the library panics at null
				p.issue(req.Model, &r)
			}
		}
	} else {
		for _, r := range responses(req.Model, reply, n) {
			p.judge(req.Model, wire, r, n)
			events = append(events, string(encode(r)))
		}
	}
	frames := make([]string, len(events))
	for i, e := range events {
		frames[i] = "data: " + e + "\r\n\r\n"
	}
	return frames
}

// judge checks an event and remembers what it signs.
func (p *player) judge(model string, wire Wire, r *genai.GenerateContentResponse, n int) {
	if err := checkAnswer(wire, r); err != nil {
		p.s.problem("reply %d is itself wrong: %v", n, err)
	}
	p.issue(model, r)
}

func (p *player) issue(model string, r *genai.GenerateContentResponse) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, c := range r.Candidates {
		if c != nil && c.Content != nil {
			p.s.issued.add(model, c.Content.Parts)
		}
	}
}

func (p *player) stream(f llmtest.Fault, frames []string) {
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	if p.rc.Flush() != nil {
		return
	}
	for i, frame := range frames {
		if i == f.At && p.interrupt(f) != nil {
			return
		}
		if p.send(f, strings.Repeat(": keep-alive\n\n", f.Comments)+frame) != nil {
			return
		}
	}
	if f.At >= len(frames) {
		_ = p.interrupt(f)
	}
}

// interrupt is where a stream goes wrong; it returns nil to go on.
func (p *player) interrupt(f llmtest.Fault) error {
	switch {
	case f.StreamError != "":
		_ = p.send(f, "data: "+string(errorObject(http.StatusServiceUnavailable, f.Code, f.StreamError))+"\n\n")
		return errOver
	case f.Hang == llmtest.InStream:
		return p.pause(f)
	case f.Cut != llmtest.NoCut && f.Release != nil && p.pause(f) != nil:
		return errOver
	case f.Cut == llmtest.CutClean:
		return errOver
	case f.Cut == llmtest.CutClose, f.Cut == llmtest.CutReset:
		p.hangUp(f.Cut == llmtest.CutReset)
		return errOver
	}
	return nil
}

// pause is silence until released; an error if the client or server left.
func (p *player) pause(f llmtest.Fault) error {
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
		p.s.problem("hang up: %v", err)
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// send writes and flushes, slowly if asked to.
func (p *player) send(f llmtest.Fault, data string) error {
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
		if f.Trickle <= 0 {
			continue
		}
		select {
		case <-time.After(f.Trickle):
		case <-p.s.quit:
			return errOver
		case <-p.ctx.Done():
			return errOver
		}
	}
	return nil
}
