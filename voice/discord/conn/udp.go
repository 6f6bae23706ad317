package conn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"clank/cancel"
)

// Transport carries packets between us and a voice server. Each session has its own: Select, then Start, then any
// number of calls of Send, then Close. Send and Close may be called concurrently.
type Transport interface {
	// Select prepares for what the gateway offers and returns the answer (op 1).
	Select(ctx context.Context, r Ready) (protocol string, data any, err error)

	// Start begins with what the gateway has settled.
	Start(ctx context.Context, d Description) error

	// Send sends a packet of RTP or RTCP. It does not keep it.
	Send(packet []byte) error

	// Close ends what the transport has started and waits for it.
	Close() error
}

// SourceTransport is a [Transport] that chooses its own sources, which are known once it has started; 0 keeps the
// gateway's. It retransmits lost packets itself.
type SourceTransport interface {
	Sources() (video, rtx uint32)
}

// NewTransport creates a transport. It calls received for each RTP or RTCP packet, decrypted, from one goroutine; the
// packet belongs to the receiver. It calls failed once if it cannot continue.
type NewTransport func(received func(packet []byte), failed func(error)) Transport

const (
	discoverySize  = 74
	discoveryTries = 5
	discoveryWait  = 700 * time.Millisecond // for one answer
	keepAliveEvery = 5 * time.Second
	keepAliveMagic = 0x1337CAFE
	pingSize       = 8
	maxPacket      = 2048
	maxReadErrors  = 50 // in a row
	maxUnanswered  = 4  // keep-alives in a row
	socketBuffer   = 1 << 20
)

// udp is the transport of calls: encrypted packets, and Discord's discovery of the address under which we are seen.
type udp struct {
	received func([]byte)
	failed   func(error)
	ssrc     uint32
	mode     string
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	conn     net.Conn
	cipher   *Cipher
	answered atomic.Bool // something arrived since the last keep-alive
	answers  atomic.Bool // the server answers keep-alives
	every    time.Duration
	done     chan struct{}
	close    func() error
	wg       sync.WaitGroup

	mu  sync.Mutex
	buf []byte // of Send
}

// NewUDP returns the transport that Discord documents for bots.
func NewUDP(received func([]byte), failed func(error)) Transport {
	return NewUDPWithDialer((&net.Dialer{}).DialContext)(received, failed)
}

// NewUDPWithDialer returns the constructor of the same transport over another network, whose connections carry
// datagrams.
func NewUDPWithDialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) NewTransport {
	return func(received func([]byte), failed func(error)) Transport { return newUDP(dial, received, failed) }
}

func newUDP(dial func(context.Context, string, string) (net.Conn, error), received func([]byte),
	failed func(error),
) *udp {
	u := &udp{received: received, failed: failed, dial: dial, every: keepAliveEvery, done: make(chan struct{})}
	u.close = sync.OnceValue(func() error {
		close(u.done)
		var err error
		if u.conn != nil {
			err = u.conn.Close()
		}
		u.wg.Wait()
		return err
	})
	return u
}

// Select implements [Transport]: it opens the socket and asks the server for our address.
func (u *udp) Select(ctx context.Context, r Ready) (string, any, error) {
	mode, err := ChooseMode(r.Modes)
	if err != nil {
		return "", nil, err
	}
	conn, err := u.dial(ctx, "udp", net.JoinHostPort(r.IP, strconv.Itoa(r.Port)))
	if err != nil {
		return "", nil, fmt.Errorf("open a socket to the voice server: %w", err)
	}
	u.ssrc, u.mode, u.conn = r.SSRC, mode, conn
	if socket, ok := conn.(*net.UDPConn); ok {
		_ = socket.SetReadBuffer(socketBuffer)  // what the system grants
		_ = socket.SetWriteBuffer(socketBuffer) // pictures are sent in bursts
	}
	seen, err := u.discover(ctx)
	if err != nil {
		return "", nil, err
	}
	return "udp", map[string]any{"address": seen.Addr().String(), "port": seen.Port(), "mode": mode}, nil
}

// discover asks for our address as the server sees it. Questions and answers may be lost.
func (u *udp) discover(ctx context.Context) (netip.AddrPort, error) {
	defer context.AfterFunc(ctx, func() { _ = u.conn.SetReadDeadline(time.Unix(1, 0)) })()
	ask, buf := discoveryRequest(u.ssrc), make([]byte, maxPacket)
	for range discoveryTries {
		if _, err := u.conn.Write(ask); err != nil && ctx.Err() == nil {
			return netip.AddrPort{}, fmt.Errorf("ask the voice server for our address: %w", err)
		}
		until := time.Now().Add(discoveryWait)
		for {
			_ = u.conn.SetReadDeadline(until)
			if ctx.Err() != nil { // ctx may have ended before the deadline was set
				return netip.AddrPort{}, fmt.Errorf("ask the voice server for our address: %w", context.Cause(ctx))
			}
			n, err := u.conn.Read(buf)
			if err != nil {
				break
			}
			if seen, ok := discoveryAnswer(buf[:n], u.ssrc); ok {
				_ = u.conn.SetReadDeadline(time.Time{})
				return seen, nil
			}
		}
		// A closed port fails at once; do not ask faster for that.
		if err := cancel.Sleep(ctx, time.Until(until)); err != nil {
			return netip.AddrPort{}, fmt.Errorf("ask the voice server for our address: %w", err)
		}
	}
	return netip.AddrPort{}, fmt.Errorf("the voice server at %s does not answer over UDP; a firewall may keep clank "+
		"from sending UDP or hearing answers", u.conn.RemoteAddr())
}

func discoveryRequest(ssrc uint32) []byte {
	ask := make([]byte, discoverySize)
	binary.BigEndian.PutUint16(ask, 1)
	binary.BigEndian.PutUint16(ask[2:], discoverySize-4)
	binary.BigEndian.PutUint32(ask[4:], ssrc)
	return ask
}

// discoveryAnswer reads an answer to discoveryRequest; anything else is not ok.
func discoveryAnswer(packet []byte, ssrc uint32) (netip.AddrPort, bool) {
	if len(packet) != discoverySize || binary.BigEndian.Uint16(packet) != 2 ||
		binary.BigEndian.Uint32(packet[4:]) != ssrc {
		return netip.AddrPort{}, false
	}
	text, _, _ := bytes.Cut(packet[8:discoverySize-2], []byte{0})
	addr, err := netip.ParseAddr(string(text))
	port := binary.BigEndian.Uint16(packet[discoverySize-2:])
	return netip.AddrPortFrom(addr, port), err == nil && port != 0
}

func (u *udp) Start(_ context.Context, d Description) error {
	if u.conn == nil || u.cipher != nil {
		return errors.New("the gateway settled the transport out of order")
	}
	if d.Mode != u.mode {
		return fmt.Errorf("the gateway settled on the encryption %q, though clank chose %q", d.Mode, u.mode)
	}
	c, err := NewCipher(d.Mode, d.Key)
	if err != nil {
		return err
	}
	u.cipher = c
	u.wg.Go(u.read)
	u.wg.Go(u.keepAlive)
	return nil
}

// read delivers packets until the socket is closed. A refused port is reported as a read error and may recover.
func (u *udp) read() {
	buf, guard := make([]byte, maxPacket), new(replayGuard)
	for bad := 0; ; {
		n, err := u.conn.Read(buf)
		select {
		case <-u.done:
			return
		default:
		}
		if err != nil {
			if bad++; bad > maxReadErrors || errors.Is(err, net.ErrClosed) {
				u.failed(fmt.Errorf("read from the voice server: %w", err))
				return
			}
			continue
		}
		bad = 0
		u.answered.Store(true)
		if n == pingSize {
			u.answers.Store(true)
		}
		if plain, err := u.cipher.Open(make([]byte, 0, n), buf[:n]); err == nil && !guard.repeated(buf[:n], plain) {
			u.received(plain) // the rest are answers to keep-alives, and foreign packets
		}
	}
}

// keepAlive keeps NAT mappings open and notices when one was lost: nothing arrives any more from a server that used to
// answer.
func (u *udp) keepAlive() {
	tick := time.Tick(u.every)
	ping := binary.BigEndian.AppendUint32(nil, keepAliveMagic)
	ping = append(ping, make([]byte, pingSize-len(ping))...)
	for n, silent := uint32(0), 0; ; n++ {
		if silent++; u.answered.Swap(false) {
			silent = 0
		}
		if silent > maxUnanswered && u.answers.Load() {
			u.failed(errors.New("the voice server does not answer over UDP any more"))
			return
		}
		binary.BigEndian.PutUint32(ping[4:], n)
		_, _ = u.conn.Write(ping) // the next one may get through
		select {
		case <-tick:
		case <-u.done:
			return
		}
	}
}

func (u *udp) Send(packet []byte) error {
	if u.cipher == nil {
		return errors.New("the transport has not started")
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	sealed, err := u.cipher.Seal(u.buf[:0], packet)
	if err != nil {
		return err
	}
	u.buf = sealed
	if _, err := u.conn.Write(sealed); err != nil {
		return fmt.Errorf("send to the voice server: %w", err)
	}
	return nil
}

func (u *udp) Close() error { return u.close() }
