package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// canaryHit is a hit of a canary.
type canaryHit struct {
	Case string
	// Via is how it arrived: "tcp", "udp", "http" for a shared listener or where connections do not count, "dns",
	// "read" or "packet" if recorded elsewhere.
	Via string
	At  time.Time
}

// HitLog collects hits. It is safe for concurrent use.
type HitLog struct {
	mu      sync.Mutex
	hits    map[string][]canaryHit
	touched map[string]bool
	waits   map[string]chan struct{}
}

func newHitLog() *HitLog {
	return &HitLog{hits: map[string][]canaryHit{}, touched: map[string]bool{}, waits: map[string]chan struct{}{}}
}

// recordConnection records that a case has connected, which is not a hit.
func (b *HitLog) recordConnection(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.touched[id] = true
}

// connected reports whether a case has connected.
func (b *HitLog) connected(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.touched[id]
}

// recordHit records a hit.
func (b *HitLog) recordHit(id, via string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.hits[id]) == 0 {
		close(b.firstHitChannel(id))
	}
	b.hits[id] = append(b.hits[id], canaryHit{Case: id, Via: via, At: time.Now()})
}

// firstHitChannel returns a channel that is closed at the first hit of a case. The caller holds b.mu.
func (b *HitLog) firstHitChannel(id string) chan struct{} {
	if b.waits[id] == nil {
		b.waits[id] = make(chan struct{})
	}
	return b.waits[id]
}

// FirstHit returns a channel that is closed at the first hit of a case.
func (b *HitLog) FirstHit(id string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.firstHitChannel(id)
}

// Hits returns the hits of a case in order.
func (b *HitLog) Hits(id string) []canaryHit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.hits[id])
}

// CanaryListeners is a set of listeners. Set its fields before use.
type CanaryListeners struct {
	HitLog *HitLog
	// Certificate is used for TLS; clients in the range do not verify it.
	Certificate tls.Certificate
	// Requests counts a TCP connection only if it carries an HTTP request.
	Requests bool

	mu      sync.Mutex
	open    map[io.Closer]bool
	closing bool
	wg      sync.WaitGroup
}

// ListenForCase listens on an address for one case, on TCP and UDP.
func (a *CanaryListeners) ListenForCase(ctx context.Context, id string, at netip.AddrPort) error {
	accepted, requested := func(net.Conn) { a.HitLog.recordHit(id, "tcp") }, func(string) {}
	if a.Requests {
		accepted, requested = func(net.Conn) { a.HitLog.recordConnection(id) }, func(string) {
			a.HitLog.recordHit(id, "http")
		}
	}
	if err := a.listen(ctx, at, accepted, requested); err != nil {
		return err
	}
	var lc net.ListenConfig
	packets, err := lc.ListenPacket(ctx, "udp", at.String())
	if err != nil {
		return fmt.Errorf("put up canary: %w", err)
	}
	if !a.track(packets) {
		return errors.New("put up canary: the range is over")
	}
	a.wg.Go(func() {
		buf := make([]byte, 2048)
		for {
			_, _, err := packets.ReadFrom(buf)
			switch {
			case err == nil:
				a.HitLog.recordHit(id, "udp")
			case errors.Is(err, net.ErrClosed):
				return
			}
		}
	})
	return nil
}

// ListenForCases listens on a TCP address for many cases, identified by their tokens in the request path with caseOf.
func (a *CanaryListeners) ListenForCases(ctx context.Context, at netip.AddrPort,
	caseOf func(path string) (id string, ok bool),
) error {
	return a.listen(ctx, at, func(net.Conn) {}, func(path string) {
		if id, ok := caseOf(path); ok {
			a.HitLog.recordHit(id, "http")
		}
	})
}

func (a *CanaryListeners) listen(ctx context.Context, at netip.AddrPort, accepted func(net.Conn),
	requested func(path string),
) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", at.String())
	if err != nil {
		return fmt.Errorf("put up canary: %w", err)
	}
	if !a.track(l) {
		return errors.New("put up canary: the range is over")
	}
	a.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			accepted(conn)
			a.wg.Go(func() { a.serveConn(conn, requested) })
		}
	})
	return nil
}

// track registers a closer, and closes it at once if the listeners are closed.
func (a *CanaryListeners) track(c io.Closer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		_ = c.Close()
		return false
	}
	if a.open == nil {
		a.open = map[io.Closer]bool{}
	}
	a.open[c] = true
	return true
}

func (a *CanaryListeners) untrack(c io.Closer) {
	a.mu.Lock()
	delete(a.open, c)
	a.mu.Unlock()
	_ = c.Close()
}

// Close closes all listeners and waits for their goroutines.
func (a *CanaryListeners) Close() {
	a.mu.Lock()
	a.closing = true
	for c := range a.open {
		_ = c.Close()
	}
	a.mu.Unlock()
	a.wg.Wait()
}

// canaryConnTimeout bounds a connection.
const canaryConnTimeout = 20 * time.Second

// serveConn reads requests, over TLS if the first byte starts a handshake.
func (a *CanaryListeners) serveConn(conn net.Conn, requested func(path string)) {
	if !a.track(conn) {
		return
	}
	defer a.untrack(conn)
	_ = conn.SetDeadline(time.Now().Add(canaryConnTimeout))
	const handshake = 0x16
	clear := bufio.NewReader(conn)
	begin, err := clear.Peek(1)
	if err != nil {
		return
	}
	var stream io.ReadWriter = struct {
		io.Reader
		io.Writer
	}{clear, conn}
	if begin[0] == handshake {
		stream = tls.Server(&peekedConn{Conn: conn, r: clear}, &tls.Config{
			Certificates: []tls.Certificate{a.Certificate}, MinVersion: tls.VersionTLS12,
		})
	}
	in := bufio.NewReader(stream)
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		requested(request.URL.Path)
		_, _ = io.Copy(io.Discard, io.LimitReader(request.Body, 1<<20))
		if _, err := io.WriteString(stream, canaryResponse(request)); err != nil {
			return
		}
	}
}

// canaryResponse returns a response for any client: every origin may read it, and its type follows the path's
// extension.
func canaryResponse(r *http.Request) string {
	kind, body := "text/html", "<title>canary</title>canary"
	switch ending := r.URL.Path[strings.LastIndexByte(r.URL.Path, '.')+1:]; ending {
	case "js":
		kind, body = "text/javascript", "self.canary=1"
	case "css":
		kind, body = "text/css", "a{}"
	case "json":
		kind, body = "application/json", "{}"
	case "svg":
		kind, body = "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`
	}
	origin := cmp.Or(r.Header.Get("Origin"), "*")
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\nAccess-Control-Allow-Origin: %s\r\n"+
		"Access-Control-Allow-Credentials: true\r\nAccess-Control-Allow-Headers: *, content-type, "+
		"x-a\r\nAccess-Control-Allow-Methods: *\r\nAccess-Control-Allow-Private-Network: "+
		"true\r\nCross-Origin-Resource-Policy: cross-origin\r\n\r\n%s",
		kind, len(body), origin, body)
}

// peekedConn is a connection whose first bytes were read in advance.
type peekedConn struct {
	net.Conn
	r *bufio.Reader
}

func (p *peekedConn) Read(b []byte) (int, error) { return p.r.Read(b) }
