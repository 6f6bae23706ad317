package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"clank/cancel"
)

// Shards are the connections of one bot to the gateway, as many as Discord recommends. Each hears of a part of the
// servers and is kept alive by itself. Set the fields, then Open, then Close.
type Shards struct {
	Token             string // bare
	Intents, Optional int    // see [Gateway]

	// Ask asks Discord where the gateway is, before the first connection and before each new one. An error for which
	// trying again cannot help has [GatewayRefusedError] in its chain.
	Ask func(ctx context.Context) (GatewayInfo, error)

	// OnDispatch is called with every dispatch of every connection, from one goroutine at a time, and in order for each
	// connection. It must not block and must not change data.
	OnDispatch func(shard int, kind string, data json.RawMessage)

	// Former are sessions that another process has left. OnMissed is called like OnDispatch, with the messages and
	// interactions that it missed. Some of those that come while the new sessions begin are passed to both.
	Former   []SavedSession
	OnMissed func(kind string, data json.RawMessage)

	HTTPClient *http.Client
	Logger     *slog.Logger
	// see [Gateway]; five times as long is between two sessions that are begun one after the other
	MinWait time.Duration

	list []*Gateway
	done chan struct{}

	dispatching sync.Mutex

	missed    []*missedEvents
	missing   sync.WaitGroup // until they have ended
	endMissed context.CancelFunc
	listening <-chan struct{} // closed by endMissed
	allReady  chan struct{}   // closed when every new session has begun

	turns []chan time.Time // contain when the next session may begin, by the shard's number modulo atOnce
}

// Open connects the first shard and returns when it has received READY; the others follow as fast as Discord allows. It
// retries until ctx ends, unless the gateway refuses permanently.
func (s *Shards) Open(ctx context.Context) error {
	s.done, s.allReady = make(chan struct{}), make(chan struct{})
	s.openMissed(ctx)
	info, err := s.ask(ctx)
	if err != nil {
		close(s.done)
		return err
	}
	for range info.AtOnce {
		turn := make(chan time.Time, 1)
		turn <- time.Time{}
		s.turns = append(s.turns, turn)
	}
	for n := range info.Shards {
		s.list = append(s.list, s.gateway(n, info))
	}
	err = s.list[0].Open(ctx)
	for _, g := range s.list[1:] {
		if err == nil {
			err = g.start(ctx)
		}
	}
	s.missing.Go(s.awaitReady)
	go s.watch() //nolint:gosec // it lives until Close, not until ctx ends
	if err != nil {
		return errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	return nil
}

// ask asks for the number of shards until ctx ends.
func (s *Shards) ask(ctx context.Context) (GatewayInfo, error) {
	for wait := cmp.Or(s.MinWait, time.Second); ; wait = min(2*wait, time.Minute) {
		info, err := s.Ask(ctx)
		if err == nil {
			return info, nil
		}
		if _, refused := errors.AsType[*GatewayRefusedError](err); refused {
			return info, fmt.Errorf("ask where the gateway is: %w", err)
		}
		if cancel.Sleep(ctx, wait) != nil {
			return info, fmt.Errorf("no connection to Discord in time; the last try failed: ask where the gateway is: %w", err)
		}
	}
}

func (s *Shards) gateway(n int, info GatewayInfo) *Gateway {
	first := info.URL // known already
	return &Gateway{
		Token: s.Token, Intents: s.Intents, Optional: s.Optional, Shard: n, Shards: info.Shards,
		HTTPClient: s.HTTPClient, Logger: s.Logger, MinWait: s.MinWait,
		BeforeIdentify: func(ctx context.Context) func() { return s.takeTurn(ctx, n) },
		URL: func(ctx context.Context) (url string, err error) {
			if url, first = first, ""; url != "" {
				return url, nil
			}
			info, err := s.Ask(ctx)
			return info.URL, err
		},
		OnDispatch: func(kind string, data json.RawMessage) {
			s.dispatching.Lock()
			defer s.dispatching.Unlock()
			s.OnDispatch(n, kind, data)
		},
	}
}

// takeTurn waits until a shard may begin a session, and returns a function to call when it has: of the shards with the
// same remainder, one at a time may, and the next five seconds later.
func (s *Shards) takeTurn(ctx context.Context, shard int) (begun func()) {
	turn := s.turns[shard%len(s.turns)]
	select {
	case next := <-turn:
		_ = cancel.Sleep(ctx, time.Until(next))
		return func() { turn <- time.Now().Add(5 * cmp.Or(s.MinWait, time.Second)) }
	case <-ctx.Done():
		return func() {}
	}
}

// watch closes done when a shard has ended permanently, and then ends the others.
func (s *Shards) watch() {
	ended := make(chan struct{}, len(s.list))
	for _, g := range s.list {
		if g.Done() == nil { // never begun, as the first was refused
			continue
		}
		go func() {
			<-g.Done()
			ended <- struct{}{}
		}()
	}
	<-ended
	_ = s.Close(context.Background())
	close(s.done)
}

// Done returns a channel that is closed when the connections have ended permanently, after Close or a refusal. It must
// not be called before Open.
func (s *Shards) Done() <-chan struct{} { return s.done }

// Err returns why the connections ended permanently: nil after Close. It must not be called before [Shards.Done] is
// closed.
func (s *Shards) Err() error {
	for _, g := range s.list {
		if g.Err() != nil {
			return g.Err()
		}
	}
	return nil
}

// Close disconnects and waits, at most until ctx ends. It may be called more than once.
func (s *Shards) Close(ctx context.Context) error {
	errs := make([]error, len(s.list))
	var wg sync.WaitGroup
	s.endMissed()
	for i, g := range s.list {
		wg.Go(func() { errs[i] = g.Close(ctx) })
	}
	wg.Go(s.missing.Wait) // each has its own deadlines
	wg.Wait()
	return errors.Join(errs...)
}

// States returns how the connections stand, by number.
func (s *Shards) States() []GatewayState {
	states := make([]GatewayState, len(s.list))
	for i, g := range s.list {
		states[i] = g.State()
	}
	return states
}

// Of returns the number of the shard that hears of a server; 0 hears of direct messages.
func (s *Shards) Of(guild string) int {
	id, err := strconv.ParseUint(guild, 10, 64)
	if err != nil || len(s.list) == 0 {
		return 0
	}
	return int(id >> 22 % uint64(len(s.list))) //nolint:gosec // it is less than the number of shards
}

// Send sends operation op with data d over the shard of the server that d names as its guild_id.
func (s *Shards) Send(ctx context.Context, op int, d any) error {
	if len(s.list) == 0 {
		return ErrNotConnected
	}
	var to struct {
		Guild string `json:"guild_id"`
	}
	data, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(data, &to)
	}
	if err != nil {
		return fmt.Errorf("encode operation %d: %w", op, err)
	}
	return s.list[s.Of(to.Guild)].Send(ctx, op, json.RawMessage(data))
}
