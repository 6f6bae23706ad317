package golive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"clank/voice/discord"
	"clank/voice/discord/dave"
	"clank/voice/discord/media"
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
	Format     media.Format // see [Publisher.Format]

	// Preview is [Publisher.Preview].
	Preview func(ctx context.Context, key string, frame []byte) error

	gate   Gateway
	joiner *discord.Joiner
	pub    *Publisher
	closed chan struct{}
	kept   chan struct{} // closed when nobody looks after the gateway any more
}

// Open connects, and logs the [Warning].
func (a *Account) Open(ctx context.Context) error {
	log := a.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log.Warn("go live is switched on", "warning", Warning)
	key, err := dave.NewSigningKey()
	if err != nil {
		return fmt.Errorf("make a key for Go Live: %w", err)
	}
	send := func(ctx context.Context, op int, d any) error { return a.gate.Send(ctx, op, d) }
	a.joiner = &discord.Joiner{Send: send, Key: key, HTTPClient: a.HTTPClient, Logger: log, Deaf: true, Mute: true}
	a.pub = &Publisher{Send: send, Sit: a.sit, Key: key, Logger: log, HTTP: a.HTTPClient, Format: a.Format, Preview: a.Preview}
	a.gate = a.Dial(func(kind string, data json.RawMessage) {
		a.joiner.Dispatch(kind, data)
		a.pub.Dispatch(kind, data)
	})
	if err := a.gate.Open(ctx); err != nil {
		return fmt.Errorf("connect the account for Go Live to Discord: %w", err)
	}
	closed, kept := make(chan struct{}), make(chan struct{})
	a.closed, a.kept = closed, kept
	go func() {
		defer close(kept)
		select {
		case <-a.gate.Done():
			log.Error("the account for go live has lost its connection to Discord", "error", a.gate.Err())
			a.pub.Broken(a.gate.Err())
		case <-closed:
		}
	}()
	return nil
}

// sit takes a place for the account in a channel.
func (a *Account) sit(ctx context.Context, guild, channel string) (Seat, error) {
	line, err := a.joiner.Join(ctx, guild, channel)
	if err != nil {
		return nil, err
	}
	return line, nil
}

// UserID is the account's own, after Open.
func (a *Account) UserID() string {
	a.pub.mu.Lock()
	defer a.pub.mu.Unlock()
	return a.pub.self
}

// Publisher shows streams as the account, once it is open.
func (a *Account) Publisher() *Publisher { return a.pub }

// Close ends what is shown and leaves all calls. It waits for all of it, at most until ctx ends.
func (a *Account) Close(ctx context.Context) error {
	if a.closed == nil {
		return nil
	}
	close(a.closed)
	a.closed = nil
	err := errors.Join(a.pub.Close(ctx), a.joiner.Close(ctx), a.gate.Close(ctx))
	<-a.kept
	if err != nil {
		return fmt.Errorf("end the account for Go Live: %w", err)
	}
	return nil
}
