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

// A Server is one emulated Discord. Its methods may be called from any
// goroutine. Values it returns are copies; nobody else changes them.
type Server struct {
	// URL is where it listens, "http://127.0.0.1:port", without a final slash.
	URL string
	// Voice is the server of all calls, nil unless Config asked for it.
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
		_ = s.http.Serve(ln) // always ends with ErrServerClosed, by Close
	}()
	return s, nil
}

// StartTest starts a server that is closed at the end of the test.
func StartTest(tb testing.TB, cfg Config) *Server {
	tb.Helper()
	s, err := Start(cfg)
	check.Must(tb, err)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// GatewayURL returns the address of the main gateway, as a client is given it.
func (s *Server) GatewayURL(context.Context) (string, error) {
	return s.hub.GatewayURL() + "/?v=9&encoding=json", nil
}

// Close cuts all connections and waits until every goroutine of the server has
// ended. Further calls do nothing.
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

// Advance moves Discord's clock forward, so that the rules of three seconds and
// fifteen minutes can be tried without waiting.
func (s *Server) Advance(d time.Duration) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Offset += d
	s.hub.Notify()
}

// Config is what a Server can be told before it starts. The zero value is good.
type Config struct {
	// HeartbeatInterval is announced to gateway clients; 0 means 41.25 s.
	HeartbeatInterval time.Duration
	// IdentifyInterval is how long a bot waits between two sessions that it begins in one bucket; otherwise the second is
	// invalid. 0 asks for nothing.
	IdentifyInterval time.Duration
	// Voice starts a voice server that lets in who is in a voice channel.
	Voice *voicetest.Config
}

// A Server is all that an emulated Discord knows, and its main gateway. Its methods, but for AcceptGateway and those that
// record, are called with Mu held, which guards everything below it.
type hub struct {
	URL    string            // as clients know it
	Voice  *voicetest.Server // nil without
	Config Config
	Tasks  sync.WaitGroup // requests, gateway connections included

	Mu      sync.Mutex
	Changed chan struct{} // closed and replaced at each change
	Offset  time.Duration // between Discord's clock and ours
	Closed  bool
	lastID  int64

	World
	Gateway
	recordedTraffic
	faultSettings
	Streams
	Limits map[string]time.Time // until when requests are refused
}

// newHub makes a server in which nothing exists. What the configuration leaves open it decides.
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

// ErrServerClosed is why everything ends when the server is closed.
var ErrServerClosed = errors.New("the emulated discord was closed")

// silence is how long a gateway client may go without a heartbeat before it is closed with 4009: one and a half intervals,
// but at least three seconds, so that a client on a busy machine is not taken for one that has gone.
func (s *hub) silence() time.Duration { return max(s.Config.HeartbeatInterval*3/2, 3*time.Second) }

// Now returns the time as Discord sees it.
func (s *hub) Now() time.Time { return time.Now().Add(s.Offset) }

// discordEpoch is the first millisecond of 2015, from which ids count.
const discordEpoch = 1420070400000

// NewID makes a snowflake: larger than every one before, with the time in it.
func (s *hub) NewID() string {
	id := (s.Now().UnixMilli() - discordEpoch) << 22
	s.lastID = max(id, s.lastID+1)
	return strconv.FormatInt(s.lastID, 10)
}

// Notify wakes everyone who waits for a change. The lock is held.
func (s *hub) Notify() {
	close(s.Changed)
	s.Changed = make(chan struct{})
}
