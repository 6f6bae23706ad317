package egress

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"
)

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
