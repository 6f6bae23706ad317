package conn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"clank/voice"
	"clank/voice/discord/dave"
)

// Target is the server and the credentials of a connection. All but GroupID comes from the main gateway and is valid
// only once.
type Target struct {
	Endpoint  string // host and port; or a whole URL, of a server without TLS
	ServerID  string // the guild, or the server of a stream
	UserID    string // our own
	SessionID string // of our voice state
	Token     string
	GroupID   uint64 // of the end-to-end encryption: the channel, or for a stream its server less one
}

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of event.
const (
	Up             EventKind = "up"        // what we send goes out, for the first time or again
	Down           EventKind = "down"      // the gateway is unreachable, and media stops soon; Text is the reason
	UsersJoined    EventKind = "connected" // Users are in the call; may come again
	UsersLeft      EventKind = "gone"      // Users have left it
	PacketReceived EventKind = "sound"     // Packet is set
	EncryptionOff  EventKind = "exposed"   // the call is not, or no longer, end-to-end encrypted
	EncryptionOn   EventKind = "sealed"    // it is again
	// The quality of our video that others want: 0 means that nobody watches, 100 is the best.
	QualityWanted  EventKind = "wanted"
	KeyFrameWanted EventKind = "refresh" // someone lost the picture and requests a key frame
	CodecChosen    EventKind = "codec"   // Text is the codec of pictures that the gateway has settled on
)

// Event is one thing that happened on a connection.
type Event struct {
	Kind    EventKind
	Users   []string
	Packet  voice.Packet
	Quality int
	Text    string
}

// Conn is one voice connection, which reconnects as often as necessary. Set the fields, then Open, then Close. Its
// methods are safe for concurrent use.
type Conn struct {
	Target        Target
	SpeakingFlags int              // what we speak as; 0 is SpeakingMicrophone
	Video         bool             // announce a stream of pictures
	Key           *dave.SigningKey // shared by all connections of a user; nil creates one

	// RequireEncryption has nothing be sent that is not encrypted from end to end.
	RequireEncryption bool

	// Handle is called with each event, one call at a time. It must not block and must not call the connection.
	Handle func(Event)

	Transport  NewTransport // nil is NewUDP
	HTTPClient *http.Client // opens the sockets of the gateway; nil is the default client
	Logger     *slog.Logger // nil is silent

	// the pause before a second new try, 250 ms when zero; it doubles with each failure, up to 32 times
	MinWait   time.Duration
	MaxOutage time.Duration // for how long to try before giving up, a minute when zero

	// ReportEvery is how often senders and receivers report to each other, 5 s when zero.
	ReportEvery time.Duration

	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // why it ended; read after done is closed
	self   uint64

	receiveMu sync.Mutex // keeps received packets in order; never acquired with handling or mu held
	handleMu  sync.Mutex // one call of Handle at a time; never taken with mu held

	mu          sync.Mutex
	lastErr     error     // why the last try failed
	link        *link     // nil while there is none
	bridgeUntil time.Time // until when media continues without a link that works
	seq         int       // newest number of the gateway's messages, of the socket that was last
	session     *session
	announced   bool // Up was reported, and no Down since
	exposed     bool // EncryptionOff was reported, and no EncryptionOn since
	reportedOps map[int]bool
	stats       Stats

	paceWake chan struct{} // has one element when packets of pictures may wait
	sendMu   sync.Mutex    // of what goes out as media
	out      output
}

// session is what outlives a socket: it is resumed on the next one.
type session struct {
	ready     Ready
	described bool
	transport Transport
	dave      *dave.Session
	senders   *SenderTable
}

// errClosed is the cause of what Close cancels.
var errClosed = errors.New("the voice connection was closed")

// Open connects. It returns when the handshake with the gateway is complete; sending may still have to wait for keys,
// see [Up]. It retries until ctx ends or retrying cannot help. [ReactionTo] says what to do about the error. Open may
// be called once.
func (c *Conn) Open(ctx context.Context) error {
	self, err := strconv.ParseUint(c.Target.UserID, 10, 64)
	if err != nil {
		return fmt.Errorf("open a voice connection: the user id %q is no number", c.Target.UserID)
	}
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	c.mu.Lock()
	if c.cancel != nil {
		c.mu.Unlock()
		cancel(errClosed)
		return errors.New("open a voice connection: it was opened before")
	}
	c.cancel, c.done, c.self, c.paceWake = cancel, make(chan struct{}), self, make(chan struct{}, 1)
	c.out.reset(time.Now())
	c.initPacer()
	c.mu.Unlock()
	opened := make(chan struct{})
	go func() {
		defer close(c.done)
		var senders sync.WaitGroup
		senders.Go(func() { c.sendReports(run) })
		if c.Video {
			senders.Go(func() { c.pace(run) })
		}
		c.err = c.run(run, sync.OnceFunc(func() { close(opened) }))
		cancel(errClosed)
		senders.Wait()
	}()
	select {
	case <-opened:
		return nil
	case <-c.done:
		return c.err
	case <-ctx.Done():
		cancel(errClosed)
		<-c.done
		if errors.Is(ctx.Err(), context.Canceled) { // the caller gave up; that need not mean that it was too slow
			return context.Cause(ctx)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.lastErr != nil {
			return fmt.Errorf("no voice connection in time; the last try failed: %w", c.lastErr)
		}
		return fmt.Errorf("no voice connection in time: %w", context.Cause(ctx))
	}
}

// Done returns a channel that is closed when the connection has ended permanently. It must not be called before Open.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended: nil after Close. It must not be called before Done is closed.
func (c *Conn) Err() error {
	if errors.Is(c.err, errClosed) {
		return nil
	}
	return c.err
}

// Close disconnects and waits, at most until ctx ends, for everything that the connection started. It may be called
// twice.
func (c *Conn) Close(ctx context.Context) error {
	c.mu.Lock()
	cancel, done := c.cancel, c.done
	if cancel == nil { // it can no longer be opened
		c.cancel, c.done = func(error) {}, make(chan struct{})
		close(c.done)
	}
	c.mu.Unlock()
	if cancel == nil {
		return nil
	}
	cancel(errClosed)
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close the voice connection: %w", context.Cause(ctx))
	}
}

// Stats holds what a connection has counted.
type Stats struct {
	Sent      uint64        // packets of media
	Repeated  uint64        // video packets sent again because someone did not receive them
	Received  uint64        // packets of sound that were handed on
	Unread    uint64        // packets that could not be decrypted from end to end
	Unknown   uint64        // packets of unknown senders
	Malformed uint64        // packets and messages that could not be read
	Connects  uint64        // sockets of the gateway that were opened
	RoundTrip time.Duration // to the gateway and back; 0 before it is known
	LostSent  float64       // share of our sound that others say was lost, from 0 to 1
}

// Stats returns the counters so far.
func (c *Conn) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// PrivacyCode returns the code with which everyone in the call can verify that nobody else is in it; empty while there
// is none.
func (c *Conn) PrivacyCode() string {
	if s := c.encryption(); s != nil {
		return s.PrivacyCode()
	}
	return ""
}

func (c *Conn) encryption() *dave.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return nil
	}
	return c.session.dave
}

func (c *Conn) emit(e Event) {
	if c.Handle == nil {
		return
	}
	c.handleMu.Lock()
	defer c.handleMu.Unlock()
	c.Handle(e)
}

func (c *Conn) logger() *slog.Logger { return cmp.Or(c.Logger, slog.New(slog.DiscardHandler)) }

func (c *Conn) updateStats(add func(*Stats)) { c.locked(func() { add(&c.stats) }) }

func (c *Conn) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// sendJSON gives a message to the gateway; without a connection it is lost, and so would its meaning be.
func (c *Conn) sendJSON(op int, d any) {
	data, err := json.Marshal(outgoing{Op: op, Data: d})
	if err != nil {
		c.logger().Error("voice message could not be written", "op", op, "error", err)
		return
	}
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l != nil {
		l.send(message{data: data})
	}
}

func (c *Conn) sendBinary(op byte, data []byte) {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l != nil {
		l.send(message{binary: true, data: append([]byte{op}, data...)})
	}
}
