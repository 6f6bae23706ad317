package discordtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"clank/internal/test/discordtest/voicetest"
)

// Config is what a Server can be told before it starts. The zero value is good.
type Config struct {
	// Now is the time of day as Discord sees it; nil means time.Now. Advance
	// moves it forward in both cases.
	Now func() time.Time
	// HeartbeatInterval is announced to gateway clients; 0 means 41.25 s.
	HeartbeatInterval time.Duration
	// Silence is how long a gateway client may go without a heartbeat before it is
	// closed with 4009; 0 means one and a half intervals, but at least three seconds,
	// so that a client on a busy machine is not taken for one that has gone.
	Silence time.Duration
	// VoiceEndpoint is what VOICE_SERVER_UPDATE carries, host:port; nil is sent as
	// null, which tells a client to wait for another. Voice takes its place.
	VoiceEndpoint *string
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
	Buckets map[string]*RateBucket // of rate limits
}

// newHub makes a server in which nothing exists. What the configuration leaves open it decides.
func newHub(cfg Config) *hub {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.HeartbeatInterval == 0 {
		cfg.HeartbeatInterval = 41250 * time.Millisecond
	}
	if cfg.Silence == 0 {
		cfg.Silence = max(cfg.HeartbeatInterval*3/2, 3*time.Second)
	}
	return &hub{
		Config:  cfg,
		Changed: make(chan struct{}),
		World:   NewWorld(),
		Gateway: newGateway(),
		Streams: Streams{Shown: map[string]*StreamState{}},
		Buckets: map[string]*RateBucket{},
	}
}

// socketKey finds the TCP connection of a request, for cutting it.
type socketKey struct{}

// WithSocket makes the connection of requests known in their contexts, as http.Server.ConnContext.
func WithSocket(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, socketKey{}, c)
}

// Socket returns the connection of a request, nil if WithSocket has not seen it.
func Socket(r *http.Request) net.Conn {
	socket, _ := r.Context().Value(socketKey{}).(net.Conn)
	return socket
}

// ErrServerClosed is why everything ends when the server is closed.
var ErrServerClosed = errors.New("the emulated discord was closed")

// Now returns the time as Discord sees it.
func (s *hub) Now() time.Time { return s.Config.Now().Add(s.Offset) }

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
