package main

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync"
)

// packetRecorder counts the packets that went to the interface behind which nothing is.
type packetRecorder struct {
	mu     sync.Mutex
	counts map[destinationKind]int
	sample map[destinationKind]string // the first of its kind
	watch  func(packet []byte)

	stop func()
	wg   sync.WaitGroup
}

// destinationKind is what a packet's destination is.
type destinationKind string

// The kinds of destinations.
const (
	DestinationPrivate   destinationKind = "private"   // one of the addresses that nothing may leave for
	destinationMulticast destinationKind = "multicast" // multicast and broadcast: discovery, mDNS
	destinationPublic    destinationKind = "public"    // any other address
)

// Count returns how many packets of a kind were seen, and where the first of them went.
func (r *packetRecorder) Count(k destinationKind) (n int, first string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[k], r.sample[k]
}

// Watch has f called with each packet from now on, on a goroutine of the recorder's; nil ends that.
func (r *packetRecorder) Watch(f func(packet []byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = f
}

// Close ends the recorder. Its counts stay.
func (r *packetRecorder) Close() {
	r.stop()
	r.wg.Wait()
}

func (r *packetRecorder) recordPacket(packet []byte) {
	dst, ok := PacketDestination(packet)
	if !ok {
		return
	}
	kind := destinationKindOf(dst)
	r.mu.Lock()
	if r.counts[kind] == 0 {
		r.sample[kind] = dst.String()
	}
	r.counts[kind]++
	watch := r.watch
	r.mu.Unlock()
	if watch != nil {
		watch(packet)
	}
}

func destinationKindOf(a netip.Addr) destinationKind {
	a = a.Unmap()
	switch {
	case a.IsMulticast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return destinationMulticast
	case a.IsPrivate(), a.IsLoopback(), a.IsLinkLocalUnicast(), a.IsUnspecified():
		return DestinationPrivate
	}
	if slices.ContainsFunc(privateV4, func(p string) bool { return netip.MustParsePrefix(p).Contains(a) }) ||
		slices.Contains(privateV6, a.String()) {
		return DestinationPrivate
	}
	return destinationPublic
}

// PacketDestination returns where an IP packet goes (RFC 791, RFC 8200). ok is false if it is not a whole IP header. What routers and
// neighbours say to each other over ICMPv6 is left out: the kernel does that by itself.
func PacketDestination(packet []byte) (dst netip.Addr, ok bool) {
	const hopByHop, icmp = 0, 58
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(packet[16:20])), true
	case len(packet) >= 40 && packet[0]>>4 == 6 && packet[6] != icmp && packet[6] != hopByHop:
		return netip.AddrFrom16([16]byte(packet[24:40])), true
	}
	return netip.Addr{}, false
}

// transport returns the protocol of an IP packet, where it goes and what follows the IP header.
func transport(packet []byte) (protocol byte, dst netip.Addr, rest []byte, ok bool) {
	dst, ok = PacketDestination(packet)
	if !ok {
		return 0, dst, nil, false
	}
	const header6 = 40
	protocol, at := packet[6], header6
	if dst.Is4() {
		protocol, at = packet[9], int(packet[0]&0xf)*4
	}
	return protocol, dst, packet[min(at, len(packet)):], true
}

// IsMDNSPacket reports whether an IP packet is a message of multicast DNS (RFC 6762).
func IsMDNSPacket(packet []byte) bool {
	const udp, port = 17, 5353
	protocol, dst, datagram, ok := transport(packet)
	return ok && dst.IsMulticast() && protocol == udp && len(datagram) >= 8 && binary.BigEndian.Uint16(datagram[2:]) == port
}

// TCPSegment returns where an IP packet with a TCP segment goes, and what it carries (RFC 9293). ok is false for other packets.
func TCPSegment(packet []byte) (to netip.AddrPort, payload []byte, ok bool) {
	const tcp = 6
	protocol, dst, segment, ok := transport(packet)
	if !ok || protocol != tcp || len(segment) < 20 || int(segment[12]>>4)*4 > len(segment) {
		return to, nil, false
	}
	return netip.AddrPortFrom(dst, binary.BigEndian.Uint16(segment[2:])), segment[int(segment[12]>>4)*4:], true
}

func (r *packetRecorder) String() string {
	private, first := r.Count(DestinationPrivate)
	multicast, _ := r.Count(destinationMulticast)
	public, somewhere := r.Count(destinationPublic)
	text := fmt.Sprintf("packets towards the outside: private=%d multicast=%d public=%d", private, multicast, public)
	if first != "" {
		text += ", the first private one to " + first
	}
	if somewhere != "" {
		text += ", the first public one to " + somewhere
	}
	return text
}
