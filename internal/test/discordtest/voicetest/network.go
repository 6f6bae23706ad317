package voicetest

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

// NetworkFaults are faults of media packets from the server to a client. Shares are between 0 and 1. Control packets
// and discovery are not affected.
type NetworkFaults struct {
	Loss      float64
	Duplicate float64
	Reorder   float64       // share of packets that arrive after the following one
	Delay     time.Duration // of each packet
	Jitter    time.Duration // maximum random additional delay
	// Dress adds a header extension and padding to packets without them, as native clients do.
	Dress bool
}

// longestHold is how long a packet waits to be overtaken. After that it counts as lost.
const longestHold = 2 * time.Second

// SetNetwork changes the faults from now on.
func (s *Server) SetNetwork(n NetworkFaults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.network = n
}

// forward sends a media packet, encrypted for one client, with the faults applied. The caller holds the lock.
func (s *Server) forward(to *client, plain []byte) {
	if to.box == nil {
		return // WebRTC
	}
	n := s.network
	if s.dice.Float64() < n.Loss {
		to.counts.Lost++
		return
	}
	if n.Dress {
		plain = addExtensionAndPadding(plain)
	}
	clear, err := ClearRTP(plain)
	if err != nil {
		return // it was checked when it arrived
	}
	sealed := to.box.Seal(plain, clear)
	delay := n.Delay
	if n.Jitter > 0 {
		delay += time.Duration(s.dice.Int64N(int64(n.Jitter)))
	}
	packet := latePacket{to: to.addr, data: sealed, due: time.Now().Add(delay)}
	if to.held != nil && time.Since(to.held.due) > longestHold {
		to.held = nil
		to.counts.Lost++
	}
	if s.dice.Float64() < n.Reorder && to.held == nil {
		to.held = &packet
		return
	}
	s.sendAfter(packet, delay)
	if s.dice.Float64() < n.Duplicate {
		s.sendAfter(packet, delay)
	}
	if to.held != nil {
		s.sendAfter(*to.held, delay)
		to.held = nil
	}
}

// sendAfter sends a packet now or later.
func (s *Server) sendAfter(p latePacket, delay time.Duration) {
	if delay == 0 {
		s.write(p.data, p.to)
		return
	}
	p.due = time.Now().Add(delay)
	late := func(other latePacket) bool { return other.due.After(p.due) }
	at := slices.IndexFunc(s.post.packets, late)
	if at < 0 {
		at = len(s.post.packets)
	}
	s.post.packets = slices.Insert(s.post.packets, at, p)
	select {
	case s.post.wake <- struct{}{}:
	default:
	}
}

// addExtensionAndPadding adds an extension (RFC 8285, audio level) and padding to a packet without them.
func addExtensionAndPadding(p []byte) []byte {
	if p[0]&0x30 != 0 {
		return p
	}
	head := 12 + 4*int(p[0]&0x0f)
	if len(p) < head {
		return p
	}
	out := make([]byte, 0, len(p)+12)
	out = append(out, p[:head]...)
	out[0] |= 0x30
	out = append(out, 0xbe, 0xde, 0, 1, 1<<4, 0x30, 0, 0)
	out = append(out, p[head:]...)
	return append(out, 0, 0, 0, 4)
}

// post holds the packets in transit, guarded by the server's lock.
type post struct {
	packets []latePacket  // ordered by due time
	wake    chan struct{} // capacity 1
}

type latePacket struct {
	due  time.Time
	to   netip.AddrPort
	data []byte
}

// deliverLate sends packets when they are due.
func (s *Server) deliverLate(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.post.wake:
		case <-timer.C:
		}
		s.mu.Lock()
		now := time.Now()
		for len(s.post.packets) > 0 && !s.post.packets[0].due.After(now) {
			s.write(s.post.packets[0].data, s.post.packets[0].to)
			s.post.packets = s.post.packets[1:]
		}
		if len(s.post.packets) > 0 {
			timer.Reset(s.post.packets[0].due.Sub(now))
		}
		s.mu.Unlock()
	}
}
