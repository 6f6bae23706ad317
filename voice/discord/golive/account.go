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

	"clank/voice/discord"
	"clank/voice/discord/conn"
	"clank/voice/discord/dave"
	"clank/voice/share"
)

// Gateway is a connection to Discord's main gateway.
type Gateway interface {
	Open(ctx context.Context) error
	Send(ctx context.Context, op int, d any) error
	Done() <-chan struct{} // closed when it has ended permanently
	Err() error            // why, after that
	Close(ctx context.Context) error
}

// Account is the operator's account that goes live: a main gateway of its own, on which it joins calls and shows
// streams. It is never the bot's. Set the fields, then Open, then Close.
type Account struct {
	// Dial creates the account's connection to the main gateway, not opened yet, which passes all dispatches on in order.
	Dial func(dispatch func(kind string, data json.RawMessage)) Gateway

	HTTPClient *http.Client // opens the sockets of the voice gateways; nil is the default client
	Logger     *slog.Logger // nil is silent
	Format     conn.Format  // see [Publisher.Format]

	// Preview is [Publisher.Preview].
	Preview func(ctx context.Context, key string, frame []byte) error

	RequireEncryption func() bool // see [Publisher]

	gateway   Gateway
	joiner    *discord.Joiner
	publisher *Publisher
	closed    chan struct{}
	watchDone chan struct{} // closed when the gateway is no longer watched
}

// Open connects, and logs the [Warning].
func (a *Account) Open(ctx context.Context) error {
	log := cmp.Or(a.Logger, slog.New(slog.DiscardHandler))
	log.Warn("go live is switched on", "warning", Warning)
	key, err := dave.NewSigningKey()
	if err != nil {
		return fmt.Errorf("make a key for Go Live: %w", err)
	}
	send := func(ctx context.Context, op int, d any) error { return a.gateway.Send(ctx, op, d) }
	a.joiner = &discord.Joiner{Send: send, Key: key, HTTPClient: a.HTTPClient, Logger: log, Deaf: true, Mute: true}
	a.publisher = &Publisher{
		Send: send, JoinVoice: a.joinVoice, Key: key, Logger: log, HTTP: a.HTTPClient,
		Format: a.Format, Preview: a.Preview, RequireEncryption: a.RequireEncryption,
	}
	a.gateway = a.Dial(func(kind string, data json.RawMessage) {
		a.joiner.Dispatch(kind, data)
		a.publisher.Dispatch(kind, data)
	})
	if err := a.gateway.Open(ctx); err != nil {
		return fmt.Errorf("connect the account for Go Live to Discord: %w", err)
	}
	closed, kept := make(chan struct{}), make(chan struct{})
	a.closed, a.watchDone = closed, kept
	go func() {
		defer close(kept)
		select {
		case <-a.gateway.Done():
			log.Error("the account for go live has lost its connection to Discord", "error", a.gateway.Err())
			a.publisher.HandleDisconnect(a.gateway.Err())
		case <-closed:
		}
	}()
	return nil
}

func (a *Account) joinVoice(ctx context.Context, guild, channel string) (VoicePresence, error) {
	line, err := a.joiner.Join(ctx, guild, channel)
	if err != nil {
		return nil, err
	}
	return line, nil
}

// UserID returns the account's own, after Open.
func (a *Account) UserID() string {
	a.publisher.mu.Lock()
	defer a.publisher.mu.Unlock()
	return a.publisher.selfID
}

// Publisher shows streams as the account, once it is open.
func (a *Account) Publisher() *Publisher { return a.publisher }

// Close ends the stream and leaves all calls. It waits for that, at most until ctx ends.
func (a *Account) Close(ctx context.Context) error {
	if a.closed == nil {
		return nil
	}
	close(a.closed)
	a.closed = nil
	err := errors.Join(a.publisher.Close(ctx), a.joiner.Close(ctx), a.gateway.Close(ctx))
	<-a.watchDone
	if err != nil {
		return fmt.Errorf("end the account for Go Live: %w", err)
	}
	return nil
}

// Target shows shares by Go Live, as a target of package share. Its methods are safe for concurrent use.
type Target struct {
	Publisher *Publisher

	mu      sync.Mutex
	streams map[string]*Stream // by [share.Presentation.ID]
}

// Name implements [share.Target].
func (s *Target) Name() string { return "Go Live" }

// Begin implements [share.Target].
func (s *Target) Begin(ctx context.Context, show share.Presentation) (share.ViewLocation, error) {
	if show.Call.Guild == "" || show.Call.Channel == "" {
		return share.ViewLocation{}, errors.New("it needs a voice channel of a server on Discord")
	}
	stream, err := s.Publisher.Start(ctx, Request{
		Guild: show.Call.Guild, Channel: show.Call.Channel, Source: show.Source,
		Lost: show.Lost,
	})
	if err != nil {
		return share.ViewLocation{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams == nil {
		s.streams = map[string]*Stream{}
	}
	s.streams[show.ID] = stream
	text := "Open the stream in the voice channel to watch."
	if st := stream.State(); st.FallbackReason != "" {
		text = fmt.Sprintf("Open the stream in the voice channel to watch. It goes over %s, as %v.", st.Transport,
			st.FallbackReason)
	}
	return share.ViewLocation{Text: text}, nil
}

// End implements [share.Target].
func (s *Target) End(ctx context.Context, show share.Presentation) error {
	s.mu.Lock()
	stream := s.streams[show.ID]
	delete(s.streams, show.ID)
	s.mu.Unlock()
	if stream == nil {
		return nil
	}
	return stream.Stop(ctx)
}

// RefusedError means that Discord does not, or no longer, show the stream.
type RefusedError struct {
	Reason string // Discord's word for it; empty if it gave none
	text   string
}

func (e *RefusedError) Error() string { return e.text }

// refusalTexts are Discord's reasons, for people.
var refusalTexts = map[string]string{
	"user_requested":            "somebody has ended it",
	"stream_ended":              "it has ended",
	"stream_full":               "too many watch it already",
	"unauthorized":              "the account may not go live there: it needs the permission Video, and bots never may",
	"safety_guild_rate_limited": "the server has begun too many streams; wait a while",
	"parse_failed":              "Discord could not read what was asked; a newer clank may be understood",
	"invalid_channel":           "nothing can be shown in this kind of channel",
}

// deletedError returns the error of a stream that Discord has ended.
func deletedError(reason string, unavailable bool) *RefusedError {
	word := refusalTexts[reason]
	switch {
	case word != "":
	case unavailable:
		word = "its server has failed"
	case reason != "":
		word = fmt.Sprintf("the reason is %q", reason)
	default:
		word = "it gave no reason"
	}
	return &RefusedError{Reason: reason, text: "Discord has ended the stream: " + word}
}

// noAnswerError returns the error of a stream that Discord said nothing, or not enough, about.
func noAnswerError(after time.Duration, agreed bool) *RefusedError {
	if agreed {
		return &RefusedError{text: fmt.Sprintf("Discord has agreed to the stream but named no server for it within %s; try "+
			"again in a moment", after)}
	}
	return &RefusedError{text: fmt.Sprintf("Discord did not answer within %s: it does not let every account go live, "+
		"and bots never", after)}
}

// movedError means that someone moved the account; usually the call follows.
type movedError struct{}

func (movedError) Error() string {
	return "somebody has moved the account for Go Live to another channel"
}

// Is makes it recognizable for [share.Manager].
func (movedError) Is(target error) bool { return target == share.ErrTargetMoved }

// Reasons that callers distinguish.
var (
	ErrBusy   = errors.New("the account for Go Live shows something in another call; end that first")
	ErrClosed = errors.New("Go Live is shutting down") //nolint:staticcheck // a name

	errGatewayClosed = &RefusedError{text: "Discord has closed the connection when it was asked: the account may " +
		"not go live"}
	errNewGatewaySession = errors.New("the account's connection to Discord broke, and the stream with it")
	errStopped           = errors.New("the stream was ended")
	errSourceEnded       = errors.New("the pictures have ended")
	errConnClosed        = errors.New("the stream's voice connection was closed")
	errPresenceLost      = errors.New("the account for Go Live is not in the call any more")
	errMoved             = movedError{}
	errBadGroup          = errors.New( //nolint:staticcheck // a name
		"Discord's number of the stream cannot be read, so it cannot be encrypted; a " +
			"newer clank may know it")
)
