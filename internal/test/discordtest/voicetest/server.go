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

// ErrNotConnected says that no client sits there, or that it has no connection.
var ErrNotConnected = errors.New("nobody is connected at that seat")

// refusal is what the next to identify or to resume gets.
type refusal struct {
	code   int
	reason string
}

// trouble holds what a test has ordered.
type trouble struct {
	withholdACKs    bool
	refusals        []refusal
	lostDiscoveries int    // number of discoveries to leave unanswered
	codec           string // of video, whatever the clients like
	network         NetworkFaults
}

// Admit makes a ticket good. An older one of the same seat stays good until Revoke.
func (s *Server) Admit(t Credentials) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tickets[t.Token] = t
	s.createGroup(t)
}

// Revoke makes all tickets of a seat worthless and, with a code that is not 0, closes its connection.
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

// RefuseNext closes the connection of the next client that identifies or resumes. Each call counts for one.
func (s *Server) RefuseNext(code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusal{code, reason})
}

// CloseSeat closes the connection of a client with a code. After 4015 and all below 4000 it may resume.
func (s *Server) CloseSeat(seat ClientID, code int, reason string) error {
	return s.withClient(seat, func(cl *client) { s.closeWith(cl.conn, code, reason) })
}

// Drop cuts the connection of a client without a close frame. What happens meanwhile is kept for a resume.
func (s *Server) Drop(seat ClientID) error {
	return s.withClient(seat, func(cl *client) {
		cl.conn.Cut()
		cl.conn = nil
	})
}

// Send sends a client any message with a number of its own. The data must be JSON.
func (s *Server) Send(seat ClientID, op int, data string) error {
	if !json.Valid([]byte(data)) {
		return fmt.Errorf("send op %d: the data is not JSON; SendRaw sends anything", op)
	}
	return s.withClient(seat, func(cl *client) { s.send(cl, op, json.RawMessage(data)) })
}

// SendBinary sends a client any binary message with a number of its own.
func (s *Server) SendBinary(seat ClientID, op byte, payload []byte) error {
	return s.withClient(seat, func(cl *client) { s.sendBinary(cl, int(op), payload) })
}

// SendRaw sends a client any bytes as one message, of text or binary. They are not kept.
func (s *Server) SendRaw(seat ClientID, binary bool, data []byte) error {
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	return s.withClient(seat, func(cl *client) { cl.conn.Send(kind, slices.Clone(data)) })
}

// WithholdHeartbeatACK stops answering heartbeats, until it is called with false.
func (s *Server) WithholdHeartbeatACK(withhold bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.withholdACKs = withhold
}

// LoseDiscoveries leaves the next n requests for the own address unanswered.
func (s *Server) LoseDiscoveries(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lostDiscoveries = n
}

// ChooseVideoCodec fixes what op 4 says, and tells those who are there by op 14. Empty lets the codecs of the clients decide.
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

// A Message is one message of a client to the gateway.
type Message struct {
	Seat ClientID // zero before identify
	Op   int      // -1 when it could not be read
	Data json.RawMessage
}

// A Disconnection is the end of one connection of the gateway.
type Disconnection struct {
	// Code is the close code that somebody gave first, or -1 for a cut line.
	Code int
}

// A Violation is something that the real service would punish, or ignore without a word.
type Violation struct {
	Seat ClientID
	Text string
}

// Counts are packets of media and control, from the view of one client.
type Counts struct {
	Received int // from the client, opened
	Lost     int // not sent to the client on purpose
}

// traffic is the record of all that came and went.
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

// Received lists the messages with that opcode that clients sent, oldest first.
func (s *Server) Received(op int) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.messages), func(m Message) bool { return m.Op != op })
}

// WaitReceived waits until clients have sent more than skip messages with that opcode, and returns the one after those.
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

// ForgetTraffic drops the record of messages, endings and what was not taken, for tests that go on for long. Violations stay.
func (s *Server) ForgetTraffic() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages, s.endings, s.unused, s.rtcp = nil, nil, nil, nil
}

// Endings lists the connections of the gateway that have ended.
func (s *Server) Endings() []Disconnection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.endings)
}

// Violations lists what clients did wrong without being told.
func (s *Server) Violations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// A Client is somebody who has identified, as the server sees them.
type Client struct {
	ClientID
	Audio, Video   uint32 // SSRC; that of video is 0 without
	Connected      bool   // the gateway's line is there
	Ready          bool   // the protocol is selected
	Speaking       int    // the mask of its last op 5, -1 before
	Unacknowledged int    // messages kept for resuming
	Counts
}

// Clients lists who is there, in the order of their seats.
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

// Client finds who sits there.
func (s *Server) Client(seat ClientID) (Client, bool) {
	for _, c := range s.Clients() {
		if c.ClientID == seat {
			return c, true
		}
	}
	return Client{}, false
}

// WaitClient waits until the client at the seat is as match asks for.
func (s *Server) WaitClient(ctx context.Context, seat ClientID, what string, match func(Client) bool) (Client, error) {
	var found Client
	err := s.Wait(ctx, what, func() bool {
		c, ok := s.Client(seat)
		found = c
		return ok && match(c)
	})
	return found, err
}
