package rtctest

import (
	_ "embed"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/videosource"
	"clank/voice/webrtc"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
)

// VP8 key frames of one color, 320 by 180.
var (
	//go:embed testdata/red.vp8
	red []byte
	//go:embed testdata/blue.vp8
	blue []byte
)

// Red and Blue are frames of one color.
func Red() videosource.Frame  { return frame(red) }
func Blue() videosource.Frame { return frame(blue) } //nolint:revive // see Red

func frame(data []byte) videosource.Frame {
	return videosource.Frame{Data: data, Width: 320, Height: 180, Taken: time.Now()}
}

// FrameSource is a source of video frames set by a test. The zero value shows nothing.
type FrameSource struct {
	mu        sync.Mutex
	last      videosource.Frame
	looks     map[*screenViewer]struct{}
	refreshed int
	bitrate   int
}

// Show sends f to all viewers.
func (s *FrameSource) Show(f videosource.Frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = f
	for l := range s.looks {
		l.put(f)
	}
}

// Viewers returns the number of viewers.
func (s *FrameSource) Viewers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.looks)
}

// Refreshed returns the number of requests for a frame.
func (s *FrameSource) Refreshed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshed
}

// Bitrate returns the last bitrate set by a viewer.
func (s *FrameSource) Bitrate() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bitrate
}

// Watch adds a viewer.
func (s *FrameSource) Watch() webrtc.FrameSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &screenViewer{screen: s, frames: make(chan videosource.Frame, 1)}
	if s.looks == nil {
		s.looks = make(map[*screenViewer]struct{})
	}
	s.looks[l] = struct{}{}
	if s.last.Data != nil {
		l.put(s.last)
	}
	return l
}

type screenViewer struct {
	screen *FrameSource
	frames chan videosource.Frame
}

func (l *screenViewer) put(f videosource.Frame) {
	select {
	case <-l.frames:
	default:
	}
	l.frames <- f
}

// Frames implements [webrtc.FrameSource].
func (l *screenViewer) Frames() <-chan videosource.Frame { return l.frames }

// Refresh implements [webrtc.FrameSource]: it sends the last frame again.
func (l *screenViewer) Refresh() {
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	l.screen.refreshed++
	if l.screen.last.Data != nil {
		l.put(l.screen.last)
	}
}

// SetBitrate implements [webrtc.FrameSource].
func (l *screenViewer) SetBitrate(bitrate int) {
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	l.screen.bitrate = bitrate
}

// Close implements [webrtc.FrameSource].
func (l *screenViewer) Close() {
	l.screen.mu.Lock()
	defer l.screen.mu.Unlock()
	delete(l.screen.looks, l)
}

// OpenEngine returns an engine on the loopback interface, which is closed when the test ends.
func OpenEngine(tb testing.TB, e *webrtc.Engine) *webrtc.Engine {
	tb.Helper()
	e.Loopback = true
	check.Must(tb, e.Open(tb.Context()))
	tb.Cleanup(func() {
		check.Must(tb, e.Close(within(tb)))
	})
	return e
}

// Relay is a TURN server on the loopback interface.
type Relay struct {
	Server      webrtc.ICEServer // with its secret
	Connections atomic.Int64     // connections through it
}

// NewRelay starts a TURN server with a shared secret, which is closed when the test ends.
func NewRelay(tb testing.TB, secret string) *Relay {
	tb.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0") //nolint:noctx // does not block
	check.Must(tb, err)
	r := &Relay{Server: webrtc.ICEServer{
		URLs:     []string{"turn:" + conn.LocalAddr().String() + "?transport=udp"},
		Username: "clank", Secret: secret,
	}}
	silent := &logging.DefaultLoggerFactory{Writer: tb.Output(), DefaultLogLevel: logging.LogLevelDisabled}
	server, err := turn.NewServer(turn.ServerConfig{
		Realm: "clank.test", LoggerFactory: silent,
		AuthHandler: turn.LongTermTURNRESTAuthHandler(secret, silent.NewLogger("turn")),
		EventHandler: turn.EventHandler{OnAllocationCreated: func(_, _ net.Addr, _, _, _ string, _ net.Addr, _ int) {
			r.Connections.Add(1)
		}},
		PacketConnConfigs: []turn.PacketConnConfig{{
			PacketConn:            conn,
			RelayAddressGenerator: &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"},
		}},
	})
	check.Must(tb, err)
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(fmt.Errorf("close the relay: %w", err))
		}
	})
	return r
}
