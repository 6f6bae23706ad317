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

	"clank/cancel"

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

// GatewayRefusedError is the permanent end of the connection: the gateway closed it with a code after which retrying
// cannot help.
type GatewayRefusedError struct {
	Code   int
	Reason string // as the gateway gave it
}

func (e *GatewayRefusedError) Error() string {
	return fmt.Sprintf("the gateway refused the connection with code %d (%s)", e.Code, e.Reason)
}

// Gateway is one connection to the gateway, which reconnects as often as necessary. Set the fields, then Open, then
// Close.
type Gateway struct {
	Token   string // of the bot, bare
	Intents int

	// Optional are the Intents without which the connection continues if Discord does not allow them.
	Optional int

	// Shard is the number of this connection among Shards of them, each of which hears of a part of the servers. Zero
	// Shards is one for all.
	Shard, Shards int

	// BeforeIdentify, if set, is called before each connection that begins a new session. It may wait until ctx ends. The
	// function that it returns is called when the session has begun or failed.
	BeforeIdentify func(ctx context.Context) (begun func())

	// UserToken means that the token belongs to a user account and is sent without the prefix for bots.
	UserToken bool

	// URL asks Discord where the gateway is: a whole WebSocket URL with its
	// query. An error for which trying again cannot help has [GatewayRefusedError] in
	// its chain.
	URL func(ctx context.Context) (string, error)

	// OnDispatch is called with every dispatch, in order, from one goroutine at a time; it must not block and must not
	// change data.
	OnDispatch func(kind string, data json.RawMessage)

	// HTTPClient opens the sockets; nil is the default client.
	HTTPClient *http.Client
	Logger     *slog.Logger

	// MinWait is the pause before a first new try, one second when zero. It
	// doubles with each failure up to sixty times MinWait.
	MinWait time.Duration

	relay   *gatewayRelay
	mu      sync.Mutex
	cancel  context.CancelFunc
	ready   chan struct{} // closed with the first READY
	done    chan struct{}
	err     error // why it ended permanently; valid once done is closed
	last    error // why the last try failed
	state   GatewayState
	handing sync.Mutex   // held while a dispatch is handed on; guards what follows
	leaving bool         // dispatches are no longer passed on
	heard   SavedSession // what another process would go on with
}

// GatewayState describes a connection.
type GatewayState struct {
	Shard     int
	Connected bool
	Since     time.Time // when Connected became so; zero if it never was connected
	Err       error     // while it is not connected: why
	Limited   bool      // Discord does not allow the optional intents
}

// State returns the current state of the connection.
func (c *Gateway) State() GatewayState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Shard, s.Err = c.Shard, c.last
	return s
}

// setConnected sets whether the connection is established.
func (c *Gateway) setConnected(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.Connected != yes {
		c.state.Connected, c.state.Since = yes, time.Now()
	}
}

// Open connects and returns when the gateway has sent READY. It retries until ctx ends, unless the gateway refuses
// permanently; the error is then a [*GatewayRefusedError], and otherwise contains the last failure.
func (c *Gateway) Open(ctx context.Context) error {
	if err := c.start(ctx); err != nil {
		return err
	}
	select {
	case <-c.ready:
		return nil
	case <-c.done:
		return c.err
	case <-ctx.Done():
		c.cancel()
		<-c.done
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.last != nil {
			return fmt.Errorf("no connection to Discord in time; the last try failed: %w", c.last)
		}
		return fmt.Errorf("no connection to Discord in time: %w", context.Cause(ctx))
	}
}

// start begins to connect. It retries until Close, unless the gateway refuses permanently.
func (c *Gateway) start(ctx context.Context) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.mu.Lock()
	if c.cancel != nil {
		c.mu.Unlock()
		cancel()
		return errors.New("open the gateway: it is open already")
	}
	c.cancel, c.ready, c.done = cancel, make(chan struct{}), make(chan struct{})
	c.relay = newRelay(c.URL, c.HTTPClient, c.logger())
	c.mu.Unlock()
	go func() {
		defer close(c.done)
		c.run(run, sync.OnceFunc(func() { close(c.ready) }))
	}()
	return nil
}

// Done returns a channel that is closed when the connection has ended permanently, after Close or a refusal. It must
// not be called before Open.
func (c *Gateway) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended permanently: nil after Close. It must not be called before [Gateway.Done] is
// closed.
func (c *Gateway) Err() error { return c.err }

// Close disconnects and waits, at most until ctx ends. It may be called more than once.
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

// leave stops passing dispatches on, and lets [Gateway.Close] leave the session to another process.
func (c *Gateway) leave() {
	c.handing.Lock()
	c.leaving = true
	c.handing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.relay != nil {
		c.relay.leaveSession()
	}
}

// left returns the session for another process; its ID is empty if there is none.
func (c *Gateway) left() SavedSession {
	c.handing.Lock()
	defer c.handing.Unlock()
	return c.heard
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

// librarySession is a session of discordgo.
type librarySession struct {
	*discordgo.Session
	over chan struct{} // holds at most one: that its socket has ended
}

// session returns the discordgo session. It is opened again as long as Discord knows it; the library keeps what it
// needs to resume.
func (c *Gateway) session(intents int) (*librarySession, error) {
	over := make(chan struct{}, 1)
	token := "Bot " + c.Token
	if c.UserToken {
		token = c.Token
	}
	s, err := discordgo.New(token)
	if err != nil {
		return nil, fmt.Errorf("make a Discord session: %w", err)
	}
	s.Identify.Intents = discordgo.Intent(intents)
	if c.Shards > 1 {
		s.Identify.Shard = &[2]int{c.Shard, c.Shards}
	}
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
	return &librarySession{s, over}, nil
}

// run connects again and again until ctx ends or the gateway refuses.
func (c *Gateway) run(ctx context.Context, ready func()) {
	stopRelay := context.AfterFunc(ctx, c.relay.shutDown)
	var s *librarySession // nil if Discord cannot know one
	forget := func() {
		if s != nil { // the relay has closed its sockets; the library would only sleep a second for an answer to its goodbye
			go func(s *librarySession) { _ = s.Close() }(s)
		}
		s = nil
	}
	defer func() {
		stopRelay()
		c.relay.close()
		forget()
	}()
	intents, resumable := c.Intents, false
	for failures := 0; ctx.Err() == nil; failures++ {
		if s == nil {
			if s, c.err = c.session(intents); c.err != nil {
				return
			}
			resumable = false
		}
		begun := func() {}
		if !resumable && c.BeforeIdentify != nil {
			begun = sync.OnceFunc(c.BeforeIdentify(ctx))
		}
		if c.connect(ctx, s, func() { begun(); ready() }) {
			failures, resumable = 0, true
		}
		begun()
		if ctx.Err() != nil {
			return
		}
		last := c.relay.lastError()
		refused, _ := errors.AsType[*GatewayRefusedError](last)
		limited := refused != nil && refused.Code == CloseDisallowedIntents && intents&c.Optional != 0
		c.mu.Lock()
		if limited {
			c.state.Limited = true
		} else {
			c.last = last
		}
		c.mu.Unlock()
		switch {
		case limited:
			c.logger().Warn("discord does not allow some of what the bot would hear; going on without", "shard", c.Shard)
			intents &^= c.Optional
			forget()
			continue
		case refused != nil:
			c.err = last
			c.logger().Error("gateway refused the connection", "shard", c.Shard, "code", refused.Code, "reason", refused.Reason)
			return
		case errors.Is(last, errSessionLost):
			forget()
			c.handing.Lock()
			c.heard = SavedSession{}
			c.handing.Unlock()
		}
		wait := c.wait(failures)
		c.logger().Warn("gateway connection ended", "shard", c.Shard, "error", last, "wait", wait)
		_ = cancel.Sleep(ctx, wait)
	}
}

// connect lives through one socket and reports whether the gateway had said
// READY or RESUMED on it.
func (c *Gateway) connect(ctx context.Context, s *librarySession, ready func()) bool {
	select {
	case <-s.over: // of the socket before
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
			c.logger().Info("the gateway is connected again", "shard", c.Shard)
		}
		defer c.setConnected(false)
		ready()
	case <-s.over:
		return false
	case <-ctx.Done():
		return false
	}
	select {
	case <-s.over:
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
		c.setConnected(true)
		defer c.relay.markReady()
	}
	if !ok && kind != "RESUMED" {
		return
	}
	c.handing.Lock()
	defer c.handing.Unlock()
	if c.leaving {
		return
	}
	if kind == "READY" {
		var r struct {
			ID  string `json:"session_id"`
			URL string `json:"resume_gateway_url"`
		}
		_ = json.Unmarshal(e.RawData, &r) // without them, the session cannot be left
		c.heard = SavedSession{ID: r.ID, URL: r.URL}
	}
	c.heard.Seq = e.Sequence
	c.OnDispatch(kind, e.RawData)
}

// wait returns the pause before the next try: a short one first, then doubling.
func (c *Gateway) wait(failures int) time.Duration {
	unit := cmp.Or(c.MinWait, time.Second)
	const longest = 60
	d := min(unit<<min(failures, 6), longest*unit)
	return d*3/4 + rand.N(d/4+1)
}

func (c *Gateway) logger() *slog.Logger { return cmp.Or(c.Logger, slog.New(slog.DiscardHandler)) }
