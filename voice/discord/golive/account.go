package golive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"clank/voice/discord"
	"clank/voice/discord/conn"
	"clank/voice/discord/dave"
)

// Gateway is a connection to Discord's main gateway.
type Gateway interface {
	Open(ctx context.Context) error
	Send(ctx context.Context, op int, d any) error
	Done() <-chan struct{} // closed when it has ended for good
	Err() error            // why, after that
	Close(ctx context.Context) error
}

// Account is the operator's account that goes live: a main gateway of its own, on which it joins calls and shows streams. It is
// never the bot's. Set the fields, then Open, then Close.
type Account struct {
	// Dial makes a connection to the main gateway as the account, which is not open yet. It hands every dispatch on, in order.
	Dial func(dispatch func(kind string, data json.RawMessage)) Gateway

	HTTPClient *http.Client // opens the sockets of the voice gateways; nil is the default client
	Logger     *slog.Logger // nil is silent
	Format     conn.Format  // see [Publisher.Format]

	// Preview is [Publisher.Preview].
	Preview func(ctx context.Context, key string, frame []byte) error

	gateway   Gateway
	joiner    *discord.Joiner
	publisher *Publisher
	closed    chan struct{}
	watchDone chan struct{} // closed when nobody looks after the gateway any more
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
	a.publisher = &Publisher{Send: send, JoinVoice: a.joinVoice, Key: key, Logger: log, HTTP: a.HTTPClient, Format: a.Format, Preview: a.Preview}
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

// Close ends what is shown and leaves all calls. It waits for all of it, at most until ctx ends.
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
