package voicetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/rtp"

	"clank/voice/discord/dave"
)

// PrivacyGroup is a member's part in the key agreement. It gets the messages of the gateway in order, one call at a
// time.
type PrivacyGroup interface {
	Select(version int) error // op 4
	HandleJSON(op int, d json.RawMessage) error
	HandleBinary(op byte, payload []byte) error
	Connected(users ...uint64) // op 11
	Disconnected(user uint64)  // op 13
}

// FrameCipher encrypts and decrypts frames; the codec is "opus" or a name from op 1.
type FrameCipher interface {
	Encrypt(codec string, frame []byte) ([]byte, error)
	Decrypt(user uint64, codec string, frame []byte) ([]byte, error)
}

// Privacy is end-to-end encryption.
type Privacy interface {
	PrivacyGroup
	FrameCipher
}

// PrivacyConfig configures end-to-end encryption, and how it sends to the gateway.
type PrivacyConfig struct {
	User, Group uint64
	SendJSON    func(op int, d any)
	SendBinary  func(op byte, payload []byte)
}

// MemberOptions describe a member and its call. The voice server must know the credentials.
type MemberOptions struct {
	Endpoint    string
	Roots       *x509.CertPool // nil means no TLS
	Credentials Credentials
	// Privacy creates the end-to-end encryption; nil if the member does not support it.
	Privacy func(PrivacyConfig) (Privacy, error)
	// Video requests a video source.
	Video bool
	// RequestLost makes the member request missing video packets, and a key frame if they stay lost, as decoders do
	// (RFC 4585, RFC 4588).
	RequestLost bool
	// Dial connects to the gateway ("tcp") and to the media port ("udp"); nil uses the machine's network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// ReceivedFrame is a received audio packet or a complete video frame.
type ReceivedFrame struct {
	From      string // user
	Video     bool
	Payload   uint8 // type
	Sequence  uint16
	Timestamp uint32
	Data      []byte // decrypted, without extension and padding
	Encrypted []byte // Data before decryption
	Err       error  // error of the end-to-end encryption; then Data is nil
}

// A Member is a person in a call. It is safe for concurrent use.
type Member struct {
	User string

	options MemberOptions
	ws      *websocket.Conn
	udp     net.Conn
	frames  chan ReceivedFrame
	cancel  context.CancelCauseFunc
	tasks   sync.WaitGroup
	settled chan struct{} // closed when the protocol is selected
	queue   chan memberMessage
	gone    <-chan struct{} // closed when the member has ended

	mu      sync.Mutex
	private Privacy
	session memberSession
	people  map[string]bool        // the other people in the call
	sources map[uint32]mediaSource // by SSRC
	early   map[uint32][]rtp.Packet
	audio   sentStream
	pending map[uint32]*frameAssembler
	repeats map[uint32]uint32 // SSRCs of retransmissions, and of their source
	wrong   []error           // errors of the end-to-end encryption
	changed chan struct{}
	err     error // why the member has ended
}

// memberSession is the session data from the gateway.
type memberSession struct {
	audio, video, rtx uint32
	mode              string
	in, out           *PacketCipher
	seq               int
}

type mediaSource struct {
	user  string
	video bool
}

// frameBacklog is the number of frames that are queued for the test; later ones are dropped.
const frameBacklog = 8192

// ErrMemberLeft means that the test closed the member.
var ErrMemberLeft = errors.New("the member has left the call")

// JoinCall joins a call and returns when the member can send and receive. The caller must call Close.
func JoinCall(ctx context.Context, o MemberOptions) (*Member, error) {
	m := &Member{
		User: o.Credentials.User, options: o, frames: make(chan ReceivedFrame, frameBacklog),
		settled: make(chan struct{}), queue: make(chan memberMessage, 64),
		session: memberSession{seq: -1}, people: map[string]bool{}, sources: map[uint32]mediaSource{},
		early:   map[uint32][]rtp.Packet{},
		pending: map[uint32]*frameAssembler{}, repeats: map[uint32]uint32{}, changed: make(chan struct{}),
	}
	ws, err := o.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s joins a call: %w", m.User, err)
	}
	ws.SetReadLimit(1 << 20)
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	m.ws, m.cancel, m.gone = ws, cancel, run.Done()
	if o.Privacy != nil {
		user, err := strconv.ParseUint(m.User, 10, 64)
		if err == nil {
			m.private, err = o.Privacy(PrivacyConfig{
				User: user, Group: o.Credentials.Group, SendJSON: m.sendJSON,
				SendBinary: m.sendBinary,
			})
		}
		if err != nil {
			m.end(err)
			return nil, fmt.Errorf("%s joins a call: %w", m.User, err)
		}
	}
	m.tasks.Go(func() { m.writeGateway(run) })
	m.tasks.Go(func() { m.end(m.readGateway(run)) })
	select {
	case <-m.settled:
		return m, nil
	case <-run.Done():
		err = context.Cause(run)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	m.end(err)
	m.tasks.Wait()
	return nil, fmt.Errorf("%s joins a call: %w", m.User, err)
}

// dial connects to the gateway.
func (o MemberOptions) dial(ctx context.Context) (*websocket.Conn, error) {
	scheme, client := "ws", &http.Client{}
	if o.Roots != nil || o.Dial != nil {
		client.Transport = &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
			DialContext: o.Dial,
		}
	}
	if o.Roots != nil {
		scheme = "wss"
	}
	ws, resp, err := websocket.Dial(ctx, scheme+"://"+o.Endpoint+"/?v=8", &websocket.DialOptions{HTTPClient: client})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // nothing more is read from it
	}
	return ws, err
}

// end stops everything, with the first reason that is given.
func (m *Member) end(err error) {
	m.mu.Lock()
	if m.err == nil {
		m.err = err
		m.notify()
	}
	udp := m.udp
	m.mu.Unlock()
	m.cancel(err)
	_ = m.ws.CloseNow() // it may be closed already
	if udp != nil {
		_ = udp.Close() // as above
	}
}

// Close leaves the call and waits for the member's goroutines. It may be called twice.
func (m *Member) Close() error {
	m.mu.Lock()
	first := m.err == nil
	if first {
		m.err = ErrMemberLeft
		m.notify()
	}
	m.mu.Unlock()
	if first {
		_ = m.ws.Close(websocket.StatusNormalClosure, "") // the server removes the member even if this fails
	}
	m.end(ErrMemberLeft)
	m.tasks.Wait()
	return nil
}

// heartbeat sends heartbeats at the interval from hello until ctx ends.
func (m *Member) heartbeat(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.mu.Lock()
			seq := m.session.seq
			m.mu.Unlock()
			m.sendJSON(OpHeartbeat, map[string]any{"t": time.Now().UnixMilli(), "seq_ack": seq})
		}
	}
}

// Err returns why the member has ended; nil while it is in the call. A gateway error contains its close code.
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Gone returns a channel that is closed when the member has ended.
func (m *Member) Gone() <-chan struct{} { return m.gone }

// Frames returns the received frames. The channel is never closed.
func (m *Member) Frames() <-chan ReceivedFrame { return m.frames }

// Wait returns nil as soon as cond is true. It checks after every gateway message.
func (m *Member) Wait(ctx context.Context, what string, cond func() bool) error {
	for {
		m.mu.Lock()
		changed, ended := m.changed, m.err
		m.mu.Unlock()
		if cond() {
			return nil
		}
		if ended != nil {
			return fmt.Errorf("%s waits for %s: %w", m.User, what, ended)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s waits for %s: %w", m.User, what, context.Cause(ctx))
		}
	}
}

// notify wakes all waits. The caller holds the lock.
func (m *Member) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Next returns the next frame.
func (m *Member) Next(ctx context.Context) (ReceivedFrame, error) {
	select {
	case f := <-m.frames:
		return f, nil
	case <-ctx.Done():
		return ReceivedFrame{}, fmt.Errorf("%s waits for a frame: %w", m.User, context.Cause(ctx))
	}
}

// People returns the other people in the call, as reported by the gateway.
func (m *Member) People() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	people := map[string]bool{}
	for user := range m.people {
		people[user] = true
	}
	return people
}

// SSRC returns the member's SSRCs; video is 0 if there is none.
func (m *Member) SSRC() (audio, video uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session.audio, m.session.video
}

// Private returns the end-to-end encryption; nil if there is none.
func (m *Member) Private() Privacy { return m.private }

// PrivacyErrors returns the encryption's errors about gateway messages. In a race they are not errors.
func (m *Member) PrivacyErrors() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.wrong)
}

// DAVESession is a member's DAVE session.
type DAVESession struct{ *dave.Session }

// NewDAVESession creates a session, for [MemberOptions.Privacy].
func NewDAVESession(l PrivacyConfig) (Privacy, error) {
	s, err := dave.New(dave.Options{UserID: l.User, GroupID: l.Group, SendBinary: l.SendBinary, SendJSON: l.SendJSON})
	if err != nil {
		return nil, fmt.Errorf("begin end-to-end encryption: %w", err)
	}
	return &DAVESession{s}, nil
}

// daveCodecs are the supported codecs of the encryption.
var daveCodecs = map[string]dave.Codec{"opus": dave.Opus, "VP8": dave.VP8}

// Encrypt encrypts a frame.
func (s *DAVESession) Encrypt(codec string, frame []byte) ([]byte, error) {
	c, ok := daveCodecs[codec]
	if !ok {
		return nil, fmt.Errorf("no such codec: %q", codec)
	}
	return s.Session.Encrypt(c, frame)
}

// Decrypt decrypts a frame of a user.
func (s *DAVESession) Decrypt(user uint64, codec string, frame []byte) ([]byte, error) {
	c, ok := daveCodecs[codec]
	if !ok {
		return nil, fmt.Errorf("no such codec: %q", codec)
	}
	return s.Session.Decrypt(user, c, frame)
}
