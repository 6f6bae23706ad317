package voicetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Sizes of what is neither media nor control.
const (
	pingSize      = 8
	discoverySize = 74
)

// Clear bytes of a control packet: what the server writes, and what it tries to read. Clients differ, see IsRTCP.
const clearRTCP = 8

// readMedia takes what comes over UDP, until the socket is closed.
func (s *Server) readMedia() {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := s.udp.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		addr, ok := from.(*net.UDPAddr)
		if err != nil || !ok {
			continue // the port of a client that has gone
		}
		s.mu.Lock()
		s.receiveMedia(bytes.Clone(buf[:n]), netip.AddrPortFrom(addr.AddrPort().Addr().Unmap(), addr.AddrPort().Port()))
		s.notify()
		s.mu.Unlock()
	}
}

func (s *Server) receiveMedia(p []byte, from netip.AddrPort) {
	switch {
	case len(p) == discoverySize && binary.BigEndian.Uint16(p) == 1:
		s.discover(p, from)
	case len(p) == pingSize:
		s.answerPing(p, from)
	case IsRTCP(p):
		s.receiveRTCP(p, from)
	default:
		s.receiveRTP(p, from)
	}
}

// discover tells a client under which address the server sees it.
func (s *Server) discover(p []byte, from netip.AddrPort) {
	if binary.BigEndian.Uint16(p[2:]) != discoverySize-4 || s.sources[binary.BigEndian.Uint32(p[4:])] == nil {
		return
	}
	if s.lostDiscoveries > 0 {
		s.lostDiscoveries--
		return
	}
	s.sources[binary.BigEndian.Uint32(p[4:])].conduct.discovered = from
	answer := make([]byte, discoverySize)
	binary.BigEndian.PutUint16(answer, 2)
	copy(answer[2:8], p[2:8])
	copy(answer[8:72], from.Addr().String())
	binary.BigEndian.PutUint16(answer[72:], from.Port())
	s.write(answer, from)
}

// The first half of a ping and of its answer.
const (
	pingMark = 0x1337cafe
	pongMark = 0x1337f00d
)

// answerPing answers the keep-alive of native clients, and returns any other of that size as it is.
func (s *Server) answerPing(p []byte, from netip.AddrPort) {
	cl := s.clientAt(from)
	if cl == nil {
		return
	}
	if binary.BigEndian.Uint32(p) == pingMark {
		binary.BigEndian.PutUint32(p, pongMark)
	}
	s.write(p, from)
}

func (s *Server) clientAt(addr netip.AddrPort) *client {
	for _, cl := range s.clients {
		if cl.addr == addr {
			return cl
		}
	}
	return nil
}

// hasGone says that an SSRC of nobody is that of somebody who has left.
func (s *Server) hasGone(ssrc uint32) bool { return ssrc > firstID && ssrc <= s.lastID }

func (s *Server) receiveRTP(p []byte, from netip.AddrPort) {
	clear, err := ClearRTP(p)
	if err != nil || p[0]>>6 != 2 {
		s.recordViolation(ClientID{}, fmt.Sprintf("no packet of RTP: %d bytes", len(p)))
		return
	}
	ssrc := binary.BigEndian.Uint32(p[8:])
	cl := s.sources[ssrc]
	if cl == nil && s.hasGone(ssrc) {
		return
	}
	if cl == nil || cl.box == nil {
		s.recordViolation(ClientID{}, fmt.Sprintf("media of SSRC %d, which nobody has", ssrc))
		return
	}
	plain, counter, err := cl.box.Open(p, clear)
	switch {
	case err != nil:
		s.recordViolation(cl.seat, "media that does not open")
		return
	case !cl.conduct.nonces.spend(counter):
		s.recordViolation(cl.seat, fmt.Sprintf("the nonce %d twice", counter))
		return
	}
	cl.addr = from
	s.handleRTP(cl, ssrc, plain)
}

// handleRTP deals with a packet of media that was opened.
func (s *Server) handleRTP(cl *client, ssrc uint32, plain []byte) {
	cl.counts.Received++
	s.checkPacket(cl, ssrc, plain)
	if !cl.announced(ssrc) {
		s.bufferEarly(cl, ssrc, plain)
		return
	}
	s.forwardAll(cl, ssrc, plain)
}

// announced tells whether the client has said that it sends: sound by op 5, video by op 12.
func (cl *client) announced(ssrc uint32) bool {
	if ssrc == cl.audio {
		return cl.speaking != nil
	}
	return cl.camera != nil
}

// maxEarlyPackets is how many packets may overtake the message that announces them, which comes another way.
const maxEarlyPackets = 64

func (s *Server) bufferEarly(cl *client, ssrc uint32, plain []byte) {
	if len(cl.early) < maxEarlyPackets {
		cl.early = append(cl.early, plain)
		return
	}
	if ssrc == cl.audio {
		s.recordViolation(cl.seat, "sound before op 5")
	} else {
		s.recordViolation(cl.seat, "video before op 12")
	}
}

// sendEarly forwards what has overtaken its announcement.
func (s *Server) sendEarly(cl *client) {
	early := cl.early
	cl.early = nil
	for _, p := range early {
		if ssrc := binary.BigEndian.Uint32(p[8:]); cl.announced(ssrc) {
			s.forwardAll(cl, ssrc, p)
		} else {
			cl.early = append(cl.early, p)
		}
	}
}

func (s *Server) forwardAll(cl *client, ssrc uint32, plain []byte) {
	for _, other := range s.others(cl) {
		if ssrc == cl.audio || other.wantOf(cl.video) > 0 { // what is sent again goes to those who want the pictures
			s.forward(other, plain)
		}
	}
}

func (s *Server) receiveRTCP(p []byte, from netip.AddrPort) {
	cl := s.clientAt(from)
	if ssrc := binary.BigEndian.Uint32(p[4:]); cl == nil && s.sources[ssrc] == nil && s.hasGone(ssrc) {
		return
	}
	if cl == nil || cl.box == nil {
		s.recordViolation(ClientID{}, "control packets of nobody")
		return
	}
	plain, counter, err := cl.box.Open(p, clearRTCP)
	if err != nil {
		plain, counter, err = cl.box.Open(p, 4)
	}
	switch {
	case err != nil:
		s.recordViolation(cl.seat, "a control packet that does not open")
		return
	case !cl.conduct.nonces.spend(counter):
		s.recordViolation(cl.seat, fmt.Sprintf("the nonce %d twice, for a control packet", counter))
		return
	}
	s.handleRTCP(cl, plain)
}

// handleRTCP deals with control packets that were opened.
func (s *Server) handleRTCP(cl *client, plain []byte) {
	s.rtcp = append(s.rtcp, ReceivedRTCP{Seat: cl.seat, Packet: slices.Clone(plain)})
	if len(s.rtcp) > keptRTCP {
		s.rtcp = slices.Delete(s.rtcp, 0, len(s.rtcp)-keptRTCP)
	}
	for _, other := range s.others(cl) {
		if concerns(plain, other) {
			s.writeRTCP(other, plain)
		}
	}
}

// concerns tells whether a control packet is for the client: reports of a sender are for all, feedback is for the
// source that it names.
func concerns(p []byte, cl *client) bool {
	const senderReport, sourceDescription, goodbye = 200, 202, 203
	switch p[1] {
	case senderReport, sourceDescription, goodbye:
		return true
	}
	if len(p) < 12 {
		return false
	}
	ssrc := binary.BigEndian.Uint32(p[8:])
	return ssrc != 0 && (ssrc == cl.audio || ssrc == cl.video || ssrc == cl.rtx)
}

// keptRTCP is how many control packets are kept.
const keptRTCP = 256

// A ReceivedRTCP is a packet of RTCP that a client sent, opened.
type ReceivedRTCP struct {
	Seat   ClientID
	Packet []byte
}

// RTCP lists the last control packets of clients.
func (s *Server) RTCP() []ReceivedRTCP {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rtcp)
}

// SendRTCP sends a client a control packet, which has eight bytes at least.
func (s *Server) SendRTCP(seat ClientID, packet []byte) error {
	if !IsRTCP(packet) {
		return fmt.Errorf("send a control packet: %x is none", packet)
	}
	return s.withClient(seat, func(cl *client) { s.writeRTCP(cl, packet) })
}

func (s *Server) writeRTCP(to *client, plain []byte) {
	switch {
	case to.peer != nil:
		_ = to.peer.WriteRTCP(plain) // what is lost on the way is lost
	case to.box != nil:
		s.write(to.box.Seal(plain, clearRTCP), to.addr)
	}
}

// SendUDP sends any bytes from the media port to a client.
func (s *Server) SendUDP(seat ClientID, data []byte) error {
	return s.withClient(seat, func(cl *client) { s.write(slices.Clone(data), cl.addr) })
}

// write sends now. What is lost on the way is lost.
func (s *Server) write(p []byte, to netip.AddrPort) {
	if to.IsValid() {
		_, _ = s.udp.WriteTo(p, net.UDPAddrFromAddrPort(to))
	}
}
