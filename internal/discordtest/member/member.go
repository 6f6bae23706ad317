package member

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

	"clank/internal/discordtest/aead"
	"clank/internal/discordtest/voiceserver"
)

// Group is how a member takes part in the agreement on keys. The messages of the gateway come in order, and the calls one
// after another.
type Group interface {
	Select(version int) error // op 4
	HandleJSON(op int, d json.RawMessage) error
	HandleBinary(op byte, payload []byte) error
	Connected(users ...uint64) // op 11
	Disconnected(user uint64)  // op 13
}

// Cipher encrypts and decrypts frames; the codec is "opus" or a name as op 1 has it.
type Cipher interface {
	Encrypt(codec string, frame []byte) ([]byte, error)
	Decrypt(user uint64, codec string, frame []byte) ([]byte, error)
}

// Privacy is end-to-end encryption.
type Privacy interface {
	Group
	Cipher
}

// Line is what end-to-end encryption is about, and how it sends to the gateway.
type Line struct {
	User, Group uint64
	SendJSON    func(op int, d any)
	SendBinary  func(op byte, payload []byte)
}

// Options is who joins, and where. The ticket is known to the voice server.
type Options struct {
	Endpoint string
	Roots    *x509.CertPool // nil: without TLS
	Ticket   voiceserver.Ticket
	Mode     string // of the transport; "" takes the first on offer
	// Privacy makes the end-to-end encryption; nil: the member does not speak it.
	Privacy func(Line) (Privacy, error)
	// Video asks for a source of video. Codecs is the list of op 1; nil leaves it out.
	Video  bool
	Codecs any
}

// Frame is what somebody sent: a packet of sound, or all packets of one picture put together.
type Frame struct {
	From      string // user
	Video     bool
	Payload   uint8 // type
	Sequence  uint16
	Timestamp uint32
	Data      []byte // decrypted, without extension and padding
	Encrypted []byte // Data as it was on the way
	Err       error  // of the end-to-end encryption; then Data is nil
}

// A Member is one person in a call. Its methods may be called from any goroutine.
type Member struct {
	User string

	o       Options
	ws      *websocket.Conn
	udp     net.Conn
	frames  chan Frame
	control chan []byte
	cancel  context.CancelCauseFunc
	tasks   sync.WaitGroup
	settled chan struct{} // closed when the protocol is selected
	queue   chan outgoing
	gone    <-chan struct{} // closed when the member has ended

	mu      sync.Mutex
	private Privacy
	session session
	people  map[string]bool   // who else is there
	sources map[uint32]source // by SSRC
	early   map[uint32][]rtpPacket
	audio   stream
	video   stream
	pending map[uint32]*picture
	dropped int
	handled int     // number of the last message of the gateway that was dealt with
	wrong   []error // of the end-to-end encryption
	changed chan struct{}
	err     error // why it ended
}

// session is what the gateway has said.
type session struct {
	audio, video, rtx uint32
	mode              string
	in, out           *aead.Box
	dave              int
	codec             string
	wants             map[string]int
	seq               int
	speaking          int
}

type source struct {
	user  string
	video bool
}

// frameBacklog is how many frames wait for the test; later ones are dropped.
const frameBacklog = 8192

// ErrLeft is why a member has ended that was closed by the test.
var ErrLeft = errors.New("the member has left the call")

// Join enters a call and returns when the member can speak and hear. The caller must Close.
func Join(ctx context.Context, o Options) (*Member, error) {
	m := &Member{
		User: o.Ticket.User, o: o, frames: make(chan Frame, frameBacklog), control: make(chan []byte, 256),
		settled: make(chan struct{}), queue: make(chan outgoing, 64),
		session: session{seq: -1, speaking: -1}, people: map[string]bool{}, sources: map[uint32]source{}, early: map[uint32][]rtpPacket{},
		pending: map[uint32]*picture{}, handled: -1, changed: make(chan struct{}),
	}
	scheme, client := "ws", &http.Client{}
	if o.Roots != nil {
		scheme = "wss"
		client.Transport = &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
		}
	}
	ws, resp, err := websocket.Dial(ctx, scheme+"://"+o.Endpoint+"/?v=8", &websocket.DialOptions{HTTPClient: client})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // nothing more is read from it
	}
	if err != nil {
		return nil, fmt.Errorf("%s joins a call: %w", m.User, err)
	}
	ws.SetReadLimit(1 << 20)
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	m.ws, m.cancel, m.gone = ws, cancel, run.Done()
	if o.Privacy != nil {
		user, err := strconv.ParseUint(m.User, 10, 64)
		if err == nil {
			m.private, err = o.Privacy(Line{User: user, Group: o.Ticket.Group, SendJSON: m.sendJSON, SendBinary: m.sendBinary})
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

// end stops everything, for the first reason that is given.
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

// Close leaves the call and waits for what the member has started. It may be called twice.
func (m *Member) Close() error {
	m.mu.Lock()
	first := m.err == nil
	if first {
		m.err = ErrLeft
		m.notify()
	}
	m.mu.Unlock()
	if first {
		_ = m.ws.Close(websocket.StatusNormalClosure, "") // the server forgets the member also when this fails
	}
	m.end(ErrLeft)
	m.tasks.Wait()
	return nil
}

// Err tells why the member has ended; nil while it is in the call. An error of the gateway has its close code.
func (m *Member) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Gone is closed when the member has ended.
func (m *Member) Gone() <-chan struct{} { return m.gone }

// Frames hands out what the others send. It is never closed.
func (m *Member) Frames() <-chan Frame { return m.frames }

// Wait returns nil as soon as cond is true. It looks whenever the gateway has said something.
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

// notify wakes those who wait. The lock is held.
func (m *Member) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Next returns the next frame.
func (m *Member) Next(ctx context.Context) (Frame, error) {
	select {
	case f := <-m.frames:
		return f, nil
	case <-ctx.Done():
		return Frame{}, fmt.Errorf("%s waits for a frame: %w", m.User, context.Cause(ctx))
	}
}

// People lists who else is in the call, as far as the gateway has said.
func (m *Member) People() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	people := map[string]bool{}
	for user := range m.people {
		people[user] = true
	}
	return people
}

// Knows tells whether the member has heard which source is the voice of a user.
func (m *Member) Knows(user string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, from := range m.sources {
		if from.user == user && !from.video {
			return true
		}
	}
	return false
}

// Wanted is how much the others want our video, 0 to 100.
func (m *Member) Wanted() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, ok := m.session.wants[strconv.FormatUint(uint64(m.session.video), 10)]; ok {
		return n
	}
	return m.session.wants["any"]
}

// SSRC are the member's sources; that of video is 0 without.
func (m *Member) SSRC() (audio, video uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.session.audio, m.session.video
}

// Private is the end-to-end encryption that the options have made; nil without.
func (m *Member) Private() Privacy { return m.private }

// PrivacyErrors lists what the encryption has said of messages of the gateway. In a race that is nobody's fault.
func (m *Member) PrivacyErrors() []error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.wrong)
}

// Handled is the number of the last message of the gateway that the member has dealt with, -1 before.
func (m *Member) Handled() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.handled
}

// Dropped counts frames that nobody took in time.
func (m *Member) Dropped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dropped
}

// heartbeat is sent at the interval of hello until ctx ends.
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
			m.sendJSON(voiceserver.OpHeartbeat, map[string]any{"t": time.Now().UnixMilli(), "seq_ack": seq})
		}
	}
}
