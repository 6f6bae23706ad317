package conn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clank/cancel"

	"github.com/coder/websocket"
)

const (
	defaultMinWait   = 250 * time.Millisecond
	defaultMaxOutage = time.Minute
	maxDoublings     = 5
	// stableAfter is how long a socket must have lived for its end to count as a first failure.
	stableAfter = 3 * time.Second
	// bridgeTime is how long media continues when the gateway's socket is broken: packets take another path, and the
	// session is usually resumed before anyone would notice. Others keep keys that may have changed meanwhile for longer
	// than that.
	bridgeTime = 2 * time.Second
)

// run connects again and again until ctx ends or trying again cannot help, and returns why it ended.
func (c *Conn) run(ctx context.Context, opened func()) error {
	c.dropSession()
	defer c.dropSession()
	maxOutage := cmp.Or(c.MaxOutage, defaultMaxOutage)
	since, try := time.Now(), 0
	for {
		lived, err := c.connect(ctx, opened)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.reportDown(err)
		react := ReactionTo(err)
		if react == Rejoin || react == WaitForGateway || react == GiveUp {
			return err
		}
		if react == Reidentify {
			c.dropSession()
		}
		if lived > stableAfter {
			since, try = time.Now(), 0
		}
		if time.Since(since) > maxOutage {
			return fmt.Errorf("the voice connection could not be restored within %s: %w", maxOutage, err)
		}
		if err := c.backOff(ctx, try); err != nil {
			return err
		}
		try++
	}
}

// reportDown reports that what we send is not transmitted for now.
func (c *Conn) reportDown(err error) {
	c.logger().Info("voice connection lost", "error", err)
	c.mu.Lock()
	c.lastErr = err
	told := c.announced
	c.announced = false
	c.mu.Unlock()
	if told {
		c.emit(Event{Kind: Down, Text: err.Error()})
	}
}

// backOff waits before the next try; the first one follows almost immediately.
func (c *Conn) backOff(ctx context.Context, try int) error {
	wait := cmp.Or(c.MinWait, defaultMinWait)
	if try == 0 {
		wait /= 8
	} else {
		wait <<= min(try-1, maxDoublings)
	}
	return cancel.Sleep(ctx, wait/2+rand.N(wait/2+1))
}

// dropSession forgets the session, so that the next socket identifies again.
func (c *Conn) dropSession() {
	c.mu.Lock()
	s := c.session
	c.session, c.seq, c.announced = nil, -1, false
	c.mu.Unlock()
	c.sendMu.Lock()
	c.out.speaking, c.out.speakingSent = false, false
	c.out.pacer.Clear()
	c.sendMu.Unlock()
	if s != nil && s.transport != nil {
		_ = s.transport.Close() // of a socket that is no longer used
	}
}

// connect opens one socket and lives with it. It returns why it ended, and for how long it was of use.
func (c *Conn) connect(ctx context.Context, opened func()) (time.Duration, error) {
	c.mu.Lock()
	seq := c.seq
	c.mu.Unlock()
	l, err := dial(ctx, c.HTTPClient, gatewayURL(c.Target.Endpoint), seq)
	if err != nil {
		return 0, err
	}
	var settled time.Time
	l.onUsable = func() {
		if settled.IsZero() {
			settled = time.Now()
			opened()
		}
	}
	c.mu.Lock()
	c.link = l
	c.stats.Connects++
	c.mu.Unlock()
	err = l.run(ctx, c)
	c.mu.Lock()
	if l.usable {
		c.bridgeUntil = time.Now().Add(bridgeTime)
	}
	c.link, c.seq = nil, int(l.seq.Load())
	c.mu.Unlock()
	if settled.IsZero() {
		return 0, err
	}
	return time.Since(settled), err
}

// gatewayURL returns the URL of an endpoint. Discord's never have a scheme.
func gatewayURL(endpoint string) string {
	if !strings.Contains(endpoint, "://") {
		endpoint = "wss://" + endpoint
	}
	return strings.TrimSuffix(endpoint, "/") + "/?v=8"
}

var errSilent = errors.New("the voice gateway went silent")

// Reaction is what to do about the end of a connection.
type Reaction int

// The reactions.
const (
	Resume         Reaction = iota // reconnect and resume the session
	Reidentify                     // reconnect and identify again
	Rejoin                         // the credentials are spent: request new ones from the main gateway
	WaitForGateway                 // we were removed or moved: the main gateway will report which
	GiveUp                         // trying again cannot help
)

// closeCodes are the close codes of the voice gateway: what to do about each, and what it means for people and what
// they can do.
var closeCodes = map[int]struct {
	react   Reaction
	meaning string
}{
	4001: {Reidentify, "it does not know an operation that clank sent"},
	4002: {Reidentify, "it could not read a message of clank's"},
	4003: {Reidentify, "clank sent something before it had identified itself"},
	4004: {Rejoin, "the token for this call is no longer valid; join again to get another"},
	4005: {Reidentify, "clank identified itself twice"},
	4006: {Rejoin, "the session is no longer valid; join again to get another"},
	4009: {Reidentify, "the session timed out"},
	4011: {Rejoin, "the voice server is gone; join again to get another"},
	4012: {GiveUp, "it does not speak the protocol that clank chose; a newer clank may"},
	4013: {Reidentify, "its media transport failed"},
	4014: {WaitForGateway, "clank was taken out of the call: disconnected, moved, or the channel was deleted"},
	4015: {Resume, "the voice server crashed"},
	4016: {GiveUp, "it does not know the encryption that clank chose; a newer clank may"},
	4017: {GiveUp, "it demands end-to-end encryption in a version that clank did not offer; a newer clank may"},
	4020: {Reidentify, "it found a message of clank's malformed"},
	4021: {GiveUp, "clank connected too often; wait some minutes before joining again"},
	4022: {GiveUp, "the call has ended for everybody"},
}

// CloseError is the end of a connection by the voice gateway's choice.
type CloseError struct {
	Code   int
	Reason string // from the gateway; may be empty
}

func (e *CloseError) Error() string {
	text := cmp.Or(closeCodes[e.Code].meaning, "no reason that clank knows")
	if e.Reason != "" {
		text += fmt.Sprintf(" (%q)", e.Reason)
	}
	return fmt.Sprintf("the voice gateway closed the connection with code %d: %s", e.Code, text)
}

// Reaction returns what to do about the error.
func (e *CloseError) Reaction() Reaction {
	if known, ok := closeCodes[e.Code]; ok {
		return known.react
	}
	if e.Code < 4000 {
		return Resume
	}
	return Reidentify
}

// ReactionTo returns what to do about the error with which a connection ended. An error without a close code is a
// network failure: Resume.
func ReactionTo(err error) Reaction {
	if e, ok := errors.AsType[*CloseError](err); ok {
		return e.Reaction()
	}
	if _, ok := errors.AsType[*setupError](err); ok {
		return Reidentify
	}
	return Resume
}

// setupError is a failure on our side of what a session needs, such as its socket.
type setupError struct{ err error }

func (e *setupError) Error() string { return e.err.Error() }
func (e *setupError) Unwrap() error { return e.err }

const (
	dialTimeout   = 10 * time.Second
	settleTimeout = 15 * time.Second // from the open socket to the session's description
	writeTimeout  = 10 * time.Second
	closeTimeout  = time.Second // for the closing handshake
	maxMessage    = 4 << 20     // bytes; a welcome to a large call has the keys of everybody
	maxQueue      = 256         // messages that wait to be written
	minHeartbeat  = 20 * time.Millisecond
)

type message struct {
	binary bool
	data   []byte
}

// link is one socket of the voice gateway. run reads it in order; other goroutines write it and keep it alive.
type link struct {
	ws           *websocket.Conn
	queue        chan message
	end          context.CancelCauseFunc
	ended        <-chan struct{} // closed by end
	onUsable     func()          // called when the gateway has settled everything
	seq          atomic.Int64    // newest sequence number of the gateway's messages, -1 before the first
	acked        atomic.Bool
	hasHeartbeat bool
	resumed      bool // it continues the session of another socket
	usable       bool // media can go; held by Conn.mu
	wg           sync.WaitGroup
	timer        *time.Timer // ends a link that does not settle
}

func dial(ctx context.Context, client *http.Client, url string, seq int) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errSilent)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the voice gateway: %w", err)
	}
	ws.SetReadLimit(maxMessage)
	l := &link{ws: ws, queue: make(chan message, maxQueue)}
	l.seq.Store(int64(seq))
	return l, nil
}

// run reads until the socket ends, and returns why. It has ended all that it started when it returns.
func (l *link) run(ctx context.Context, c *Conn) error {
	live, end := context.WithCancelCause(context.WithoutCancel(ctx))
	l.end, l.ended = end, live.Done()
	gone := make(chan struct{})
	l.timer = time.AfterFunc(settleTimeout, func() { end(errSilent) })
	l.wg.Go(func() { l.write(live) })
	l.wg.Go(func() {
		select {
		case <-ctx.Done():
			t := time.AfterFunc(closeTimeout, func() { end(context.Cause(ctx)) })
			_ = l.ws.Close(websocket.StatusNormalClosure, "")
			t.Stop()
			end(context.Cause(ctx))
		case <-gone:
		}
	})
	err := l.read(ctx, live, c)
	close(gone)
	l.timer.Stop()
	end(err)
	_ = l.ws.CloseNow()
	l.wg.Wait()
	return err
}

// read handles one message after the other: the order is part of the protocol.
func (l *link) read(ctx, live context.Context, c *Conn) error {
	for {
		kind, data, err := l.ws.Read(live)
		if err != nil {
			return readError(live, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if kind == websocket.MessageBinary {
			c.handleBinary(l, data)
		} else if err := c.handleText(ctx, l, data); err != nil {
			return err
		}
	}
}

// readError returns the reason for the end of a socket.
func readError(live context.Context, err error) error {
	if closed, ok := errors.AsType[websocket.CloseError](err); ok {
		return &CloseError{Code: int(closed.Code), Reason: closed.Reason}
	}
	if live.Err() != nil {
		err = context.Cause(live)
	}
	return fmt.Errorf("read from the voice gateway: %w", err)
}

// send queues a message. A queue that is full is a gateway that does not read: the link ends.
func (l *link) send(m message) {
	select {
	case l.queue <- m:
	default:
		if l.end != nil {
			l.end(errors.New("the voice gateway does not read what it is sent"))
		}
	}
}

func (l *link) write(ctx context.Context) {
	for {
		select {
		case m := <-l.queue:
			kind := websocket.MessageText
			if m.binary {
				kind = websocket.MessageBinary
			}
			to, cancel := context.WithTimeout(ctx, writeTimeout)
			err := l.ws.Write(to, kind, m.data)
			cancel()
			if err != nil {
				l.end(fmt.Errorf("write to the voice gateway: %w", err))
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// startHeartbeat starts the heartbeat. A beat that was not answered when the next is due is a socket that is dead.
func (l *link) startHeartbeat(every time.Duration) {
	if l.hasHeartbeat {
		return
	}
	l.hasHeartbeat = true
	every = max(every, minHeartbeat)
	l.acked.Store(true)
	l.wg.Go(func() {
		tick := time.Tick(every)
		for {
			select {
			case <-tick:
			case <-l.ended:
				return
			}
			if !l.acked.Swap(false) {
				l.end(errSilent)
				return
			}
			data, err := json.Marshal(
				outgoing{Op: opHeartbeat, Data: heartbeat{Time: time.Now().UnixMilli(), SeqAck: int(l.seq.Load())}})
			if err == nil {
				l.send(message{data: data})
			}
		}
	})
}
