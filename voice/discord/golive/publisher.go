package golive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"clank/videosource"
	"clank/voice"
	"clank/voice/discord/conn"
	"clank/voice/discord/dave"
)

// Operations of the main gateway.
const (
	opCreate = 18
	opDelete = 19
	opPause  = 22
)

const (
	defaultAnswerTimeout = 8 * time.Second
	closeTimeout         = 3 * time.Second // for saying goodbye to each of the parties
	// of the time for an answer: how long to wait for the news that the account was moved, after the stream's end
	moveShare = 8
)

// VoicePresence is the account's place in a voice channel, without which Discord accepts no stream. A [discord.Line] is
// one.
type VoicePresence interface {
	SessionID() string           // of the account's voice state
	Events() <-chan voice.Event  // read until the place in the channel is lost
	Err() error                  // why, after that
	Close(context.Context) error // gives it back
}

// StreamConn is the second voice connection. A [*conn.Conn] that is open is one.
type StreamConn interface {
	ShowVideo(f conn.Format)
	SendVideo(vp8 []byte, taken time.Time) error
	Done() <-chan struct{}
	Err() error
	Close(ctx context.Context) error
}

// Publisher shows streams as one account, one at a time. Set the fields before the first dispatch. Its methods are safe
// for concurrent use.
type Publisher struct {
	// Send sends an operation over the account's main gateway.
	Send func(ctx context.Context, op int, d any) error

	// JoinVoice joins a voice channel as the account.
	JoinVoice func(ctx context.Context, guild, channel string) (VoicePresence, error)

	Key           *dave.SigningKey // the one of the account's other connections
	Logger        *slog.Logger     // nil is silent
	HTTP          *http.Client     // opens the sockets of the stream's gateway; nil is the default client
	Format        conn.Format      // the rates that are announced; the size is that of the pictures
	AnswerTimeout time.Duration    // for each answer of Discord; 8 s when zero

	// Transports are tried one after the other until one gets through; nil is UDP, then WebRTC.
	Transports []TransportOption

	// RequireEncryption reports whether streams that begin now must be end-to-end encrypted. Nil means no.
	RequireEncryption func() bool

	// Connect opens a connection in one of the ways; nil is a [conn.Conn]. handle is called as [conn.Conn.Handle] is.
	Connect func(ctx context.Context, t conn.Target, w TransportOption, handle func(conn.Event)) (StreamConn, error)

	// Preview shows a VP8 frame to people who do not watch the stream with a key. It returns soon when ctx ends. Nil: they
	// see nothing.
	Preview func(ctx context.Context, key string, frame []byte) error

	mu      sync.Mutex
	selfID  string
	closed  bool
	current *Stream // nil while nothing is shown
}

// Request is what to show, and where.
type Request struct {
	Guild, Channel string
	Source         *videosource.Source
	Lost           func(error) // called once if the stream ends by itself after it became visible; may be nil
}

// Start begins a stream and returns when video can be sent and there are keys for it. Its error is the reason, for
// people; a [*RefusedError] is Discord's decision. The caller stops the stream.
func (p *Publisher) Start(ctx context.Context, r Request) (*Stream, error) {
	p.mu.Lock()
	self := p.selfID
	switch {
	case p.closed:
		p.mu.Unlock()
		return nil, ErrClosed
	case p.current != nil:
		p.mu.Unlock()
		return nil, ErrBusy
	case self == "":
		p.mu.Unlock()
		return nil, errors.New("the account for Go Live is not connected to Discord; see the log")
	}
	s := newStream(p, r, self)
	p.current = s
	p.mu.Unlock()
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.cancel = cancel
	go s.run(run)
	select {
	case <-s.up:
		return s, nil
	case <-s.done:
		return nil, s.err
	case <-ctx.Done():
		err := context.Cause(ctx)
		if why := s.State().Reason; why != "" {
			err = fmt.Errorf("%w: %s", err, why)
		}
		cancel(err)
		<-s.done // this is bounded
		return nil, err
	}
}

func (p *Publisher) release(s *Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == s {
		p.current = nil
	}
}

// Current returns the stream that is running or starting; nil if there is none.
func (p *Publisher) Current() *Stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// Close ends the stream that is shown, and waits for it, at most until ctx ends. None begins after that.
func (p *Publisher) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	s := p.current
	p.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.end(ctx, ErrClosed)
}

// Dispatch handles dispatches of the account's main gateway. It ignores those that are not about streams. It does not
// block.
func (p *Publisher) Dispatch(kind string, data json.RawMessage) {
	if kind == "READY" {
		var d struct {
			User struct {
				ID string `json:"id"`
			} `json:"user"`
		}
		if json.Unmarshal(data, &d) == nil && d.User.ID != "" {
			p.mu.Lock()
			p.selfID = d.User.ID
			p.mu.Unlock()
		}
	}
	s := p.Current()
	if s == nil {
		return
	}
	switch kind {
	case "READY", "RESUMED":
		s.post(func(_ context.Context, l *streamLoop) error { return l.handleReconnect(kind == "READY") })
	case "STREAM_CREATE", "STREAM_UPDATE", "STREAM_SERVER_UPDATE", "STREAM_DELETE":
		var d streamDispatch
		if err := json.Unmarshal(data, &d); err != nil {
			p.logger().Warn("a message about a stream could not be read", "kind", kind, "error", err)
			return
		}
		if d.Key != s.key {
			return // of another user
		}
		s.post(func(ctx context.Context, l *streamLoop) error { return l.handleDispatch(ctx, kind, d) })
	}
}

// HandleDisconnect ends the stream because the account's main gateway has ended permanently.
func (p *Publisher) HandleDisconnect(err error) {
	if s := p.Current(); s != nil {
		s.post(func(_ context.Context, l *streamLoop) error {
			l.created = false
			return fmt.Errorf("the account for Go Live has lost its connection to Discord: %w", err)
		})
	}
}

func (p *Publisher) answerTimeout() time.Duration {
	return cmp.Or(p.AnswerTimeout, defaultAnswerTimeout)
}

func (p *Publisher) logger() *slog.Logger { return cmp.Or(p.Logger, slog.New(slog.DiscardHandler)) }

// TransportOption is how packets get to the server of a stream.
type TransportOption struct {
	Name      string // for people
	Transport conn.NewTransport
}

// connectTimeout is the limit for each transport except the last one. Discovering our address over UDP takes 3.5 s to
// fail.
const connectTimeout = 4 * time.Second

func (p *Publisher) transportOptions() []TransportOption {
	if p.Transports != nil {
		return p.Transports
	}
	return []TransportOption{{Name: "UDP", Transport: conn.NewUDP}, {Name: "WebRTC", Transport: NewWebRTCTransport}}
}

// connect opens a connection with the first transport that works, starting with number from. A refusal by the gateway
// itself ends the attempts. The result's fallbackErr is why earlier transports failed.
func (p *Publisher) connect(ctx context.Context, t conn.Target, from int,
	handle func(transport int, e conn.Event),
) connectResult {
	open := p.Connect
	if open == nil {
		open = p.openConn
	}
	var fallbackErr error
	for options := p.transportOptions(); ; from++ {
		from, option := from, options[from]
		limited, cancel := ctx, context.CancelFunc(func() {})
		if last := from == len(options)-1; !last {
			limited, cancel = context.WithTimeoutCause(ctx, connectTimeout,
				fmt.Errorf("it was not there within %s", connectTimeout))
		}
		opened, err := open(limited, t, option, func(e conn.Event) { handle(from, e) })
		cancel()
		if err == nil {
			return connectResult{conn: opened, transport: from, fallbackErr: fallbackErr}
		}
		_, refused := errors.AsType[*conn.CloseError](err)
		if refused || ctx.Err() != nil || from == len(options)-1 {
			return connectResult{err: errors.Join(fallbackErr, err)}
		}
		p.logger().Warn("the connection of a stream failed; trying another transport", "transport", option.Name,
			"next", options[from+1].Name, "error", err)
		fallbackErr = fmt.Errorf("%s does not get through: %w", option.Name, err)
	}
}

func (p *Publisher) openConn(ctx context.Context, t conn.Target, w TransportOption,
	handle func(conn.Event),
) (StreamConn, error) {
	c := &conn.Conn{
		Target: t, SpeakingFlags: conn.SpeakingSoundshare, Video: true, Key: p.Key, Handle: handle, Transport: w.Transport,
		HTTPClient: p.HTTP, Logger: p.Logger,
		RequireEncryption: p.RequireEncryption != nil && p.RequireEncryption(),
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	return c, nil
}
