package discordtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
)

// A Server is an emulated Discord. It is safe for concurrent use. Values it returns are copies.
type Server struct {
	// URL is where it listens, "http://127.0.0.1:port", without a final slash.
	URL string
	// Voice is the server of all calls, nil unless enabled in Config.
	Voice *voicetest.Server

	hub  *hub
	http *http.Server
	done chan struct{}
	stop context.CancelCauseFunc
}

// Start listens on a free loopback port. The caller must Close.
func Start(cfg Config) (*Server, error) {
	var voice *voicetest.Server
	if cfg.Voice != nil {
		var err error
		calls := *cfg.Voice
		calls.TLS = true
		if voice, err = voicetest.Start(calls); err != nil {
			return nil, err
		}
	}
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		err = fmt.Errorf("listen for discord clients: %w", err)
		if voice != nil {
			err = errors.Join(err, voice.Close())
		}
		return nil, err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Server{
		URL:   "http://" + ln.Addr().String(),
		Voice: voice,
		hub:   newHub(cfg),
		done:  make(chan struct{}),
		stop:  stop,
	}
	s.hub.URL, s.hub.Voice = s.URL, s.Voice
	s.http = &http.Server{
		Handler:           s.hub.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       voicetest.WithConn,
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // always returns ErrServerClosed, after Close
	}()
	return s, nil
}

// StartTest starts a server that is closed at the end of the test.
func StartTest(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s, err := Start(cfg)
	check.Must(tb, err)
	tb.Cleanup(func() {
		check.Must(tb, s.Close())
	})
	return s
}

// GatewayURL returns the address of the main gateway for clients.
func (s *Server) GatewayURL(context.Context) (string, error) {
	return s.hub.GatewayURL() + "/?v=9&encoding=json", nil
}

// Close closes all connections and waits for all goroutines of the server. Further calls do nothing.
func (s *Server) Close() error {
	s.hub.Mu.Lock()
	if s.hub.Closed {
		s.hub.Mu.Unlock()
		return nil
	}
	s.hub.Closed = true
	for c := range s.hub.Conns {
		c.Cut()
	}
	s.hub.Notify()
	s.hub.Mu.Unlock()

	s.stop(ErrServerClosed)
	err := s.http.Close()
	<-s.done
	s.hub.Tasks.Wait()
	if s.Voice != nil {
		err = errors.Join(err, s.Voice.Close())
	}
	if err != nil {
		return fmt.Errorf("close the emulated discord: %w", err)
	}
	return nil
}

// Advance moves Discord's clock forward, so that the limits of three seconds and fifteen minutes can be tested
// without waiting.
func (s *Server) Advance(d time.Duration) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Offset += d
	s.hub.Notify()
}

// Config configures a Server. The zero value is ready to use.
type Config struct {
	// HeartbeatInterval is announced to gateway clients; 0 means 41.25 s.
	HeartbeatInterval time.Duration
	// IdentifyInterval is the minimum time between two identifies of a bot in one bucket; an earlier one is invalid.
	// 0 means none.
	IdentifyInterval time.Duration
	// Voice starts a voice server, which admits people in voice channels.
	Voice *voicetest.Config
}

// hub is the state of an emulated Discord, and its main gateway. Its methods, except AcceptGateway and those that
// record, must be called with Mu held, which guards everything below it.
type hub struct {
	URL    string            // for clients
	Voice  *voicetest.Server // nil without
	Config Config
	Tasks  sync.WaitGroup // requests, including gateway connections

	Mu      sync.Mutex
	Changed chan struct{} // closed and replaced at each change
	Offset  time.Duration // of Discord's clock
	Closed  bool
	lastID  int64

	World
	Gateway
	recordedTraffic
	faultSettings
	Streams
	Limits map[string]time.Time // end of the rate limits
}

// newHub returns an empty server with defaults for the configuration.
func newHub(cfg Config) *hub {
	if cfg.HeartbeatInterval == 0 {
		cfg.HeartbeatInterval = 41250 * time.Millisecond
	}
	return &hub{
		Config:  cfg,
		Changed: make(chan struct{}),
		World:   NewWorld(),
		Gateway: newGateway(),
		Streams: Streams{Shown: map[string]*StreamState{}},
		Limits:  map[string]time.Time{},
	}
}

// ErrServerClosed is the reason for the end of everything when the server is closed.
var ErrServerClosed = errors.New("the emulated discord was closed")

// silence is how long a gateway client may go without a heartbeat before it is closed with 4009: one and a half
// intervals, but at least three seconds, to tolerate busy machines.
func (s *hub) silence() time.Duration { return max(s.Config.HeartbeatInterval*3/2, 3*time.Second) }

// Now returns the time as Discord sees it.
func (s *hub) Now() time.Time { return time.Now().Add(s.Offset) }

// discordEpoch is the first millisecond of 2015, the epoch of ids.
const discordEpoch = 1420070400000

// NewID returns a snowflake, larger than all earlier ones, that contains the time.
func (s *hub) NewID() string {
	id := (s.Now().UnixMilli() - discordEpoch) << 22
	s.lastID = max(id, s.lastID+1)
	return strconv.FormatInt(s.lastID, 10)
}

// Notify wakes all waits for a change. The caller holds the lock.
func (s *hub) Notify() {
	close(s.Changed)
	s.Changed = make(chan struct{})
}
