package cdp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// ErrGone is returned if the connection to the browser is lost. Pending calls fail with it at once.
var ErrGone = errors.New("the browser is gone")

// ErrSilent is the reason for closing a connection to a browser that has stopped answering.
var ErrSilent = errors.New("the browser did not answer any more")

// Options configures a connection.
type Options struct {
	// CallTimeout bounds each call; it must be positive. An earlier deadline of the context applies.
	CallTimeout time.Duration
	// OnSent, if set, is called with each request as it is sent, for measurements. It must not block.
	OnSent func(method string, params any)
	// HandshakeHeader is sent with the opening handshake, such as an Authorization header.
	HandshakeHeader http.Header
	// HandshakeClient performs the opening handshake; nil means http.DefaultClient.
	HandshakeClient *http.Client
	// HandshakeTimeout bounds the opening handshake; 0 means CallTimeout.
	HandshakeTimeout time.Duration
	// Redact, if set, removes secrets from each message of the browser before it is handled. It is called on the
	// reading goroutine, and must keep the message's structure.
	Redact func(message []byte) []byte
	// UsedCPU, if set, reports whether the browser's processes have done any work since the last call. A silent browser
	// that is idle is given up sooner than one that may only be slow.
	UsedCPU func() bool
}

// StatusError says that the server answered the opening handshake without switching protocols, in contrast to an
// unreachable browser. It omits the response body, which may repeat a secret in the URL.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the WebSocket handshake was refused with HTTP %d %s", e.Code, http.StatusText(e.Code))
}

// Event is a CDP event.
type Event struct {
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// Decode decodes the event's parameters and reports whether that succeeded.
func (ev Event) Decode(into any) bool { return json.Unmarshal(ev.Params, into) == nil }

// maxMessage bounds a message from the browser, in bytes. The largest ones contain full-page pictures.
const maxMessage = 256 << 20

// Conn carries CDP messages over a [Transport]. Events are handled on the reading goroutine, in order with results, so
// that a caller that has a result also sees the state that preceded it; handlers must never block. It is safe for
// concurrent use.
type Conn struct {
	transport Transport
	timeout   time.Duration
	onSent    func(method string, params any) // may be nil
	redact    func([]byte) []byte             // may be nil
	usedCPU   func() bool                     // may be nil

	mu      sync.Mutex
	next    int
	pending map[int]chan []byte
	queue   [][]byte
	wake    chan struct{}

	branches    map[string]*Branch // by session id
	branchCalls map[int]branchCall

	closing sync.Once
	done    chan struct{}
	err     error // set before done is closed
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// Dial opens the browser's WebSocket (ws://…/devtools/browser/…). Nothing is sent or read before [Conn.Start]. A
// refused handshake is a *[StatusError].
func Dial(ctx context.Context, wsURL string, opts Options) (*Conn, error) {
	ctx, cancelDial := context.WithTimeout(ctx, cmp.Or(opts.HandshakeTimeout, opts.CallTimeout))
	defer cancelDial()
	ws, resp, err := websocket.Dial(ctx, wsURL, &websocket.DialOptions{
		HTTPHeader: opts.HandshakeHeader,
		HTTPClient: opts.HandshakeClient,
	})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			err = &StatusError{Code: resp.StatusCode}
		}
		// The URL may contain a secret, and the library's error repeats it.
		if withURL, ok := errors.AsType[*url.Error](err); ok {
			err = withURL.Err
		}
		return nil, fmt.Errorf("connect to the browser at %s: %w", redactURL(wsURL), err)
	}
	ws.SetReadLimit(maxMessage)
	return New(&socket{ws: ws}, opts), nil
}

// New returns a connection over a transport, which it then owns. Nothing is sent or read before [Conn.Start].
func New(transport Transport, opts Options) *Conn {
	return &Conn{
		transport: transport, timeout: opts.CallTimeout, onSent: opts.OnSent, redact: opts.Redact, usedCPU: opts.UsedCPU,
		pending: map[int]chan []byte{}, wake: make(chan struct{}, 1), done: make(chan struct{}),
		branches: map[string]*Branch{}, branchCalls: map[int]branchCall{},
	}
}

// redactURL removes possible secrets from an endpoint's URL.
func redactURL(wsURL string) string {
	u, err := url.Parse(wsURL)
	if err != nil {
		return "(an address that does not parse)"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// Start starts reading and writing; it must be called once. onEvent runs on the reading goroutine and must not wait for
// the browser. The goroutines end when Close is called, the transport fails, or the browser stops answering.
func (c *Conn) Start(onEvent func(Event)) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.wg.Go(func() { c.fail(c.read(ctx, onEvent)) })
	c.wg.Go(func() { c.fail(c.write(ctx)) })
	c.wg.Go(func() { c.fail(c.watch(ctx)) })
}

// A browser that hangs, or a connection that was cut, is recognized by silence: neither a call is answered nor, since a
// page may block its own calls, a query to the browser itself. A browser that is working, as on an overloaded machine,
// has until shortly before the default limit of a call, 10 s.
const (
	silenceCheck  = 500 * time.Millisecond
	silenceChecks = 18 // if it is working, or that is unknown
	idleChecks    = 3  // if it is idle, which is known from the second check on
)

// watch returns ErrSilent after too many consecutive checks with a pending call and no incoming data.
func (c *Conn) watch(ctx context.Context) error {
	tick := time.Tick(silenceCheck)
	for before, silent, idle := int64(0), 0, 0; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
		}
		parts := c.transport.Parts()
		c.mu.Lock()
		waits := len(c.pending) > 0
		c.mu.Unlock()
		if parts != before || !waits {
			before, silent, idle = parts, 0, 0
			continue
		}
		silent++
		if idle++; c.usedCPU == nil || c.usedCPU() {
			idle = 0
		}
		if silent == silenceChecks || idle == idleChecks {
			return ErrSilent
		}
		if silent%2 == 1 {
			c.Session("", ErrGone).Post(proto.BrowserGetVersion{})
		}
	}
}

func (c *Conn) read(ctx context.Context, onEvent func(Event)) error {
	for {
		data, err := c.transport.Read(ctx)
		if err != nil {
			return err
		}
		if c.redact != nil {
			data = c.redact(data)
		}
		id, ok := answerID(data)
		if !ok {
			var ev Event
			if err := json.Unmarshal(data, &ev); err != nil {
				return fmt.Errorf("read protocol message: %w", err)
			}
			if !c.passEvent(ev, data) {
				onEvent(ev)
			}
			continue
		}
		if c.passAnswer(id, data) {
			continue
		}
		c.mu.Lock()
		ch := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if ch != nil {
			ch <- data // buffered, one result per call
		}
	}
}

// answerID distinguishes results from events without parsing messages of several megabytes.
func answerID(data []byte) (int, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"id":`))
	if !ok {
		var m struct {
			ID int `json:"id"`
		}
		if bytes.HasPrefix(data, []byte(`{"method":`)) || json.Unmarshal(data, &m) != nil {
			return 0, false
		}
		return m.ID, m.ID != 0
	}
	end := bytes.IndexAny(rest, ",}")
	if end < 0 {
		return 0, false
	}
	id, err := strconv.Atoi(string(bytes.TrimSpace(rest[:end])))
	return id, err == nil
}

func (c *Conn) write(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.wake:
		}
		c.mu.Lock()
		batch := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, data := range batch {
			if err := c.transport.Write(ctx, data); err != nil {
				return err
			}
		}
	}
}

func (c *Conn) fail(err error) {
	c.closing.Do(func() {
		c.err = err
		close(c.done)
		c.cancel()
		_ = c.transport.Close()
	})
}

var errClosed = errors.New("connection closed")

// Close closes the connection and waits for its goroutines. It may be called more than once, after Start.
func (c *Conn) Close() {
	c.fail(errClosed)
	c.wg.Wait()
}

// Timeout returns the default limit of a call.
func (c *Conn) Timeout() time.Duration { return c.timeout }

// Done returns a channel that is closed when the connection has ended, for whatever reason.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended: nil while it is open and after Close, otherwise an error that wraps [ErrGone].
func (c *Conn) Err() error {
	select {
	case <-c.done:
	default:
		return nil
	}
	if errors.Is(c.err, errClosed) {
		return nil
	}
	return c.GoneError()
}

// GoneError returns the error of calls after the connection has ended, including by Close. It wraps [ErrGone].
func (c *Conn) GoneError() error {
	select {
	case <-c.done:
		return fmt.Errorf("%w: %w", ErrGone, c.err)
	default:
		return ErrGone
	}
}

// send queues a request. The result arrives on the returned channel, which is nil unless answer is set.
func (c *Conn) send(sessionID string, req proto.Request, answer bool) (int, chan []byte, error) {
	var ch chan []byte
	if answer {
		ch = make(chan []byte, 1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	id := c.next
	data, err := json.Marshal(cdp.Request{ID: id, SessionID: sessionID, Method: req.ProtoReq(), Params: req})
	if err != nil {
		return 0, nil, fmt.Errorf("encode %s: %w", req.ProtoReq(), err)
	}
	if answer {
		c.pending[id] = ch
	}
	c.enqueue(data)
	if c.onSent != nil {
		c.onSent(req.ProtoReq(), req)
	}
	return id, ch, nil
}

// enqueue queues a message. The caller holds mu.
func (c *Conn) enqueue(data []byte) {
	c.queue = append(c.queue, data)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Conn) forgetCall(id int) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

// Session is a flat session with the browser (empty id) or a target. It is safe for concurrent use.
type Session struct {
	conn    *Conn
	id      string
	goneErr error
	gone    chan struct{}
}

// Session returns the session with this id. lost is the error of its calls after [Session.End].
func (c *Conn) Session(id string, lost error) *Session {
	return &Session{conn: c, id: id, goneErr: lost, gone: make(chan struct{})}
}

// ID returns the CDP session id.
func (s *Session) ID() string { return s.id }

// Timeout returns the default limit of a call.
func (s *Session) Timeout() time.Duration { return s.conn.timeout }

// End records that the target is gone: pending and later calls fail. It must be called once.
func (s *Session) End() { close(s.gone) }

// Post sends requests and ignores the results. It never blocks.
func (s *Session) Post(reqs ...proto.Request) {
	for _, req := range reqs {
		_, _, _ = s.conn.send(s.id, req, false)
	}
}

// Call is a pending request.
type Call struct {
	s      *Session
	method string
	id     int
	ch     chan []byte
	limit  time.Duration
	begun  time.Time
	err    error
}

// Begin sends a request without waiting. Chromium handles the requests of one session in order.
func (s *Session) Begin(req proto.Request) *Call { return s.BeginWithin(s.conn.timeout, req) }

// BeginWithin is Begin with another limit.
func (s *Session) BeginWithin(limit time.Duration, req proto.Request) *Call {
	id, ch, err := s.conn.send(s.id, req, true)
	return &Call{s: s, method: req.ProtoReq(), id: id, ch: ch, limit: limit, begun: time.Now(), err: err}
}

// ErrNoAnswer is returned if Chromium did not answer a call in time.
var ErrNoAnswer = errors.New("the page does not answer")

// Wait waits for the result until ctx or the limit ends, or the target or browser is gone.
func (c *Call) Wait(ctx context.Context, result any) error {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return c.wait(ctx, result)
	}
	_, span = span.TracerProvider().Tracer("clank/browsermgr/cdp").
		Start(ctx, c.method, trace.WithTimestamp(c.begun), trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	err := c.wait(ctx, result)
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	return err
}

func (c *Call) wait(ctx context.Context, result any) error {
	if c.err != nil {
		return c.err
	}
	var data []byte
	select {
	case data = <-c.ch:
	case <-ctx.Done():
		c.s.conn.forgetCall(c.id)
		return context.Cause(ctx)
	case <-time.After(c.limit):
		c.s.conn.forgetCall(c.id)
		return fmt.Errorf("%w: no reply to %s within %s; it may be busy: stop it or reload", ErrNoAnswer, c.method, c.limit)
	case <-c.s.conn.done:
		return c.s.conn.GoneError()
	case <-c.s.gone:
		c.s.conn.forgetCall(c.id)
		return c.s.goneErr
	}
	return c.decode(data, result)
}

func (c *Call) decode(data []byte, result any) error {
	envelope := struct {
		Result any        `json:"result"`
		Error  *cdp.Error `json:"error"`
	}{Result: result}
	if err := json.Unmarshal(data, &envelope); err != nil {
		return fmt.Errorf("decode answer to %s: %w", c.method, err)
	}
	switch {
	case envelope.Error == nil:
		return nil
	case envelope.Error.Code == codeInternal && strings.HasPrefix(c.method, "Runtime."):
		return fmt.Errorf("%w (%s: %w)", ErrScriptStopped, c.method, envelope.Error)
	}
	return fmt.Errorf("%s: %w", c.method, envelope.Error)
}

// Answered reports whether the result has arrived.
func (c *Call) Answered() bool { return len(c.ch) > 0 }

// Abandon discards the result. Wait must not be called afterwards.
func (c *Call) Abandon() { c.s.conn.forgetCall(c.id) }

// Do sends a request and waits until Chromium has handled it.
func (s *Session) Do(ctx context.Context, req proto.Request) error {
	return s.Begin(req).Wait(ctx, nil)
}

// Ask sends a request and returns its result.
func Ask[R any](ctx context.Context, s *Session, req proto.Request) (R, error) {
	var res R
	err := s.Begin(req).Wait(ctx, &res)
	return res, err
}
