package webrtc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"clank/cancel"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v4"
	"golang.org/x/net/netutil"
)

// Defaults of an [Engine].
const (
	DefaultMaxConns       = 32
	DefaultConnectTimeout = 20 * time.Second
)

const (
	gatherTimeout = 3 * time.Second // for our own addresses; without a STUN server they are known immediately
)

// Why a connection is not made.
var (
	ErrBadOffer     = errors.New("the offer of the page was not understood")
	ErrTooManyConns = errors.New("there are too many connections already; try again when somebody has left")
	ErrClosed       = errors.New("no new connections: the program is shutting down")
)

// Engine creates connections. Set the fields, then Open; Close ends all connections.
type Engine struct {
	// ICEServers are needed only where pages cannot reach this machine directly. They are also given to pages, see
	// [Engine.OfferedServers]: TURN credentials should expire.
	ICEServers []ICEServer

	// UDP is the host:port of one UDP port for all connections, instead of a port for each. Pages whose network blocks UDP
	// use the TCP port of the same number if it is free. Without it, only pages on this machine can.
	UDP         string
	PublicAddrs []string // the addresses under which this machine is known outside (1:1 NAT), instead of its own
	Loopback    bool     // also serve pages on this machine, even without a network

	MaxConns       int           // concurrent connections; 0: [DefaultMaxConns]
	ConnectTimeout time.Duration // limit for connecting a page; 0: [DefaultConnectTimeout]
	Logger         *slog.Logger

	api     *webrtc.API
	sockets []func() error // how what Open has opened is closed

	mu       sync.Mutex
	closed   bool
	conns    map[*Conn]struct{}
	reserved int // of MaxConns: conns, and those being established
	work     sync.WaitGroup
}

// Open prepares the engine, and opens the ports that are for all connections.
func (e *Engine) Open(ctx context.Context) error {
	e.Logger = cmp.Or(e.Logger, slog.New(slog.DiscardHandler))
	e.conns = make(map[*Conn]struct{})
	api, err := e.prepare(ctx)
	if err != nil {
		return errors.Join(fmt.Errorf("prepare WebRTC: %w", err), e.closeSockets())
	}
	e.api = api
	return nil
}

// Close ends all connections, and waits until nothing of them is left, or ctx has ended. No others are made.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	for c := range e.conns {
		c.End(ErrClosed)
	}
	e.mu.Unlock()
	err := cancel.WaitFor(ctx, &e.work)
	if err != nil {
		err = fmt.Errorf("close WebRTC: its connections have not ended: %w", err)
	}
	return errors.Join(err, e.closeSockets())
}

// Count returns the number of connections.
func (e *Engine) Count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reserved
}

func (e *Engine) closeSockets() error {
	var errs []error
	for _, closeIt := range slices.Backward(e.sockets) {
		if err := closeIt(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	e.sockets = nil
	return errors.Join(errs...)
}

// reserve reserves a connection.
func (e *Engine) reserve() error {
	most := cmp.Or(e.MaxConns, DefaultMaxConns)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return ErrClosed
	case e.reserved >= most:
		return ErrTooManyConns
	}
	e.reserved++
	e.work.Add(1)
	return nil
}

func (e *Engine) release(c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.conns, c)
	e.reserved--
	e.work.Done()
}

// addConn remembers a connection, so that Close ends it.
func (e *Engine) addConn(c *Conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns[c] = struct{}{}
	if e.closed {
		c.End(ErrClosed)
	}
}

// prepare builds what all connections share.
func (e *Engine) prepare(ctx context.Context) (*webrtc.API, error) {
	media, registry, err := newMediaEngine()
	if err != nil {
		return nil, err
	}
	set := webrtc.SettingEngine{LoggerFactory: loggerFactory{e.Logger}}
	set.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	set.SetIncludeLoopbackCandidate(e.Loopback)
	set.SetICETimeouts(4*time.Second, 8*time.Second, 2*time.Second)
	set.SetSTUNGatherTimeout(gatherTimeout)
	set.SetSCTPMaxReceiveBufferSize(256 << 10)
	set.DisableActiveTCP(true)
	if len(e.PublicAddrs) > 0 {
		rule := webrtc.ICEAddressRewriteRule{External: e.PublicAddrs, AsCandidateType: webrtc.ICECandidateTypeHost}
		if err := set.SetICEAddressRewriteRules(rule); err != nil {
			return nil, fmt.Errorf("addresses outside %v: %w", e.PublicAddrs, err)
		}
	}
	tcp := "127.0.0.1:0"
	if e.UDP != "" {
		conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", e.UDP)
		if err != nil {
			return nil, fmt.Errorf("open the UDP port %s: %w", e.UDP, err)
		}
		mux := ice.NewUDPMuxDefault(ice.UDPMuxParams{UDPConn: conn, Logger: pionLogger{e.Logger}})
		e.sockets = append(e.sockets, conn.Close, mux.Close)
		set.SetICEUDPMux(mux)
		tcp = conn.LocalAddr().String()
	}
	set.SetNetworkTypes([]webrtc.NetworkType{
		webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6, webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6,
	})
	e.listenTCP(ctx, &set, tcp)
	return webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry),
		webrtc.WithSettingEngine(set)), nil
}

// Bounds of what pages that come over TCP may cost.
const (
	tcpReads   = 16        // packets that wait to be read
	tcpWrites  = 256 << 10 // bytes that wait to be sent; others are lost then
	tcpTimeout = 10 * time.Second
)

// listenTCP accepts connections over TCP (RFC 6544), unless another program uses the port.
func (e *Engine) listenTCP(ctx context.Context, set *webrtc.SettingEngine, address string) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		e.Logger.Warn("pages can reach this program over UDP only", "address", address, "error", err)
		return
	}
	mux := ice.NewTCPMuxDefault(ice.TCPMuxParams{
		Listener: netutil.LimitListener(listener, 4*cmp.Or(e.MaxConns, DefaultMaxConns)), Logger: pionLogger{e.Logger},
		ReadBufferSize: tcpReads, WriteBufferSize: tcpWrites,
		FirstStunBindTimeout: tcpTimeout, AliveDurationForConnFromStun: tcpTimeout,
	})
	e.sockets = append(e.sockets, mux.Close)
	set.SetICETCPMux(mux)
}

// The supported codecs. Their payload types are only used if the page does not choose others.
var (
	opusCodec = webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2,
		SDPFmtpLine: "minptime=10;useinbandfec=1",
	}
	vp8Codec = webrtc.RTPCodecCapability{
		MimeType: webrtc.MimeTypeVP8, ClockRate: 90000,
		RTCPFeedback: []webrtc.RTCPFeedback{
			{Type: "nack"},
			{Type: "nack", Parameter: "pli"},
			{Type: "ccm", Parameter: "fir"},
			{Type: "goog-remb"},
		},
	}
)

// Header extensions of packets with pictures, by the names that browsers have for them.
const (
	playoutDelayURI = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
	absSendTimeURI  = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
)

// newMediaEngine has Opus and VP8, with what sends lost packets again and reports (RFC 3550) so that the page can hold
// sound and picture together.
func newMediaEngine() (*webrtc.MediaEngine, *interceptor.Registry, error) {
	media := new(webrtc.MediaEngine)
	if err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: opusCodec, PayloadType: 111},
		webrtc.RTPCodecTypeAudio); err != nil {
		return nil, nil, fmt.Errorf("register Opus: %w", err)
	}
	if err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: vp8Codec, PayloadType: 96},
		webrtc.RTPCodecTypeVideo); err != nil {
		return nil, nil, fmt.Errorf("register VP8: %w", err)
	}
	for _, uri := range []string{playoutDelayURI, absSendTimeURI} {
		if err := media.RegisterHeaderExtension(webrtc.RTPHeaderExtensionCapability{URI: uri},
			webrtc.RTPCodecTypeVideo); err != nil {
			return nil, nil, fmt.Errorf("register %s: %w", uri, err)
		}
	}
	registry := new(interceptor.Registry)
	if err := webrtc.ConfigureNack(media, registry); err != nil {
		return nil, nil, fmt.Errorf("register what sends lost packets again: %w", err)
	}
	if err := webrtc.ConfigureRTCPReports(registry); err != nil {
		return nil, nil, fmt.Errorf("register reports: %w", err)
	}
	return media, registry, nil
}

// loggerFactory lets pion log with our logger, for debugging: what matters otherwise is returned as errors.
type loggerFactory struct{ to *slog.Logger }

func (l loggerFactory) NewLogger(scope string) logging.LeveledLogger {
	return pionLogger{l.to.With("scope", scope)}
}

type pionLogger struct{ to *slog.Logger }

func (pionLogger) Trace(string)          {}
func (pionLogger) Tracef(string, ...any) {}
func (pionLogger) Debug(string)          {}
func (pionLogger) Debugf(string, ...any) {}
func (pionLogger) Info(string)           {}
func (pionLogger) Infof(string, ...any)  {}

func (l pionLogger) Warn(msg string) { l.to.Debug("webrtc", "said", msg) }
func (l pionLogger) Warnf(format string, a ...any) {
	l.to.Debug("webrtc", "said", fmt.Sprintf(format, a...))
}
func (l pionLogger) Error(msg string) { l.to.Debug("webrtc", "said", msg) }
func (l pionLogger) Errorf(format string, a ...any) {
	l.to.Debug("webrtc", "said", fmt.Sprintf(format, a...))
}
