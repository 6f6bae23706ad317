package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// ConnOwner holds what somebody else keeps of a connection for as long as it is open.
type ConnOwner interface {
	// Valid says whether the connection may be used for another exchange; asked before each but the first.
	Valid() bool
	// Release is called once, after the connection was closed.
	Release()
}

// DialFunc opens a connection for an exchange. Its holder is not nil.
type DialFunc func(ctx context.Context) (net.Conn, ConnOwner, error)

const (
	keepAlive        = 60 * time.Second // how long a connection waits for its next exchange
	maxIdlePerServer = 8                // connections kept for one server
)

// ConnPool keeps connections to servers between exchanges. The zero value is ready; end it with Close.
type ConnPool struct {
	Limits RelayLimits

	mu     sync.Mutex
	closed bool
	idle   map[string][]*serverConn
}

// getIdle gives out a kept connection to the server of that name, nil if there is none.
func (p *ConnPool) getIdle(name string) *serverConn {
	for {
		p.mu.Lock()
		last := len(p.idle[name]) - 1
		if last < 0 {
			delete(p.idle, name)
			p.mu.Unlock()
			return nil
		}
		s := p.idle[name][last]
		p.idle[name] = p.idle[name][:last]
		p.mu.Unlock()
		if time.Since(s.since) < keepAlive && s.holder.Valid() && isIdleConn(s.Conn) {
			return s
		}
		s.close()
	}
}

// putIdle keeps a connection that has served an exchange to its end.
func (p *ConnPool) putIdle(name string, s *serverConn) {
	if s.SetDeadline(time.Time{}) != nil || s.in.Buffered() > 0 {
		s.close()
		return
	}
	s.since, s.used = time.Now(), true
	p.mu.Lock()
	if p.closed || len(p.idle[name]) >= maxIdlePerServer {
		p.mu.Unlock()
		s.close()
		return
	}
	if p.idle == nil {
		p.idle = map[string][]*serverConn{}
	}
	p.idle[name] = append(p.idle[name], s)
	p.mu.Unlock()
}

// Sweep closes the kept connections that have waited too long or are not valid any more.
func (p *ConnPool) Sweep() {
	var old []*serverConn
	p.mu.Lock()
	for name, all := range p.idle {
		p.idle[name] = slices.DeleteFunc(all, func(s *serverConn) bool {
			ended := time.Since(s.since) >= keepAlive || !s.holder.Valid()
			if ended {
				old = append(old, s)
			}
			return ended
		})
		if len(p.idle[name]) == 0 {
			delete(p.idle, name)
		}
	}
	p.mu.Unlock()
	for _, s := range old {
		s.close()
	}
}

// Close closes the kept connections. Exchanges that are under way close theirs.
func (p *ConnPool) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, kept := range all {
		for _, s := range kept {
			s.close()
		}
	}
}

// ErrHeaderTooLarge says that the header of an answer is larger than the limit.
var ErrHeaderTooLarge = errors.New("the header of the answer is too large")

const (
	maxHeaderBytes = 256 << 10
	readBuffer     = 4 << 10
)

// serverConn is a connection to a server, with what was read from it ahead.
type serverConn struct {
	net.Conn
	in     *bufio.Reader
	header headerReader
	since  time.Time // kept since then
	used   bool      // it has served an exchange before
	holder ConnOwner
}

// headerReader reads from a connection, but only so much while a header is read.
type headerReader struct {
	conn net.Conn
	left int
	body bool
}

func (h *headerReader) Read(p []byte) (int, error) {
	if h.body {
		return h.conn.Read(p)
	}
	if h.left <= 0 {
		return 0, ErrHeaderTooLarge
	}
	n, err := h.conn.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

func newServerConn(c net.Conn, h ConnOwner) *serverConn {
	s := &serverConn{Conn: c, holder: h}
	s.header.conn = c
	s.in = bufio.NewReaderSize(&s.header, readBuffer)
	return s
}

func (s *serverConn) close() {
	s.Close()
	s.holder.Release()
}

func (s *serverConn) readHeader() { s.header.body, s.header.left = false, maxHeaderBytes }
func (s *serverConn) readBody()   { s.header.body = true }

// writeBuffered takes what was read ahead, at most limit bytes of it, and gives it to w.
func (s *serverConn) writeBuffered(w io.Writer, limit int64) (int64, error) {
	n := int(min(int64(s.in.Buffered()), limit))
	if n == 0 {
		return 0, nil
	}
	p, err := s.in.Peek(n)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(p); err != nil {
		return 0, err
	}
	_, err = s.in.Discard(n)
	return int64(n), err
}
