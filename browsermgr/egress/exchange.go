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

	"clank/sessions"
)

// ErrResponseStarted is wrapped by errors after the response to the client has begun, so that no error response can be
// sent.
var ErrResponseStarted = errors.New("the response ended early")

// errProxyAuth replaces status 407, which would make the browser ask for credentials for its proxy on behalf of any
// server.
var errProxyAuth = errors.New("the server asks for the credentials of a proxy")

// Exchange describes where and how to send a request.
type Exchange struct {
	// Server is the key of its connection: idle connections with the same key are reused.
	Server string
	// Host is the value of the Host header.
	Host string
	// Dial opens a connection if none is idle.
	Dial DialFunc
	// Forward reports that the server is another HTTP proxy: the request is sent in absolute form, with Proxy, if not
	// empty, as Proxy-Authorization.
	Forward bool
	Proxy   string
	// Private lists headers that only this proxy may send: they are removed from responses.
	Private []string
}

// hopByHopHeaders are the headers for a single connection (RFC 9110, section 7.6.1) and those that only a proxy may
// send.
var hopByHopHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// Do sends the request to its server and the response to w. If the error does not wrap [ErrResponseStarted], nothing
// was written to w. After status 101 the connection becomes a tunnel, and Do returns when that ends.
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

// exchangeOn performs the exchange on one connection. again reports that an idle connection had been closed: there was
// no response, and the request can be repeated.
func (p *ConnPool) exchangeOn(ctx context.Context, w http.ResponseWriter, r *http.Request, x Exchange,
	s *serverConn,
) (again bool, err error) {
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	out := outgoingRequest(r, x)
	sent := p.send(w, out, s)
	resp, err := p.readResponse(out, s)
	if !sent.finished() {
		w.Header().Set("Connection", "close") // ends r.Context() if the request body is abandoned
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

// isRepeatable reports whether a request may be sent twice.
func isRepeatable(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	return safe && (r.Body == nil || r.Body == http.NoBody)
}

// outgoingRequest returns the request to send to the server.
func outgoingRequest(r *http.Request, x Exchange) *http.Request {
	h := make(http.Header, len(r.Header)+1)
	dropped := connectionHeaders(r.Header)
	for name, values := range r.Header {
		if !slices.Contains(hopByHopHeaders, name) && !slices.Contains(dropped, name) && !strings.HasPrefix(name, "Proxy-") {
			h[name] = values
		}
	}
	h.Del("Expect") // 100 Continue is sent when the body is read
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = []string{""} // none, instead of Go's default
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

// connectionHeaders returns the headers named by Connection.
func connectionHeaders(h http.Header) []string {
	var names []string
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			names = append(names, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	return names
}

// upgradeProtocol returns the protocol that a message upgrades to, or "".
func upgradeProtocol(h http.Header) string {
	if slices.Contains(connectionHeaders(h), "Upgrade") {
		return h.Get("Upgrade")
	}
	return ""
}

// requestSend is a request being sent.
type requestSend struct {
	done    chan struct{} // nil if it was sent before waiting for the response
	err     error         // set before done is closed
	abandon func()        // cancels sending and waits for its end
}

// finished reports whether the whole request was sent.
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

// send sends the request. A body is sent while the response is read.
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
		// Nobody will read the rest of the request; closing the connection tells the client.
		http.NewResponseController(w).SetReadDeadline( //nolint:errcheck // a connection that is gone needs none
			time.Unix(1, 0))
		<-t.done
	}
	return t
}

// readResponse reads the response header, skipping 100 Continue and other interim responses.
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

// upgrade passes on status 101 and tunnels the two connections.
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

// forwardBuffered writes what r has buffered.
func forwardBuffered(r *bufio.Reader, to net.Conn) error {
	p, err := r.Peek(r.Buffered())
	if err == nil && len(p) > 0 {
		_, err = to.Write(p)
	}
	return err
}

// removeHopHeaders removes hop-by-hop headers from a response.
func removeHopHeaders(h http.Header) {
	dropped := connectionHeaders(h)
	for _, name := range dropped {
		h.Del(name)
	}
	for _, name := range hopByHopHeaders {
		delete(h, name)
	}
}

// writeResponse writes the response to the client.
func (p *ConnPool) writeResponse(w http.ResponseWriter, r *http.Request, resp *http.Response, s *serverConn) error {
	removeHopHeaders(resp.Header)
	h := w.Header()
	maps.Copy(h, resp.Header)
	for _, name := range []string{"Content-Type", "Date"} {
		if _, ok := h[name]; !ok {
			h[name] = nil // none, instead of our own
		}
	}
	limit := p.Limits.body()
	if resp.ContentLength > limit {
		resp.Close = true
		return p.tooLarge(w)
	}
	w.WriteHeader(resp.StatusCode)
	empty := r.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent ||
		resp.StatusCode == http.StatusNotModified
	switch {
	case empty || resp.ContentLength == 0:
		return nil
	case resp.ContentLength > 0:
		return p.copyKnownLength(w, resp.ContentLength, s)
	}
	return p.copyUnknownLength(w, resp.Body, s, limit)
}

func (p *ConnPool) tooLarge(w http.ResponseWriter) error {
	h := w.Header()
	clear(h)
	h.Set("Connection", "close") // the request may not have been read completely
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadGateway)
	_, err := fmt.Fprintf(w, "The answer is larger than %s, which is the limit.\n", sessions.SizeText(p.Limits.body()))
	return err
}

// copyKnownLength copies a body of known length: first what is buffered, then the rest from connection to connection,
// which the kernel can splice.
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

// copyUnknownLength copies a body of unknown length and flushes each piece at once.
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
