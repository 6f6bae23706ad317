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
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"clank/internal/test/discordtest/delivery"
)

// Config configures a Server. The zero value is a server without end-to-end encryption.
type Config struct {
	// Heartbeat is the interval announced in hello; 0 means 13.75 s. A client that is silent for one and a half
	// intervals is closed with 4009.
	Heartbeat time.Duration
	// Modes are the offered transport encryption modes; nil means both.
	Modes []string
	// DAVE is the highest supported version of end-to-end encryption; 0 disables it, as on stages.
	DAVE int
	// TLS makes the gateway use "wss", as the real one does, instead of "ws".
	TLS bool
	// Optional admits clients that do not support DAVE, instead of closing with 4017.
	Optional bool
	// Seed makes the random network faults repeatable.
	Seed uint64
	// Listen opens a port of the gateway, and ListenPacket that of media, which must have UDP addresses; nil means
	// loopback.
	Listen       func() (net.Listener, error)
	ListenPacket func() (net.PacketConn, error)
}

// A Server is an emulated voice server. It is safe for concurrent use. Values it returns are copies.
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
	peers   map[*RTCPeer]bool            // WebRTC peers that are not closed
	lastID  uint32
	dice    *rand.Rand
	post    post
	traffic
	trouble
}

// Start listens on free loopback ports. The caller must call Close.
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
		cfg.ListenPacket = func() (net.PacketConn, error) {
			return net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		}
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

// firstID is smaller than every SSRC.
const firstID = 1000

var errClosed = errors.New("the voice server was closed")

// Endpoint opens another port of the gateway and returns its host:port, as in VOICE_SERVER_UPDATE.
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
		_ = s.http.Serve(ln) // always returns ErrServerClosed, after Close
	})
	return addr, nil
}

// Certificate returns the server's self-signed certificate as PEM.
func (s *Server) Certificate() []byte { return slices.Clone(s.trust.pem) }

// Roots returns a certificate pool with the server's certificate.
func (s *Server) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.trust.pem)
	return pool
}

// Close closes all connections and waits for all goroutines of the server. Further calls do nothing.
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

// Wait returns nil as soon as cond is true. It checks after every change on the server rather than polling. If ctx
// ends first, the error names what was waited for and the cause.
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

// notify wakes all waits for a change. The caller holds the lock.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// newSSRC returns an unused SSRC. The caller holds the lock.
func (s *Server) newSSRC() uint32 {
	s.lastID++
	return s.lastID
}

// encode marshals a value of the server, which always succeeds.
func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

// ErrNotConnected means that there is no client with that id, or that it is disconnected.
var ErrNotConnected = errors.New("nobody is connected at that seat")

// refusal is the close code for the next client that identifies or resumes.
type refusal struct {
	code   int
	reason string
}

// trouble holds the faults that a test has requested.
type trouble struct {
	withholdACKs    bool
	refusals        []refusal
	lostDiscoveries int    // number of discoveries to leave unanswered
	codec           string // video codec, regardless of the clients
	network         NetworkFaults
}

// Admit makes credentials valid. Older ones of the same client stay valid until Revoke.
func (s *Server) Admit(t Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[t.Token] = t
	s.createGroup(t)
}

// Revoke invalidates all credentials of a client and, with a code other than 0, closes its connection.
func (s *Server) Revoke(seat ClientID, code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for token, t := range s.tickets {
		if t.ClientID == seat {
			delete(s.tickets, token)
		}
	}
	if cl := s.clients[seat]; cl != nil {
		if cl.conn != nil && code != 0 {
			s.closeWith(cl.conn, code, reason)
		}
		s.remove(cl)
	}
	s.notify()
}

// RefuseNext closes the connection of the next client that identifies or resumes. Calls accumulate.
func (s *Server) RefuseNext(code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusal{code, reason})
}

// CloseSeat closes the connection of a client with a code. It may resume after 4015 and all codes below 4000.
func (s *Server) CloseSeat(seat ClientID, code int, reason string) error {
	return s.withClient(seat, func(cl *client) { s.closeWith(cl.conn, code, reason) })
}

// Drop cuts the connection of a client without a close frame. Messages in the meantime are kept for a resume.
func (s *Server) Drop(seat ClientID) error {
	return s.withClient(seat, func(cl *client) {
		cl.conn.Cut()
		cl.conn = nil
	})
}

// Send sends a client a message with its own sequence number. The data must be JSON.
func (s *Server) Send(seat ClientID, op int, data string) error {
	if !json.Valid([]byte(data)) {
		return fmt.Errorf("send op %d: the data is not JSON; SendRaw sends anything", op)
	}
	return s.withClient(seat, func(cl *client) { s.send(cl, op, json.RawMessage(data)) })
}

// SendBinary sends a client a binary message with its own sequence number.
func (s *Server) SendBinary(seat ClientID, op byte, payload []byte) error {
	return s.withClient(seat, func(cl *client) { s.sendBinary(cl, int(op), payload) })
}

// SendRaw sends a client any text or binary message. It is not kept for resuming.
func (s *Server) SendRaw(seat ClientID, binary bool, data []byte) error {
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	return s.withClient(seat, func(cl *client) { cl.conn.Send(kind, slices.Clone(data)) })
}

// WithholdHeartbeatACK stops acknowledging heartbeats until it is called with false.
func (s *Server) WithholdHeartbeatACK(withhold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withholdACKs = withhold
}

// LoseDiscoveries leaves the next n IP discovery requests unanswered.
func (s *Server) LoseDiscoveries(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lostDiscoveries = n
}

// ChooseVideoCodec sets the codec in op 4, and sends it to connected clients by op 14. If it is empty, the clients'
// codecs decide.
func (s *Server) ChooseVideoCodec(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codec = name
	for _, cl := range s.clients {
		if cl.ready {
			s.send(cl, OpSessionUpdate, map[string]any{"video_codec": s.videoCodec(cl)})
		}
	}
}

func (s *Server) withClient(seat ClientID, do func(*client)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	cl := s.clients[seat]
	if cl == nil || cl.conn == nil {
		return ErrNotConnected
	}
	do(cl)
	s.notify()
	return nil
}

// A Message is a message of a client to the gateway.
type Message struct {
	Seat ClientID // zero before identify
	Op   int      // -1 if it could not be parsed
	Data json.RawMessage
}

// A Disconnection is the end of a gateway connection.
type Disconnection struct {
	// Code is the close code of whichever side closed first, or -1 for a broken connection.
	Code int
}

// A Violation is something that the real service would punish or silently ignore.
type Violation struct {
	Seat ClientID
	Text string
}

// Counts are numbers of media and control packets of one client.
type Counts struct {
	Received int // from the client, decrypted
	Lost     int // to the client, dropped on purpose
}

// traffic is the record of all messages.
type traffic struct {
	conns      []*conn
	messages   []Message
	endings    []Disconnection
	violations []Violation
	unused     []Violation
	rtcp       []ReceivedRTCP
}

func (s *Server) received(c *conn, op int, data json.RawMessage) {
	m := Message{Op: op, Data: data}
	if c.client != nil {
		m.Seat = c.client.seat
	}
	s.messages = append(s.messages, m)
}

func (s *Server) recordViolation(seat ClientID, text string) {
	s.violations = append(s.violations, Violation{seat, text})
}

// Received returns the messages with an opcode that clients sent, oldest first.
func (s *Server) Received(op int) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.messages), func(m Message) bool { return m.Op != op })
}

// WaitReceived waits for a message with an opcode after the first skip ones, and returns it.
func (s *Server) WaitReceived(ctx context.Context, op, skip int) (Message, error) {
	var list []Message
	err := s.Wait(ctx, fmt.Sprintf("voice message with op %d", op), func() bool {
		list = s.Received(op)
		return len(list) > skip
	})
	if err != nil {
		return Message{}, err
	}
	return list[skip], nil
}

// ForgetTraffic drops the record of messages, disconnections and unused messages, for long tests. Violations stay.
func (s *Server) ForgetTraffic() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.endings, s.unused, s.rtcp = nil, nil, nil, nil
}

// Endings returns the gateway connections that have ended.
func (s *Server) Endings() []Disconnection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.endings)
}

// Violations returns what clients did wrong without being told.
func (s *Server) Violations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// A Client is the server's view of an identified client.
type Client struct {
	ClientID
	Audio, Video   uint32 // SSRCs; video is 0 if there is none
	Connected      bool   // connected to the gateway
	Ready          bool   // the protocol is selected
	Speaking       int    // the mask of its last op 5, -1 before
	Unacknowledged int    // messages kept for resuming
	Counts
}

// Clients returns all clients in a stable order.
func (s *Server) Clients() []Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Client, 0, len(s.clients))
	for _, cl := range s.clients {
		c := Client{
			ClientID: cl.seat, Audio: cl.audio, Video: cl.video, Connected: cl.conn != nil, Ready: cl.ready, Speaking: -1,
			Unacknowledged: len(cl.backlog), Counts: cl.counts,
		}
		if cl.speaking != nil {
			c.Speaking = cl.speaking.Mask
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Client) int {
		return strings.Compare(a.Server+"/"+a.User, b.Server+"/"+b.User)
	})
	return list
}

// Client returns the client with an id.
func (s *Server) Client(seat ClientID) (Client, bool) {
	for _, c := range s.Clients() {
		if c.ClientID == seat {
			return c, true
		}
	}
	return Client{}, false
}

// WaitClient waits until a client matches.
func (s *Server) WaitClient(ctx context.Context, seat ClientID, what string, match func(Client) bool) (Client, error) {
	var found Client
	err := s.Wait(ctx, what, func() bool {
		c, ok := s.Client(seat)
		found = c
		return ok && match(c)
	})
	return found, err
}
