package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// maxMessage bounds one message from the browser: a full-page picture is the largest thing that is asked for.
const maxMessage = 256 << 20

// conn carries protocol messages over one WebSocket. Events are handled on the reading goroutine, in order with the
// answers, so that a caller that has its answer also sees the state that preceded it; handlers therefore never block.
type conn struct {
	ws      *websocket.Conn
	timeout time.Duration
	sent    func(method string) // may be nil
	onEvent func(cdp.Event)

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

func dial(ctx context.Context, wsURL string, opts Options, onEvent func(cdp.Event)) (*conn, error) {
	ctx, cancelDial := context.WithTimeout(ctx, opts.CallTimeout)
	defer cancelDial()
	ws, resp, err := websocket.Dial(ctx, wsURL, nil)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		// The address may hold a secret, and the library's error repeats it.
		if withURL, ok := errors.AsType[*url.Error](err); ok {
			err = withURL.Err
		}
		return nil, fmt.Errorf("connect to the browser at %s: %w", redact(wsURL), err)
	}
	ws.SetReadLimit(maxMessage)
	c := &conn{
		ws: ws, timeout: opts.CallTimeout, sent: opts.Sent, onEvent: onEvent,
		pending: map[int]chan []byte{}, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	return c, nil
}

// start begins reading and writing. Both goroutines end when close is called or the socket fails.
func (c *conn) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.wg.Go(func() { c.fail(c.read(ctx)) })
	c.wg.Go(func() { c.fail(c.write(ctx)) })
}

func (c *conn) read(ctx context.Context) error {
	for {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			return err
		}
		id, ok := answerID(data)
		if !ok {
			var ev cdp.Event
			if err := json.Unmarshal(data, &ev); err != nil {
				return fmt.Errorf("read protocol message: %w", err)
			}
			c.onEvent(ev)
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

func (c *conn) write(ctx context.Context) error {
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

func (c *conn) fail(err error) {
	c.closing.Do(func() {
		c.err = err
		close(c.done)
		c.cancel()
		_ = c.ws.CloseNow()
	})
}

var errClosed = errors.New("connection closed")

func (c *conn) close() {
	c.fail(errClosed)
	c.wg.Wait()
}

// gone is the error of a call that cannot be answered any more.
func (c *conn) gone() error {
	return fmt.Errorf("%w: %w", ErrBrowserGone, c.err)
}

// send queues a request. The answer arrives on the returned channel; a nil channel means nobody wants it.
func (c *conn) send(sessionID string, req proto.Request, answer bool) (int, chan []byte, error) {
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

func (c *conn) forget(id int) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}
