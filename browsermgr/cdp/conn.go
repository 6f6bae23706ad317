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
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// ErrGone says that the connection to the browser is lost. Every pending call fails with it at once.
var ErrGone = errors.New("the browser is gone")

// Options adjusts a connection.
type Options struct {
	// CallTimeout bounds each single call; it must be positive. A shorter context wins.
	CallTimeout time.Duration
	// OnSent, if set, is called with the name of each method as it is sent, for measuring. It must not block.
	OnSent func(method string)
	// HandshakeHeader goes with the opening handshake, e.g. for a browser that wants authorization.
	HandshakeHeader http.Header
	// HandshakeTimeout bounds the opening handshake; 0 means Timeout.
	HandshakeTimeout time.Duration
	// Redact, if set, is given each message of the browser before anybody reads it, and returns what is read instead.
	// It is called on the reading goroutine, and must leave the message's structure as it is.
	Redact func(message []byte) []byte
}

// StatusError says that the opening handshake was answered with something else than a switch of protocols. It is told
// apart from a browser that cannot be reached. The answer's body is not kept: it may repeat a secret of the address.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the WebSocket handshake was refused with HTTP %d %s", e.Code, http.StatusText(e.Code))
}

// Event is something the browser told of its own accord.
type Event struct {
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// Decode reads the event's parameters and reports whether they could be read.
func (ev Event) Decode(into any) bool { return json.Unmarshal(ev.Params, into) == nil }

// maxMessage bounds one message from the browser: a full-page picture is the largest thing that is asked for.
const maxMessage = 256 << 20

// Conn carries protocol messages over one WebSocket. Events are handled on the reading goroutine, in order with the
// answers, so that a caller that has its answer also sees the state that preceded it; handlers therefore never block.
// It is safe for concurrent use.
type Conn struct {
	ws      *websocket.Conn
	timeout time.Duration
	sent    func(method string) // may be nil
	clean   func([]byte) []byte // may be nil

	mu      sync.Mutex
	next    int
	pending map[int]chan []byte
	queue   [][]byte
	wake    chan struct{}

	closing sync.Once
	done    chan struct{}
	err     error // set before done is closed
	cancel  context.CancelFunc
	wg      sync.WaitGroup
}

// Dial opens the browser's WebSocket (ws://…/devtools/browser/…). Nothing is sent or read before [Conn.Start]. A
// handshake that was refused is a *[StatusError].
func Dial(ctx context.Context, wsURL string, opts Options) (*Conn, error) {
	ctx, cancelDial := context.WithTimeout(ctx, cmp.Or(opts.HandshakeTimeout, opts.CallTimeout))
	defer cancelDial()
	ws, resp, err := websocket.Dial(ctx, wsURL, &websocket.DialOptions{HTTPHeader: opts.HandshakeHeader})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			err = &StatusError{Code: resp.StatusCode}
		}
		// The address may hold a secret, and the library's error repeats it.
		if withURL, ok := errors.AsType[*url.Error](err); ok {
			err = withURL.Err
		}
		return nil, fmt.Errorf("connect to the browser at %s: %w", redactURL(wsURL), err)
	}
	ws.SetReadLimit(maxMessage)
	return &Conn{
		ws: ws, timeout: opts.CallTimeout, sent: opts.OnSent, clean: opts.Redact,
		pending: map[int]chan []byte{}, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}, nil
}

// redactURL removes what may be a secret from an endpoint's address.
func redactURL(wsURL string) string {
	u, err := url.Parse(wsURL)
	if err != nil {
		return "(an address that does not parse)"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// Start begins reading and writing; it is called once. onEvent runs on the reading goroutine and must not wait for the
// browser. Both goroutines end when Close is called or the socket fails.
func (c *Conn) Start(onEvent func(Event)) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.wg.Go(func() { c.fail(c.read(ctx, onEvent)) })
	c.wg.Go(func() { c.fail(c.write(ctx)) })
}

func (c *Conn) read(ctx context.Context, onEvent func(Event)) error {
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		if c.clean != nil {
			data = c.clean(data)
		}
		id, ok := answerID(data)
		if !ok {
			var ev Event
			if err := json.Unmarshal(data, &ev); err != nil {
				return fmt.Errorf("read protocol message: %w", err)
			}
			onEvent(ev)
			continue
		}
		c.mu.Lock()
		ch := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if ch != nil {
			ch <- data // buffered, one answer a call
		}
	}
}

// answerID tells an answer from an event without parsing what may be megabytes.
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
	id, err := strconv.Atoi(string(rest[:end]))
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
			if err := c.ws.Write(ctx, websocket.MessageText, data); err != nil {
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
		_ = c.ws.CloseNow()
	})
}

var errClosed = errors.New("connection closed")

// Close ends the connection and waits for its goroutines. It may be called more than once, after Start.
func (c *Conn) Close() {
	c.fail(errClosed)
	c.wg.Wait()
}

// Timeout returns the bound of a single call.
func (c *Conn) Timeout() time.Duration { return c.timeout }

// Done returns a channel that is closed when the connection has ended, for whatever reason.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection ended: nil while it lives and after Close, otherwise an error that wraps [ErrGone].
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

// GoneError returns the error of calls after the connection has ended, Close included. It wraps [ErrGone].
func (c *Conn) GoneError() error {
	select {
	case <-c.done:
		return fmt.Errorf("%w: %w", ErrGone, c.err)
	default:
		return ErrGone
	}
}

// send queues a request. The answer arrives on the returned channel; a nil channel means nobody wants it.
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
	c.queue = append(c.queue, data)
	if c.sent != nil {
		c.sent(req.ProtoReq())
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return id, ch, nil
}

func (c *Conn) forgetCall(id int) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}
