package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	helloTimeout = 15 * time.Second // from the socket to HELLO
	readyTimeout = 30 * time.Second // from HELLO to READY or RESUMED
	writeTimeout = 10 * time.Second
	maxFrame     = 64 << 20 // bytes; a large server's GUILD_CREATE takes some
	maxWaits     = 60       // the longest pause, in units of MinWait
)

// errReconnect and errInvalid are ways a socket ends that need no long wait.
var (
	errReconnect = errors.New("the gateway asked for a new connection")
	errInvalid   = errors.New("the gateway has forgotten the session")
)

// session is what is needed to resume. The goroutine of [Client.run] owns it.
type session struct {
	id, url string
	seq     atomic.Int64 // last dispatch seen, 0 = none
}

func (s *session) forget() {
	s.id, s.url = "", ""
	s.seq.Store(0)
}

// frame is every message of the gateway.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type string          `json:"t"`
}

// link is one socket.
type link struct {
	ws    *websocket.Conn
	acked atomic.Bool // the last heartbeat was answered
}

// connect lives through one socket: it returns why it ended, and whether the
// gateway had said READY or RESUMED on it.
func (c *Client) connect(ctx context.Context, s *session, ready func()) (got bool, err error) {
	ws, err := c.dial(ctx, s)
	if err != nil {
		return false, err
	}
	l := &link{ws: ws}
	l.acked.Store(true)
	over := make(chan struct{})
	var wg sync.WaitGroup
	defer func() {
		c.setLink(nil)
		close(over)
		_ = ws.CloseNow() // also ends a heartbeat that hangs in its write
		wg.Wait()
	}()
	wg.Go(func() {
		select {
		case <-ctx.Done():
			_ = ws.Close(websocket.StatusNormalClosure, "")
		case <-over:
		}
	})

	// Reads end when the socket closes, which the goroutine above does when ctx ends.
	rctx := context.WithoutCancel(ctx)
	interval, err := l.hello(rctx)
	if err != nil {
		return false, err
	}
	if err := l.introduce(rctx, c, s); err != nil {
		return false, err
	}
	wg.Go(func() { l.beat(rctx, s, interval, over) })
	late := time.AfterFunc(readyTimeout, func() { _ = ws.CloseNow() })
	defer late.Stop()
	for {
		f, err := l.read(rctx)
		if err != nil {
			return got, l.ended(err, s)
		}
		if f == nil {
			c.logger().Warn("gateway sent something that is no message")
			continue
		}
		if err := c.handle(rctx, l, s, f); err != nil {
			return got, err
		}
		if f.Op == opDispatch && (f.Type == "READY" || f.Type == "RESUMED") {
			got = true
			late.Stop()
			c.setLink(l)
			ready()
		}
	}
}

func (c *Client) setLink(l *link) {
	c.mu.Lock()
	c.link = l
	c.mu.Unlock()
}

// dial opens the socket, where the session was if there is one to resume.
func (c *Client) dial(ctx context.Context, s *session) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	addr := s.url
	if addr == "" || s.id == "" {
		var err error
		if addr, err = c.URL(ctx); err != nil {
			return nil, fmt.Errorf("ask where the gateway is: %w", err)
		}
	}
	ws, resp, err := websocket.Dial(ctx, addr, &websocket.DialOptions{HTTPClient: c.HTTPClient})
	if err != nil {
		s.url = "" // the next try asks again
		return nil, fmt.Errorf("dial the gateway: %w", err)
	}
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	ws.SetReadLimit(maxFrame)
	return ws, nil
}

// hello waits for the first message and returns the heartbeat's interval.
func (l *link) hello(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	f, err := l.read(ctx)
	if err != nil {
		return 0, l.ended(err, nil)
	}
	var h struct {
		Interval int64 `json:"heartbeat_interval"` // milliseconds
	}
	if f == nil || f.Op != opHello || json.Unmarshal(f.Data, &h) != nil || h.Interval <= 0 {
		return 0, errors.New("the gateway did not say hello")
	}
	return time.Duration(h.Interval) * time.Millisecond, nil
}

// introduce resumes the session if there is one, else begins a new one.
func (l *link) introduce(ctx context.Context, c *Client, s *session) error {
	if s.id != "" {
		return l.send(ctx, opResume, map[string]any{"token": c.Token, "session_id": s.id, "seq": s.seq.Load()})
	}
	return l.send(ctx, opIdentify, map[string]any{
		"token":      c.Token,
		"intents":    c.Intents,
		"compress":   false,
		"properties": map[string]string{"os": "linux", "browser": "clank", "device": "clank"},
	})
}

// handle does what one message asks for. An error ends the socket.
func (c *Client) handle(ctx context.Context, l *link, s *session, f *frame) error {
	switch f.Op {
	case opDispatch:
		if f.Seq != nil {
			s.seq.Store(*f.Seq)
		}
		if f.Type == "READY" {
			c.remember(s, f.Data)
		}
		c.deliver(f)
	case opHeartbeat:
		return l.heartbeat(ctx, s)
	case opReconnect:
		return errReconnect
	case opInvalidSession:
		if string(f.Data) != "true" {
			s.forget()
		}
		return errInvalid
	case opHeartbeatAck:
		l.acked.Store(true)
	}
	return nil
}

// remember keeps what READY says about resuming.
func (c *Client) remember(s *session, data json.RawMessage) {
	var r struct {
		ID  string `json:"session_id"`
		URL string `json:"resume_gateway_url"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		c.logger().Warn("gateway said READY in a way that cannot be read", "error", err)
	}
	s.id, s.url = r.ID, ""
	if u, err := url.Parse(r.URL); err == nil && r.URL != "" {
		u.Path = "/" + strings.TrimPrefix(u.Path, "/")
		u.RawQuery = c.Query
		s.url = u.String()
	}
}

// deliver hands a dispatch on. A handler that panics loses that dispatch alone.
func (c *Client) deliver(f *frame) {
	defer func() {
		if r := recover(); r != nil {
			c.logger().Error("handler of a dispatch panicked", "type", f.Type, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	c.OnDispatch(f.Type, f.Data)
}

// beat sends heartbeats until over. A heartbeat that was not answered before
// the next is due means that nobody is there.
func (l *link) beat(ctx context.Context, s *session, interval time.Duration, over <-chan struct{}) {
	t := time.NewTimer(time.Duration(rand.Float64() * float64(interval)))
	defer t.Stop()
	for {
		select {
		case <-over:
			return
		case <-t.C:
		}
		if !l.acked.Swap(false) || l.heartbeat(ctx, s) != nil {
			_ = l.ws.CloseNow()
			return
		}
		t.Reset(interval)
	}
}

func (l *link) heartbeat(ctx context.Context, s *session) error {
	var seq any
	if n := s.seq.Load(); n != 0 {
		seq = n
	}
	return l.send(ctx, opHeartbeat, seq)
}

// read returns the next message, or nil if it was none.
func (l *link) read(ctx context.Context) (*frame, error) {
	_, b, err := l.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	var f *frame
	if json.Unmarshal(b, &f) != nil {
		return nil, nil //nolint:nilnil // a message that cannot be read is skipped, not an end
	}
	return f, nil
}

func (l *link) send(ctx context.Context, op int, d any) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	b, err := json.Marshal(map[string]any{"op": op, "d": d})
	if err != nil {
		return fmt.Errorf("encode operation %d: %w", op, err)
	}
	if err := l.ws.Write(ctx, websocket.MessageText, b); err != nil {
		return fmt.Errorf("send operation %d to the gateway: %w", op, err)
	}
	return nil
}

// ended turns the error of a read into the reason the socket ended, and forgets
// the session where the close code says that it is gone.
func (l *link) ended(err error, s *session) error {
	var ce websocket.CloseError
	if !errors.As(err, &ce) {
		return fmt.Errorf("read from the gateway: %w", err)
	}
	switch code := int(ce.Code); code {
	case CodeToken, CodeShard, CodeSharding, CodeVersion, CodeIntents, CodeIntentDenied:
		return &RefusedError{Code: code, Reason: ce.Reason}
	case 4003, 4007, 4009: // not authenticated, invalid sequence, session timed out
		if s != nil {
			s.forget()
		}
	}
	return fmt.Errorf("the gateway closed the connection with code %d (%s)", ce.Code, ce.Reason)
}

// wait is the pause before the next try: short after an orderly end, one to five
// units after a forgotten session as Discord asks, else doubling.
func (c *Client) wait(failures int, err error) time.Duration {
	unit := c.MinWait
	if unit == 0 {
		unit = time.Second
	}
	switch {
	case errors.Is(err, errReconnect) && failures == 0:
		return 0
	case errors.Is(err, errInvalid):
		return unit + time.Duration(rand.Float64()*4*float64(unit))
	}
	d := unit << min(failures, 6)
	return min(d, maxWaits*unit)*3/4 + time.Duration(rand.Float64()*float64(unit)/4)
}
