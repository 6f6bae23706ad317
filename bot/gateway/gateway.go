// Package gateway holds one connection to Discord's gateway: it identifies,
// keeps the heart beating, resumes what breaks, gives up where trying again
// cannot help, and hands every dispatch on as it came.
//
// It does not know what a dispatch means; package bot does. It is ours, and not
// the library's, because a frame the library does not expect ends the program,
// a reconnect request during a resume makes it wait for itself, it does not say
// with which code it was refused, it reconnects after it was closed, and it
// cannot send the operations that voice needs.
//
// It follows Discord's developer documentation, "Gateway", versions 9 and 10.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Operations that travel over the gateway and are named here. [Client.Send]
// takes any.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11

	// OpVoiceState joins, moves in and leaves voice channels.
	OpVoiceState = 4
)

// Close codes after which trying again cannot help.
const (
	CodeToken        = 4004
	CodeShard        = 4010
	CodeSharding     = 4011
	CodeVersion      = 4012
	CodeIntents      = 4013
	CodeIntentDenied = 4014
)

// ErrNotConnected is returned by [Client.Send] while there is no connection.
var ErrNotConnected = errors.New("not connected to Discord's gateway")

// RefusedError is the end of the connection for good: the gateway closed it
// with a code after which trying again cannot help.
type RefusedError struct {
	Code   int
	Reason string // as the gateway gave it
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the gateway refused the connection with code %d (%s)", e.Code, e.Reason)
}

// Client is one connection to the gateway, kept alive over as many sockets as
// it takes. Set the fields, then Open, then Close.
type Client struct {
	Token   string // of the bot, bare
	Intents int

	// URL asks Discord where the gateway is: a whole WebSocket URL with its
	// query. An error for which trying again cannot help has [RefusedError] in
	// its chain.
	URL func(ctx context.Context) (string, error)

	// Query is added to the address at which a session is resumed: "v=…&encoding=json".
	Query string

	// OnDispatch is called with every dispatch, in order, from one goroutine;
	// it must not block, and data must not be changed.
	OnDispatch func(kind string, data json.RawMessage)

	// HTTPClient opens the sockets; nil is the default client.
	HTTPClient *http.Client
	Logger     *slog.Logger

	// MinWait is the pause before a first new try, one second when zero. It
	// doubles with each failure up to sixty times MinWait.
	MinWait time.Duration

	mu     sync.Mutex
	link   *link // nil while there is none
	cancel context.CancelFunc
	done   chan struct{}
	err    error // why it ended for good; read after done is closed
	last   error // why the last try failed
}

// Open connects and returns when the gateway has said READY. It tries again
// until ctx ends, unless the gateway refuses for good; the error is then a
// [*RefusedError], and otherwise names the last failure.
func (c *Client) Open(ctx context.Context) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.mu.Lock()
	if c.cancel != nil {
		c.mu.Unlock()
		cancel()
		return errors.New("open the gateway: it is open already")
	}
	c.cancel, c.done = cancel, make(chan struct{})
	c.mu.Unlock()
	ready := make(chan struct{})
	go func() {
		defer close(c.done)
		c.run(run, sync.OnceFunc(func() { close(ready) }))
	}()
	select {
	case <-ready:
		return nil
	case <-c.done:
		return c.err
	case <-ctx.Done():
		cancel()
		<-c.done
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.last != nil {
			return fmt.Errorf("no connection to Discord in time; the last try failed: %w", c.last)
		}
		return fmt.Errorf("no connection to Discord in time: %w", context.Cause(ctx))
	}
}

// Done is closed when the connection has ended for good, after Close or a
// refusal. It must not be called before Open.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err says why the connection ended for good: nil after Close. It must not be
// called before [Client.Done] is closed.
func (c *Client) Err() error { return c.err }

// Close says goodbye and waits until every goroutine has ended, at most until
// ctx ends. It may be called more than once.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	cancel, done := c.cancel, c.done
	c.mu.Unlock()
	if cancel == nil {
		return nil
	}
	cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the gateway: %w", context.Cause(ctx))
	}
}

// Send sends operation op with data d.
func (c *Client) Send(ctx context.Context, op int, d any) error {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return ErrNotConnected
	}
	return l.send(ctx, op, d)
}

// run connects again and again until ctx ends or the gateway refuses.
func (c *Client) run(ctx context.Context, ready func()) {
	var s session
	for failures := 0; ctx.Err() == nil; {
		got, err := c.connect(ctx, &s, ready)
		if ctx.Err() != nil {
			return
		}
		var refused *RefusedError
		if errors.As(err, &refused) {
			c.err = err
			c.logger().Error("gateway refused the connection", "code", refused.Code, "reason", refused.Reason)
			return
		}
		if got {
			failures = 0
		}
		c.mu.Lock()
		c.last = err
		c.mu.Unlock()
		wait := c.wait(failures, err)
		failures++
		c.logger().Warn("gateway connection ended", "error", err, "resumable", s.id != "", "wait", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

func (c *Client) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}
