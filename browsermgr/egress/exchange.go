package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrResponseStarted wraps an error that came after the answer had begun, so that no other answer can be given.
var ErrResponseStarted = errors.New("the answer broke off")

// errProxyAuth is told instead of passing 407 on: a browser would ask for credentials in the name of its proxy, whoever
// the server is.
var errProxyAuth = errors.New("the server asks for the credentials of a proxy")

// Exchange is one exchange.
type Exchange struct {
	// Server names the connection that serves it: kept connections of the same name are used again.
	Server string
	// Host is sent as the Host header.
	Host string
	// Dial opens a connection if none is kept.
	Dial DialFunc
	// Forward says that the server is another proxy: the request is sent in the form that proxies read, with Proxy as
	// its Proxy-Authorization if it is not empty.
	Forward bool
	Proxy   string
	// Private are headers that only the proxy itself sends: they are taken from answers.
	Private []string
}

// hopByHopHeaders are the headers that concern one connection only (RFC 9110, section 7.6.1), and those that only a
// proxy may send.
var hopByHopHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// Do sends the request to its server and the answer to w. Nothing was written to w if the error does not wrap
// [ErrResponseStarted]. With status 101 the connection becomes a tunnel, and Exchange returns when that ends.
func (p *ConnPool) Do(w http.ResponseWriter, r *http.Request, x Exchange) error {
	ctx := r.Context()
	for {
		s := p.getIdle(x.Server)
		if s == nil {
			conn, holder, err := x.Dial(ctx)
			if err != nil {
				return err
			}
			s = newServerConn(conn, holder)
		}
		again, err := p.exchangeOn(ctx, w, r, x, s)
		if !again {
			return err
		}
	}
}

// exchangeOn makes the exchange over one connection. again says that the connection had been kept for too long: nothing
// was answered and the request can be repeated.
func (p *ConnPool) exchangeOn(ctx context.Context, w http.ResponseWriter, r *http.Request, x Exchange, s *serverConn) (again bool, err error) {
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	out := outgoingRequest(r, x)
	sent := p.send(w, out, s)
	resp, err := p.readResponse(out, s)
	if !sent.finished() {
		w.Header().Set("Connection", "close") // abandoning the rest of the request ends the context of the client's connection
	}
	if err != nil {
		s.close()
		sent.abandon()
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return s.used && isRepeatable(r), fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		sent.abandon()
		return false, p.upgrade(w, resp, s)
	}
	if resp.StatusCode == http.StatusProxyAuthRequired {
		s.close()
		sent.abandon()
		return false, errProxyAuth
	}
	for _, name := range x.Private {
		resp.Header.Del(name)
	}
	err = p.writeResponse(w, r, resp, s)
	whole := sent.finished()
	if err != nil || !whole || resp.Close || !stop() {
		s.close()
		sent.abandon()
	} else {
		p.putIdle(x.Server, s)
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrResponseStarted, err)
	}
	return false, nil
}

// isRepeatable says whether a request may be sent twice.
func isRepeatable(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	return safe && (r.Body == nil || r.Body == http.NoBody)
}

// outgoingRequest returns the request as its server is to get it.
func outgoingRequest(r *http.Request, x Exchange) *http.Request {
	h := make(http.Header, len(r.Header)+1)
	dropped := connectionHeaders(r.Header)
	for name, values := range r.Header {
		if !slices.Contains(hopByHopHeaders, name) && !slices.Contains(dropped, name) && !strings.HasPrefix(name, "Proxy-") {
			h[name] = values
		}
	}
	h.Del("Expect") // a body is asked for when it is read
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = []string{""} // none, rather than Go's
	}
	if protocol := upgradeProtocol(r.Header); protocol != "" {
		h["Connection"], h["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	}
	if x.Proxy != "" {
		h["Proxy-Authorization"] = []string{x.Proxy}
	}
	u := *r.URL
	u.User, u.Host, u.Scheme = nil, x.Host, "http"
	if !x.Forward {
		u.Scheme, u.Host = "", ""
	}
	return &http.Request{Method: r.Method, URL: &u, Host: x.Host, Header: h, Body: r.Body, ContentLength: r.ContentLength}
}

// connectionHeaders returns the headers that Connection names.
func connectionHeaders(h http.Header) []string {
	var names []string
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			names = append(names, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	return names
}

// upgradeProtocol returns the protocol that a message changes to, if it does.
func upgradeProtocol(h http.Header) string {
	if slices.Contains(connectionHeaders(h), "Upgrade") {
		return h.Get("Upgrade")
	}
	return ""
}

// requestSend is a request on its way to the server.
type requestSend struct {
	done    chan struct{} // nil if it was sent before the answer was waited for
	err     error         // after done
	abandon func()        // ends it and waits for it
}

// finished says whether the whole request was sent.
func (s *requestSend) finished() bool {
	if s.done == nil {
		return s.err == nil
	}
	select {
	case <-s.done:
		return s.err == nil
	default:
		return false
	}
}

var requestWriters = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 4<<10) }}

// send sends the request: one with a body at the same time as its answer is read.
func (p *ConnPool) send(w http.ResponseWriter, out *http.Request, s *serverConn) *requestSend {
	write := func() error {
		b := requestWriters.Get().(*bufio.Writer)
		defer requestWriters.Put(b)
		b.Reset(s.Conn)
		if out.URL.Host != "" {
			return errors.Join(out.WriteProxy(b), b.Flush())
		}
		return errors.Join(out.Write(b), b.Flush())
	}
	if out.Body == nil || out.Body == http.NoBody {
		return &requestSend{err: write(), abandon: func() {}}
	}
	if p.Limits.Body > 0 {
		out.Body = http.MaxBytesReader(w, out.Body, p.Limits.Body)
	}
	t := &requestSend{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = write()
	}()
	t.abandon = func() {
		if t.finished() {
			return
		}
		// Nobody reads the rest of the request: the client is told by the end of its connection.
		http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // a connection that is gone needs none
		<-t.done
	}
	return t
}

// readResponse reads the header of the answer, after those that only say that the request arrived.
func (p *ConnPool) readResponse(out *http.Request, s *serverConn) (*http.Response, error) {
	if p.Limits.Idle > 0 {
		if err := s.SetReadDeadline(time.Now().Add(p.Limits.Idle)); err != nil {
			return nil, err
		}
	}
	const interim = 16
	for range interim {
		s.readHeader()
		resp, err := http.ReadResponse(s.in, out)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			s.readBody()
			return resp, nil
		}
	}
	return nil, errors.New("too many interim answers")
}

// upgrade passes 101 on and makes a tunnel of the two connections.
func (p *ConnPool) upgrade(w http.ResponseWriter, resp *http.Response, s *serverConn) error {
	defer s.close()
	protocol := upgradeProtocol(resp.Header)
	removeHopHeaders(resp.Header)
	resp.Header["Connection"], resp.Header["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	client, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("take over the connection: %w", err)
	}
	err = resp.Write(client)
	if err == nil {
		_, err = s.writeBuffered(client, readBuffer)
	}
	if err == nil {
		err = forwardBuffered(in.Reader, s.Conn)
	}
	if err != nil {
		client.Close()
		return fmt.Errorf("%w: %w", ErrResponseStarted, err)
	}
	if err := Tunnel(client, s.Conn, p.Limits); err != nil {
		return fmt.Errorf("%w: %w", ErrResponseStarted, err)
	}
	return nil
}

// forwardBuffered passes on what a reader has read ahead.
func forwardBuffered(r *bufio.Reader, to net.Conn) error {
	p, err := r.Peek(r.Buffered())
	if err == nil && len(p) > 0 {
		_, err = to.Write(p)
	}
	return err
}

// removeHopHeaders takes from an answer what concerns one connection only.
func removeHopHeaders(h http.Header) {
	dropped := connectionHeaders(h)
	for _, name := range dropped {
		h.Del(name)
	}
	for _, name := range hopByHopHeaders {
		delete(h, name)
	}
}

// writeResponse gives the answer to the client.
func (p *ConnPool) writeResponse(w http.ResponseWriter, r *http.Request, resp *http.Response, s *serverConn) error {
	removeHopHeaders(resp.Header)
	h := w.Header()
	maps.Copy(h, resp.Header)
	for _, name := range []string{"Content-Type", "Date"} {
		if _, ok := h[name]; !ok {
			h[name] = nil // none, rather than ours
		}
	}
	limit := p.Limits.body()
	if resp.ContentLength > limit {
		resp.Close = true
		return p.tooLarge(w, resp)
	}
	w.WriteHeader(resp.StatusCode)
	empty := r.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
	switch {
	case empty || resp.ContentLength == 0:
		return nil
	case resp.ContentLength > 0:
		return p.copyKnownLength(w, resp.ContentLength, s)
	}
	return p.copyUnknownLength(w, resp.Body, s, limit)
}

func (p *ConnPool) tooLarge(w http.ResponseWriter, resp *http.Response) error {
	h := w.Header()
	clear(h)
	h.Set("Connection", "close") // the request may not be read whole
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadGateway)
	_, err := fmt.Fprintf(w, "The answer has %d bytes, more than the limit of %d.\n", resp.ContentLength, p.Limits.Body)
	return err
}

// copyKnownLength passes on a body whose length is known: what was read ahead, and the rest from connection to
// connection.
func (p *ConnPool) copyKnownLength(w http.ResponseWriter, length int64, s *serverConn) error {
	n, err := s.writeBuffered(w, length)
	if err != nil || n == length {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	rest := length - n
	var beat activity
	n, err = copyBounded(w, s.Conn, s.Conn, p.Limits, rest, &beat, 2)
	if err == nil && n < rest {
		err = io.ErrUnexpectedEOF
	}
	return err
}

var copyBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copyUnknownLength passes on a body of unknown length, each piece as soon as it is there.
func (p *ConnPool) copyUnknownLength(w http.ResponseWriter, body io.Reader, s *serverConn, limit int64) error {
	buf := copyBuffers.Get().(*[32 << 10]byte)
	defer copyBuffers.Put(buf)
	control := http.NewResponseController(w)
	for passed := int64(0); ; {
		if p.Limits.Idle > 0 {
			if err := s.SetReadDeadline(time.Now().Add(p.Limits.Idle)); err != nil {
				return err
			}
		}
		n, err := body.Read(buf[:])
		if passed += int64(n); passed > limit {
			return ErrBodyTooLarge
		}
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if s.in.Buffered() == 0 {
			if err := control.Flush(); err != nil {
				return err
			}
		}
	}
}
