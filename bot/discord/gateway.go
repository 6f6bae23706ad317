package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	gorilla "github.com/gorilla/websocket"
)

// Close codes after which trying again cannot help.
const (
	CloseInvalidToken      = 4004
	CloseInvalidShard      = 4010
	CloseShardingRequired  = 4011
	CloseInvalidVersion    = 4012
	CloseInvalidIntents    = 4013
	CloseDisallowedIntents = 4014
)

// ErrNotConnected is returned by [Gateway.Send] while there is no connection.
var ErrNotConnected = errors.New("not connected to Discord's gateway")

// GatewayRefusedError is the end of the connection for good: the gateway closed it
// with a code after which trying again cannot help.
type GatewayRefusedError struct {
	Code   int
	Reason string // as the gateway gave it
}

func (e *GatewayRefusedError) Error() string {
	return fmt.Sprintf("the gateway refused the connection with code %d (%s)", e.Code, e.Reason)
}

// Gateway is one connection to the gateway, kept alive over as many sockets as
// it takes. Set the fields, then Open, then Close.
type Gateway struct {
	Token   string // of the bot, bare
	Intents int

	// UserToken says that the token is that of another kind of account, which is sent without the word that bots have before theirs.
	UserToken bool

	// URL asks Discord where the gateway is: a whole WebSocket URL with its
	// query. An error for which trying again cannot help has [GatewayRefusedError] in
	// its chain.
	URL func(ctx context.Context) (string, error)

	// OnDispatch is called with every dispatch, in order, from one goroutine at
	// a time; it must not block, and data must not be changed.
	OnDispatch func(kind string, data json.RawMessage)

	// HTTPClient opens the sockets; nil is the default client.
	HTTPClient *http.Client
	Logger     *slog.Logger

	// MinWait is the pause before a first new try, one second when zero. It
	// doubles with each failure up to sixty times MinWait.
	MinWait time.Duration

	relay  *gatewayRelay
	mu     sync.Mutex
	cancel context.CancelFunc
	done   chan struct{}
	err    error // why it ended for good; read after done is closed
	last   error // why the last try failed
}

// Open connects and returns when the gateway has said READY. It tries again
// until ctx ends, unless the gateway refuses for good; the error is then a
// [*GatewayRefusedError], and otherwise names the last failure.
func (c *Gateway) Open(ctx context.Context) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.mu.Lock()
	if c.cancel != nil {
		c.mu.Unlock()
		cancel()
		return errors.New("open the gateway: it is open already")
	}
	c.cancel, c.done = cancel, make(chan struct{})
	c.relay = newRelay(c.URL, c.HTTPClient, c.logger())
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

// Done returns a channel that is closed when the connection has ended for good, after Close or a refusal. It
// must not be called before Open.
func (c *Gateway) Done() <-chan struct{} { return c.done }

// Err says why the connection ended for good: nil after Close. It must not be
// called before [Gateway.Done] is closed.
func (c *Gateway) Err() error { return c.err }

// Close says goodbye and waits until nothing is connected any more, at most until
// ctx ends. It may be called more than once.
func (c *Gateway) Close(ctx context.Context) error {
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

// Send sends operation op with data d, past the library, which cannot.
func (c *Gateway) Send(ctx context.Context, op int, d any) error {
	c.mu.Lock()
	r := c.relay
	c.mu.Unlock()
	if r == nil {
		return ErrNotConnected
	}
	return r.send(ctx, op, d)
}

// session makes the discordgo session. It is opened again and again; the
// library keeps what it needs to resume.
func (c *Gateway) session(over chan<- struct{}) (*discordgo.Session, error) {
	token := "Bot " + c.Token
	if c.UserToken {
		token = c.Token
	}
	s, err := discordgo.New(token)
	if err != nil {
		return nil, fmt.Errorf("make a Discord session: %w", err)
	}
	s.Identify.Intents = discordgo.Intent(c.Intents)
	s.Identify.Compress = false // the relay reads what passes
	s.StateEnabled = false
	s.SyncEvents = true
	s.ShouldReconnectOnError = false // run does it, with a context
	s.LogLevel = -1                  // the relay logs what matters, without tokens
	s.Client = &http.Client{Transport: c.relay}
	s.Dialer = &gorilla.Dialer{NetDialContext: c.relay.dial, HandshakeTimeout: helloTimeout}
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { c.deliver(e) })
	s.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) {
		select {
		case over <- struct{}{}:
		default:
		}
	})
	return s, nil
}

// run connects again and again until ctx ends or the gateway refuses.
func (c *Gateway) run(ctx context.Context, ready func()) {
	over := make(chan struct{}, 1)
	s, err := c.session(over)
	if err != nil {
		c.err = err
		return
	}
	stopRelay := context.AfterFunc(ctx, c.relay.shutDown)
	defer func() {
		stopRelay()
		c.relay.close()
		// The relay has said goodbye and its sockets are closed. The library would
		// only sleep a second for an answer to its own.
		go func() { _ = s.Close() }()
	}()
	for failures := 0; ctx.Err() == nil; failures++ {
		if c.connect(ctx, s, over, ready) {
			failures = 0
		}
		if ctx.Err() != nil {
			return
		}
		last := c.relay.lastError()
		if refused, ok := errors.AsType[*GatewayRefusedError](last); ok {
			c.err = last
			c.logger().Error("gateway refused the connection", "code", refused.Code, "reason", refused.Reason)
			return
		}
		c.mu.Lock()
		c.last = last
		c.mu.Unlock()
		wait := c.wait(failures)
		c.logger().Warn("gateway connection ended", "error", last, "wait", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// connect lives through one socket and reports whether the gateway had said
// READY or RESUMED on it.
func (c *Gateway) connect(ctx context.Context, s *discordgo.Session, over <-chan struct{}, ready func()) bool {
	select {
	case <-over: // of the socket before
	default:
	}
	if err := s.Open(); err != nil {
		c.relay.recordError(fmt.Errorf("open the gateway: %w", err))
		return false
	}
	select {
	case <-c.relay.readyChan():
		c.mu.Lock()
		again := c.last != nil
		c.last = nil
		c.mu.Unlock()
		if again {
			c.logger().Info("the gateway is connected again")
		}
		ready()
	case <-over:
		return false
	case <-ctx.Done():
		return false
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
	return true
}

// deliver hands a dispatch on. A handler that panics loses that dispatch alone.
func (c *Gateway) deliver(e *discordgo.Event) {
	defer func() {
		if r := recover(); r != nil {
			c.logger().Error("handler of a dispatch panicked", "type", e.Type, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	kind, ok := strings.CutPrefix(e.Type, dispatchPrefix)
	if kind == "RESUMED" || ok && kind == "READY" {
		defer c.relay.markReady()
	}
	if ok || kind == "RESUMED" {
		c.OnDispatch(kind, e.RawData)
	}
}

// wait returns the pause before the next try: a short one first, then doubling.
func (c *Gateway) wait(failures int) time.Duration {
	unit := cmp.Or(c.MinWait, time.Second)
	const longest = 60
	d := min(unit<<min(failures, 6), longest*unit)
	return d*3/4 + rand.N(d/4+1)
}

func (c *Gateway) logger() *slog.Logger { return cmp.Or(c.Logger, slog.New(slog.DiscardHandler)) }
