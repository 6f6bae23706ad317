package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	helloTimeout = 15 * time.Second // from the socket to HELLO
	readyTimeout = 30 * time.Second // from HELLO to READY or RESUMED
	writeTimeout = 10 * time.Second
	maxFrame     = 64 << 20 // bytes; the GUILD_CREATE of a large server is large

	// codeResume is the close code that leaves the session to be resumed; 1000
	// and 1001 would end it.
	codeResume = 4000
)

// relayURL is the address under which discordgo finds the relay.
const relayURL = "ws://gateway.inside"

// gatewayRelay is between discordgo and the gateway. It is the library's HTTP transport, for its only request (the
// gateway's URL), and the target of its dialer.
type gatewayRelay struct {
	url    func(ctx context.Context) (string, error)
	client *http.Client
	log    *slog.Logger
	server *http.Server
	conns  chan net.Conn
	wg     sync.WaitGroup

	mu      sync.Mutex
	link    *socketPair
	ready   chan struct{} // closed when the newest socket said READY or RESUMED
	last    error
	leaving bool // the next close is permanent
	resumed bool // after it, another process resumes the session
	closed  chan struct{}
}

func newRelay(url func(context.Context) (string, error), client *http.Client, log *slog.Logger) *gatewayRelay {
	r := &gatewayRelay{
		url: url, client: cmp.Or(client, http.DefaultClient), log: log,
		conns: make(chan net.Conn), ready: make(chan struct{}), closed: make(chan struct{}),
	}
	r.server = &http.Server{
		Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: helloTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	r.wg.Go(func() { _ = r.server.Serve((*pipeListener)(r)) })
	return r
}

// RoundTrip answers discordgo's question where the gateway is.
func (r *gatewayRelay) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/gateway") {
		return nil, fmt.Errorf("the gateway's session asked for %s, which is not its business", req.URL.Path)
	}
	body := `{"url":"` + relayURL + `"}`
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// dial gives discordgo its end of a pipe.
func (r *gatewayRelay) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case r.conns <- ours:
		return theirs, nil
	case <-r.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// serve connects one socket of discordgo with one of the gateway.
func (r *gatewayRelay) serve(w http.ResponseWriter, req *http.Request) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(req.Context()))
	defer cancel()
	outer, err := r.dialOut(ctx)
	if err != nil {
		r.recordError(err)
		http.Error(w, "no gateway", http.StatusBadGateway)
		return
	}
	defer func() { _ = outer.CloseNow() }()
	inner, err := websocket.Accept(w, req, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		r.recordError(fmt.Errorf("accept the library's socket: %w", err))
		return
	}
	defer func() { _ = inner.CloseNow() }()
	inner.SetReadLimit(maxFrame)
	outer.SetReadLimit(maxFrame)
	l := &socketPair{relay: r, inner: inner, outer: outer}
	r.setSockets(l)
	defer r.setSockets(nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer cancel()
		r.recordError(l.fromGateway(ctx))
		_ = inner.CloseNow()
	})
	l.fromLibrary(ctx)
	_ = outer.Close(r.closeCode(), "")
	wg.Wait()
}

// dialOut opens the socket to the gateway.
func (r *gatewayRelay) dialOut(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	go func() {
		select {
		case <-r.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	addr, err := r.url(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask where the gateway is: %w", err)
	}
	ws, resp, err := websocket.Dial(ctx, addr, &websocket.DialOptions{HTTPClient: r.client})
	if err != nil {
		return nil, fmt.Errorf("dial the gateway: %w", err)
	}
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	return ws, nil
}

// setSockets sets the newest link; nil means that there is none.
func (r *gatewayRelay) setSockets(l *socketPair) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.link = l
	if l != nil {
		r.ready = make(chan struct{})
	}
}

func (r *gatewayRelay) markReady() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.ready:
	default:
		close(r.ready)
	}
}

func (r *gatewayRelay) readyChan() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready
}

// recordError stores why the connection ended. The first reason of a socket is the true one; what the library reports
// afterwards is not.
func (r *gatewayRelay) recordError(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = err
	}
}

// lastError returns why the newest connection ended, and forgets it.
func (r *gatewayRelay) lastError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.last
	r.last = nil
	if err == nil {
		err = errors.New("the connection to the gateway ended")
	}
	return err
}

func (r *gatewayRelay) closeCode() websocket.StatusCode {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving && !r.resumed {
		return websocket.StatusNormalClosure
	}
	return codeResume
}

// leaveSession lets the permanent close leave the session to be resumed.
func (r *gatewayRelay) leaveSession() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resumed = true
}

func (r *gatewayRelay) shutDown() {
	r.mu.Lock()
	r.leaving = true
	l := r.link
	select {
	case <-r.closed:
	default:
		close(r.closed)
	}
	r.mu.Unlock()
	if l != nil {
		_ = l.inner.CloseNow()
	}
}

func (r *gatewayRelay) close() {
	r.shutDown()
	_ = r.server.Close()
	r.wg.Wait()
}

// send sends one operation to the gateway, unless ctx has ended.
func (r *gatewayRelay) send(ctx context.Context, op int, d any) error {
	r.mu.Lock()
	l := r.link
	r.mu.Unlock()
	if l == nil {
		return ErrNotConnected
	}
	b, err := json.Marshal(map[string]any{"op": op, "d": d})
	if err != nil {
		return fmt.Errorf("encode operation %d: %w", op, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("send operation %d to the gateway: %w", op, context.Cause(ctx))
	}
	// A write cancelled midway would close the connection.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if err := l.outer.Write(ctx, websocket.MessageText, b); err != nil {
		return fmt.Errorf("send operation %d to the gateway: %w", op, err)
	}
	return nil
}

type pipeListener gatewayRelay

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error { return nil }

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "gateway relay" }
