package endurance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// maxQueuedDatagrams is the number of datagrams queued for a reader; later ones are dropped and counted.
const maxQueuedDatagrams = 4096

// Network is an in-memory network. Its waits work with testing/synctest, so that time can be simulated.
type Network struct {
	mu        sync.Mutex
	last      uint16 // last assigned port
	listeners map[string]*listener
	sockets   map[netip.AddrPort]*Socket
	overflown int
}

// NewNetwork returns a network without sockets.
func NewNetwork() *Network {
	return &Network{last: 1024, listeners: map[string]*listener{}, sockets: map[netip.AddrPort]*Socket{}}
}

// DroppedDatagrams returns the number of datagrams that were dropped because nobody read them.
func (n *Network) DroppedDatagrams() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.overflown
}

// OpenSockets returns the number of open listeners and sockets.
func (n *Network) OpenSockets() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.listeners) + len(n.sockets)
}

// address returns an unused address. The caller holds the lock.
func (n *Network) address() netip.AddrPort {
	for {
		n.last = max(n.last+1, 1024)
		a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), n.last)
		if n.sockets[a] == nil && n.listeners[a.String()] == nil {
			return a
		}
	}
}

// Dial connects to a listener ("tcp"), or creates a connected datagram socket ("udp").
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	if network == "udp" {
		defer n.mu.Unlock()
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", address, err)
		}
		return n.socket(to), nil
	}
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: nobody listens there", address)
	}
	here, there := net.Pipe()
	select {
	case l.queue <- there:
		return here, nil
	case <-l.done:
		return nil, fmt.Errorf("dial %s: nobody listens there any more", address)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial %s: %w", address, context.Cause(ctx))
	}
}

// Listen opens a port for streams.
func (n *Network) Listen() (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &listener{
		network: n, at: net.TCPAddrFromAddrPort(n.address()), queue: make(chan net.Conn),
		done: make(chan struct{}),
	}
	n.listeners[l.at.String()] = l
	return l, nil
}

// ListenPacket opens a port for datagrams.
func (n *Network) ListenPacket() (net.PacketConn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.socket(netip.AddrPort{}), nil
}

func (n *Network) socket(to netip.AddrPort) *Socket {
	s := &Socket{network: n, at: n.address(), to: to}
	s.more = sync.NewCond(&s.mu)
	n.sockets[s.at] = s
	return s
}

type listener struct {
	network *Network
	at      *net.TCPAddr
	queue   chan net.Conn
	done    chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Addr() net.Addr { return l.at }

func (l *listener) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.network.listeners[l.at.String()] != l {
		return net.ErrClosed
	}
	delete(l.network.listeners, l.at.String())
	close(l.done)
	return nil
}

// Socket is a datagram socket. It is a [net.Conn] and a [net.PacketConn].
type Socket struct {
	network *Network
	at, to  netip.AddrPort

	mu       sync.Mutex
	more     *sync.Cond
	queue    []datagram
	closed   bool
	deadline time.Time
	timer    *time.Timer
}

type datagram struct {
	data []byte
	from netip.AddrPort
}

// ReadFrom implements [net.PacketConn].
func (s *Socket) ReadFrom(p []byte) (int, net.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return 0, nil, net.ErrClosed
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, nil, os.ErrDeadlineExceeded
		case len(s.queue) > 0:
			d := s.queue[0]
			s.queue[0] = datagram{}
			s.queue = s.queue[1:]
			return copy(p, d.data), net.UDPAddrFromAddrPort(d.from), nil
		}
		s.more.Wait()
	}
}

func (s *Socket) Read(p []byte) (int, error) {
	n, _, err := s.ReadFrom(p)
	return n, err
}

func (s *Socket) Write(p []byte) (int, error) { return s.send(p, s.to) }

// WriteTo implements [net.PacketConn].
func (s *Socket) WriteTo(p []byte, to net.Addr) (int, error) {
	a, ok := to.(*net.UDPAddr)
	if !ok {
		return 0, errors.New("send a datagram: its address is none of UDP")
	}
	return s.send(p, a.AddrPort())
}

// send queues a datagram for another socket. If there is none, it is lost as on any network.
func (s *Socket) send(p []byte, to netip.AddrPort) (int, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	s.network.mu.Lock()
	other := s.network.sockets[netip.AddrPortFrom(to.Addr().Unmap(), to.Port())]
	s.network.mu.Unlock()
	if other == nil {
		return len(p), nil
	}
	other.mu.Lock()
	full := len(other.queue) >= maxQueuedDatagrams
	if !full {
		other.queue = append(other.queue, datagram{append([]byte(nil), p...), s.at})
		other.more.Signal()
	}
	other.mu.Unlock()
	if full {
		s.network.mu.Lock()
		s.network.overflown++
		s.network.mu.Unlock()
	}
	return len(p), nil
}

// SetReadDeadline implements [net.Conn].
func (s *Socket) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.deadline = t
	if !t.IsZero() {
		s.timer = time.AfterFunc(time.Until(t), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.more.Broadcast()
		})
	}
	return nil
}

// SetWriteDeadline implements [net.Conn]; writes never block.
func (s *Socket) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements [net.Conn].
func (s *Socket) SetDeadline(t time.Time) error { return s.SetReadDeadline(t) }

// LocalAddr implements [net.Conn].
func (s *Socket) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(s.at) }

// RemoteAddr implements [net.Conn].
func (s *Socket) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(s.to) }

// Close implements [net.Conn].
func (s *Socket) Close() error {
	s.network.mu.Lock()
	delete(s.network.sockets, s.at)
	s.network.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.more.Broadcast()
	return nil
}
