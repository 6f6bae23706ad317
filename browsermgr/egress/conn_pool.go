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

// ConnOwner tracks a connection while it is open.
type ConnOwner interface {
	// Valid reports whether the connection may be reused. It is called before each exchange but the first.
	Valid() bool
	// Release is called once, after the connection was closed.
	Release()
}

// DialFunc opens a connection for an exchange. The ConnOwner must not be nil.
type DialFunc func(ctx context.Context) (net.Conn, ConnOwner, error)

const (
	keepAlive        = 60 * time.Second // how long an idle connection is kept
	maxIdlePerServer = 8                // idle connections kept for one server
)

// ConnPool keeps idle connections to servers. The zero value is ready to use; call Close at the end.
type ConnPool struct {
	Limits RelayLimits

	mu     sync.Mutex
	closed bool
	idle   map[string][]*serverConn
}

// getIdle returns an idle connection with that key; nil if there is none.
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

// putIdle keeps a connection after an exchange.
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

// Sweep closes idle connections that have expired or are no longer valid.
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

// Close closes the idle connections. Exchanges in progress close theirs.
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

// errHeaderTooLarge is returned if a response header exceeds the limit.
var errHeaderTooLarge = errors.New("the header of the answer is too large")

const (
	maxHeaderBytes = 256 << 10
	readBuffer     = 4 << 10
)

// serverConn is a connection to a server with its read buffer.
type serverConn struct {
	net.Conn
	in     *bufio.Reader
	header headerReader
	since  time.Time // idle since then
	used   bool      // it has served an exchange
	holder ConnOwner
}

// headerReader reads from a connection and limits the size of headers.
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
		return 0, errHeaderTooLarge
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

// writeBuffered writes at most limit buffered bytes to w.
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
