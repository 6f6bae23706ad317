package voicetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"clank/internal/test/discordtest/delivery"
)

// Config is what a Server can be told before it starts. The zero value is good: a server without end-to-end encryption.
type Config struct {
	// Heartbeat is announced in hello; 0 means 13.75 s. A client that stays silent for one and a half intervals is closed
	// with 4009.
	Heartbeat time.Duration
	// Modes are the transport encryptions on offer; nil means both.
	Modes []string
	// DAVE is the highest version of end-to-end encryption; 0 means that calls have none, as on stages.
	DAVE int
	// TLS has the gateway speak "wss", as the real one does; else it is "ws".
	TLS bool
	// Optional lets clients in that do not speak DAVE, instead of closing with 4017.
	Optional bool
	// Seed makes the choices of the network the same each time.
	Seed uint64
	// Listen opens a port of the gateway, and ListenPacket that of media, whose addresses are of UDP; nil means loopback.
	Listen       func() (net.Listener, error)
	ListenPacket func() (net.PacketConn, error)
}

// A Server is one voice server. Its methods may be called from any goroutine. Values it returns are copies.
type Server struct {
	cfg   Config
	http  *http.Server
	udp   net.PacketConn
	trust *tlsIdentity
	stop  context.CancelCauseFunc
	tasks sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	closed  bool
	tickets map[string]Credentials // by token
	clients map[ClientID]*client
	sources map[uint32]*client           // by SSRC
	groups  map[string]*delivery.Service // by room
	peers   map[*RTCPeer]bool            // of WebRTC, until they are closed
	lastID  uint32
	dice    *rand.Rand
	post    post
	traffic
	trouble
}

// Start listens on free loopback ports. The caller must Close.
func Start(cfg Config) (*Server, error) {
	if cfg.Heartbeat == 0 {
		cfg.Heartbeat = 13750 * time.Millisecond
	}
	if cfg.Modes == nil {
		cfg.Modes = []string{ModeAES256GCM, ModeXChaCha20Poly1305}
	}
	trust, err := newTLSIdentity()
	if err != nil {
		return nil, fmt.Errorf("start a voice server: %w", err)
	}
	if cfg.Listen == nil {
		cfg.Listen = func() (net.Listener, error) { return net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}) }
	}
	if cfg.ListenPacket == nil {
		cfg.ListenPacket = func() (net.PacketConn, error) { return net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}) }
	}
	udp, err := cfg.ListenPacket()
	if err != nil {
		return nil, fmt.Errorf("start a voice server: %w", err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	s := &Server{
		cfg: cfg, udp: udp, trust: trust, stop: stop,
		changed: make(chan struct{}),
		tickets: map[string]Credentials{}, clients: map[ClientID]*client{}, sources: map[uint32]*client{},
		groups: map[string]*delivery.Service{}, peers: map[*RTCPeer]bool{},
		lastID: firstID, dice: rand.New(rand.NewPCG(cfg.Seed, 8)),
		post: post{wake: make(chan struct{}, 1)},
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.accept),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       WithConn,
	}
	s.tasks.Go(s.readMedia)
	s.tasks.Go(func() { s.deliverLate(ctx) })
	return s, nil
}

// firstID is below the number of every source.
const firstID = 1000

var errClosed = errors.New("the voice server was closed")

// Endpoint opens another port of the gateway and returns it as VOICE_SERVER_UPDATE names it, host:port.
func (s *Server) Endpoint() (string, error) {
	ln, err := s.cfg.Listen()
	if err != nil {
		return "", fmt.Errorf("open a port of the voice gateway: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errors.Join(errClosed, ln.Close())
	}
	addr := ln.Addr().String()
	if s.cfg.TLS {
		ln = tls.NewListener(ln, s.trust.config)
	}
	s.tasks.Go(func() {
		_ = s.http.Serve(ln) // always ends with ErrServerClosed, by Close
	})
	return addr, nil
}

// Certificate returns the certificate that the server shows, in PEM. It is its own authority.
func (s *Server) Certificate() []byte { return slices.Clone(s.trust.pem) }

// Roots returns a pool with the certificate.
func (s *Server) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.trust.pem)
	return pool
}

// Close cuts all connections and waits until every goroutine of the server has ended. Further calls do nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for _, c := range s.conns {
		c.Cut()
	}
	s.notify()
	s.mu.Unlock()

	s.stop(errClosed)
	err := errors.Join(s.http.Close(), s.udp.Close())
	s.tasks.Wait()
	for p := range s.peers { // nobody else is left
		err = errors.Join(err, p.Close())
	}
	if err != nil {
		return fmt.Errorf("close the voice server: %w", err)
	}
	return nil
}

// Wait returns nil as soon as cond is true. It looks after every change on the server, so that nobody polls. Without luck it
// returns an error that names what was waited for, with the cause of the context.
func (s *Server) Wait(ctx context.Context, what string, cond func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// notify wakes everyone who waits for a change. The lock is held.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// newSSRC returns a number that no source has. The lock is held.
func (s *Server) newSSRC() uint32 {
	s.lastID++
	return s.lastID
}

// encode writes what the server itself has made, which can always be written.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
