package discordtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"clank/internal/discordtest/voiceserver"
)

// Config is what a Server can be told before it starts. The zero value is good.
type Config struct {
	// Now is the time of day as Discord sees it; nil means time.Now. Advance
	// moves it forward in both cases.
	Now func() time.Time
	// HeartbeatInterval is announced to gateway clients; 0 means 41.25 s. A client
	// that stays silent for one and a half intervals is closed with 4009.
	HeartbeatInterval time.Duration
	// RateLimits turns on limits such as Discord's: five messages in five seconds
	// for a channel, and so on. Without it the headers are sent and nothing is
	// refused unless RateLimitNext asks for it.
	RateLimits bool
	// SessionStarts is how many identifies a day are left; 0 means 1000.
	SessionStarts int
	// VoiceEndpoint is what VOICE_SERVER_UPDATE carries, host:port; nil is sent as
	// null, which tells a client to wait for another. Voice takes its place.
	VoiceEndpoint *string
	// Voice starts a voice server that lets in who is in a voice channel.
	Voice *voiceserver.Config
}

// A Server is one emulated Discord. Its methods may be called from any
// goroutine. Values it returns are copies; nobody else changes them.
type Server struct {
	// URL is where it listens, "http://127.0.0.1:port", without a final slash.
	URL string
	// Voice is the server of all calls, nil unless Config asked for it.
	Voice *voiceserver.Server

	cfg   Config
	http  *http.Server
	done  chan struct{}
	stop  context.CancelCauseFunc
	tasks sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	offset  time.Duration
	lastID  int64
	closed  bool

	world
	gateway
	traffic
	trouble
	streams
	buckets map[string]*bucket
}

// Start listens on a free loopback port. The caller must Close.
func Start(cfg Config) (*Server, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.HeartbeatInterval == 0 {
		cfg.HeartbeatInterval = 41250 * time.Millisecond
	}
	if cfg.SessionStarts == 0 {
		cfg.SessionStarts = 1000
	}
	var voice *voiceserver.Server
	if cfg.Voice != nil {
		var err error
		if voice, err = voiceserver.Start(*cfg.Voice); err != nil {
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
		URL:     "http://" + ln.Addr().String(),
		Voice:   voice,
		cfg:     cfg,
		done:    make(chan struct{}),
		stop:    stop,
		changed: make(chan struct{}),
		world:   newWorld(),
		gateway: newGateway(),
		streams: streams{shown: map[string]*stream{}},
		buckets: map[string]*bucket{},
	}
	s.http = &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, socketKey{}, c)
		},
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // always ends with ErrServerClosed, by Close
	}()
	return s, nil
}

// socketKey finds the TCP connection of a request, for cutting it.
type socketKey struct{}

var errServerClosed = errors.New("the emulated discord was closed")

// Close cuts all connections and waits until every goroutine of the server has
// ended. Further calls do nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for c := range s.conns {
		c.cut()
	}
	s.notify()
	s.mu.Unlock()

	s.stop(errServerClosed)
	err := s.http.Close()
	<-s.done
	s.tasks.Wait()
	if s.Voice != nil {
		err = errors.Join(err, s.Voice.Close())
	}
	if err != nil {
		return fmt.Errorf("close the emulated discord: %w", err)
	}
	return nil
}

// Now is the time as Discord sees it.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// Advance moves Discord's clock forward, so that the rules of three seconds and
// fifteen minutes can be tried without waiting.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset += d
	s.notify()
}

func (s *Server) now() time.Time { return s.cfg.Now().Add(s.offset) }

// discordEpoch is the first millisecond of 2015, from which ids count.
const discordEpoch = 1420070400000

// newID makes a snowflake: larger than every one before, with the time in it.
func (s *Server) newID() string {
	id := (s.now().UnixMilli() - discordEpoch) << 22
	s.lastID = max(id, s.lastID+1)
	return strconv.FormatInt(s.lastID, 10)
}

// notify wakes everyone who waits for a change. The lock is held.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}
