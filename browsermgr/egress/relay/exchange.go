package relay

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

// ErrAnswered wraps an error that came after the answer had begun, so that no other answer can be given.
var ErrAnswered = errors.New("the answer broke off")

// errProxyAuth is told instead of passing 407 on: a browser would ask for credentials in the name of its proxy, whoever
// the server is.
var errProxyAuth = errors.New("the server asks for the credentials of a proxy")

// Request is one exchange.
type Request struct {
	// Server names the connection that serves it: kept connections of the same name are used again.
	Server string
	// Host is sent as the Host header.
	Host string
	// Dial opens a connection if none is kept.
	Dial Dial
	// Forward says that the server is another proxy: the request is sent in the form that proxies read, with Proxy as its
	// Proxy-Authorization if it is not empty.
	Forward bool
	Proxy   string
	// Private are headers that only the proxy itself sends: they are taken from answers.
	Private []string
}

// hop are the headers that concern one connection only (RFC 9110, section 7.6.1), and those that only a proxy may send.
var hop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// Exchange sends the request to its server and the answer to w. Nothing was written to w if the error does not wrap
// [ErrAnswered]. With status 101 the connection becomes a tunnel, and Exchange returns when that ends.
func (p *Pool) Exchange(w http.ResponseWriter, r *http.Request, x Request) error {
	ctx := r.Context()
	for {
		s := p.take(x.Server)
		if s == nil {
			conn, holder, err := x.Dial(ctx)
			if err != nil {
				return err
			}
			s = newServer(conn, holder)
		}
		again, err := p.serve(ctx, w, r, x, s)
		if !again {
			return err
		}
	}
}

// serve makes the exchange over one connection. again says that the connection had been kept for too long: nothing was
// answered and the request can be repeated.
func (p *Pool) serve(ctx context.Context, w http.ResponseWriter, r *http.Request, x Request, s *server) (again bool, err error) {
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	out := outgoing(r, x)
	sent := p.send(w, out, s)
	resp, err := p.answer(out, s)
	if err != nil {
		s.close()
		sent.abandon()
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return s.used && repeatable(r), fmt.Errorf("read the answer: %w", err)
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
	err = p.pass(w, r, resp, s)
	whole := sent.over()
	if err != nil || !whole || resp.Close || !stop() {
		s.close()
		sent.abandon()
	} else {
		p.put(x.Server, s)
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrAnswered, err)
	}
	return false, nil
}

// repeatable says whether a request may be sent twice.
func repeatable(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	return safe && (r.Body == nil || r.Body == http.NoBody)
}

// outgoing is the request as its server is to get it.
func outgoing(r *http.Request, x Request) *http.Request {
	h := make(http.Header, len(r.Header)+1)
	dropped := named(r.Header)
	for name, values := range r.Header {
		if !slices.Contains(hop, name) && !slices.Contains(dropped, name) && !strings.HasPrefix(name, "Proxy-") {
			h[name] = values
		}
	}
	h.Del("Expect") // a body is asked for when it is read
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = []string{""} // none, rather than Go's
	}
	if protocol := upgrades(r.Header); protocol != "" {
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

// named are the headers that Connection names.
func named(h http.Header) []string {
	var names []string
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			names = append(names, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	return names
}

// upgrades is the protocol that a message changes to, if it does.
func upgrades(h http.Header) string {
	if slices.Contains(named(h), "Upgrade") {
		return h.Get("Upgrade")
	}
	return ""
}

// sending is a request on its way to the server.
type sending struct {
	done    chan struct{} // nil if it was sent before the answer was waited for
	err     error         // after done
	abandon func()        // ends it and waits for it
}

// over says whether the whole request was sent.
func (s *sending) over() bool {
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

var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 4<<10) }}

// send sends the request: one with a body at the same time as its answer is read.
func (p *Pool) send(w http.ResponseWriter, out *http.Request, s *server) *sending {
	write := func() error {
		b := writers.Get().(*bufio.Writer)
		defer writers.Put(b)
		b.Reset(s.Conn)
		if out.URL.Host != "" {
			return errors.Join(out.WriteProxy(b), b.Flush())
		}
		return errors.Join(out.Write(b), b.Flush())
	}
	if out.Body == nil || out.Body == http.NoBody {
		return &sending{err: write(), abandon: func() {}}
	}
	if p.Limits.Body > 0 {
		out.Body = http.MaxBytesReader(w, out.Body, p.Limits.Body)
	}
	t := &sending{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = write()
	}()
	t.abandon = func() {
		if t.over() {
			return
		}
		// Nobody reads the rest of the request: the client is told by the end of its connection.
		http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // a connection that is gone needs none
		<-t.done
	}
	return t
}

// answer reads the header of the answer, after those that only say that the request arrived.
func (p *Pool) answer(out *http.Request, s *server) (*http.Response, error) {
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
func (p *Pool) upgrade(w http.ResponseWriter, resp *http.Response, s *server) error {
	defer s.close()
	protocol := upgrades(resp.Header)
	clean(resp.Header)
	resp.Header["Connection"], resp.Header["Upgrade"] = []string{"Upgrade"}, []string{protocol}
	client, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("take over the connection: %w", err)
	}
	err = resp.Write(client)
	if err == nil {
		_, err = s.early(client, readBuffer)
	}
	if err == nil {
		err = Early(in.Reader, s.Conn)
	}
	if err != nil {
		client.Close()
		return fmt.Errorf("%w: %w", ErrAnswered, err)
	}
	if err := Tunnel(client, s.Conn, p.Limits); err != nil {
		return fmt.Errorf("%w: %w", ErrAnswered, err)
	}
	return nil
}

// Early passes on what a reader has read ahead.
func Early(r *bufio.Reader, to net.Conn) error {
	p, err := r.Peek(r.Buffered())
	if err == nil && len(p) > 0 {
		_, err = to.Write(p)
	}
	return err
}

// clean takes from an answer what concerns one connection only.
func clean(h http.Header) {
	dropped := named(h)
	for _, name := range dropped {
		h.Del(name)
	}
	for _, name := range hop {
		delete(h, name)
	}
}

// pass gives the answer to the client.
func (p *Pool) pass(w http.ResponseWriter, r *http.Request, resp *http.Response, s *server) error {
	clean(resp.Header)
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
		return p.measured(w, resp.ContentLength, s)
	}
	return p.stream(w, resp.Body, s, limit)
}

func (p *Pool) tooLarge(w http.ResponseWriter, resp *http.Response) error {
	h := w.Header()
	clear(h)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusBadGateway)
	_, err := fmt.Fprintf(w, "The answer has %d bytes, more than the limit of %d.\n", resp.ContentLength, p.Limits.Body)
	return err
}

// measured passes on a body whose length is known: what was read ahead, and the rest from connection to connection.
func (p *Pool) measured(w http.ResponseWriter, length int64, s *server) error {
	n, err := s.early(w, length)
	if err != nil || n == length {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	rest := length - n
	var beat pulse
	n, err = move(w, s.Conn, s.Conn, p.Limits, rest, &beat, 2)
	if err == nil && n < rest {
		err = io.ErrUnexpectedEOF
	}
	return err
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// stream passes on a body of unknown length, each piece as soon as it is there.
func (p *Pool) stream(w http.ResponseWriter, body io.Reader, s *server, limit int64) error {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	control := http.NewResponseController(w)
	for passed := int64(0); ; {
		if p.Limits.Idle > 0 {
			if err := s.SetReadDeadline(time.Now().Add(p.Limits.Idle)); err != nil {
				return err
			}
		}
		n, err := body.Read(buf[:])
		if passed += int64(n); passed > limit {
			return ErrTooLarge
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
