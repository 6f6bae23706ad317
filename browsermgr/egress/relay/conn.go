package relay

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"
)

// ErrHeader says that the header of an answer is larger than the limit.
var ErrHeader = errors.New("the header of the answer is too large")

const (
	longestHeader = 256 << 10
	readBuffer    = 4 << 10
)

// server is a connection to a server, with what was read from it ahead.
type server struct {
	net.Conn
	in     *bufio.Reader
	header headerReader
	since  time.Time // kept since then
	used   bool      // it has served an exchange before
	holder Holder
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
		return 0, ErrHeader
	}
	n, err := h.conn.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

func newServer(c net.Conn, h Holder) *server {
	s := &server{Conn: c, holder: h}
	s.header.conn = c
	s.in = bufio.NewReaderSize(&s.header, readBuffer)
	return s
}

func (s *server) close() {
	s.Conn.Close()
	s.holder.Release()
}

func (s *server) readHeader() { s.header.body, s.header.left = false, longestHeader }
func (s *server) readBody()   { s.header.body = true }

// early takes what was read ahead, at most limit bytes of it, and gives it to w.
func (s *server) early(w io.Writer, limit int64) (int64, error) {
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
