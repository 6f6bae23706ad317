package voicetest

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
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
	if s.deaf > 0 {
		s.deaf--
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

func (s *Server) receiveRTP(p []byte, from netip.AddrPort) {
	clear, err := ClearRTP(p)
	if err != nil || p[0]>>6 != 2 {
		s.recordViolation(ClientID{}, fmt.Sprintf("no packet of RTP: %d bytes", len(p)))
		return
	}
	ssrc := binary.BigEndian.Uint32(p[8:])
	cl := s.sources[ssrc]
	if cl == nil && ssrc > firstID && ssrc <= s.lastID {
		return // of somebody who has just gone
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

// concerns tells whether a control packet is for the client: reports of a sender are for all, feedback is for the source
// that it names.
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

// NetworkFaults is what happens to packets of media on their way from the server to a client. Shares are from 0 to 1. Control
// packets and discovery are spared.
type NetworkFaults struct {
	Loss      float64
	Duplicate float64
	Reorder   float64       // share of packets that come after the one behind them
	Delay     time.Duration // of each packet
	Jitter    time.Duration // at most so much more, by chance
	// Dress gives packets without them a header extension and padding, as native clients send them.
	Dress bool
}

// longestHold is how long a packet waits for the one that is to overtake it. Nobody spoke meanwhile, and it counts as lost.
const longestHold = 2 * time.Second

// SetNetwork changes what the network does from now on.
func (s *Server) SetNetwork(n NetworkFaults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.network = n
}

// forward sends a packet of media, sealed for one client, over the network. The lock is held.
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
		return // it has been looked at when it came
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

// addExtensionAndPadding adds an extension (RFC 8285: audio level) and padding to a packet that has none.
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

// post is what is on its way. The server's lock guards it.
type post struct {
	packets []latePacket  // in the order in which they are due
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

// Names of the modes as they are offered and chosen.
const (
	ModeAES256GCM         = "aead_aes256_gcm_rtpsize"
	ModeXChaCha20Poly1305 = "aead_xchacha20_poly1305_rtpsize"
)

// KeySize is the length of a key of either mode, in bytes.
const KeySize = 32

// What a packet has besides what it carries.
const (
	counterSize   = 4
	rtpHeaderSize = 12 // of RTP without sources, RFC 3550
)

// ErrPacketShort says that a packet cannot hold what its head announces.
var ErrPacketShort = errors.New("the packet is too short")

// A PacketCipher seals and opens packets with one key. It is not safe for concurrent use.
type PacketCipher struct {
	aead    cipher.AEAD
	counter uint32
}

// NewPacketCipher makes a box for a mode. The key has KeySize bytes.
func NewPacketCipher(mode string, key []byte) (*PacketCipher, error) {
	switch mode {
	case ModeAES256GCM:
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("make the cipher of %s: %w", mode, err)
		}
		sealer, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("make the cipher of %s: %w", mode, err)
		}
		return &PacketCipher{aead: sealer}, nil
	case ModeXChaCha20Poly1305:
		sealer, err := chacha20poly1305.NewX(key)
		if err != nil {
			return nil, fmt.Errorf("make the cipher of %s: %w", mode, err)
		}
		return &PacketCipher{aead: sealer}, nil
	default:
		return nil, fmt.Errorf("no such mode: %q", mode)
	}
}

// Seal returns the packet as it goes over the wire. The first clear bytes stay readable.
func (b *PacketCipher) Seal(packet []byte, clear int) []byte {
	b.counter++
	nonce := make([]byte, b.aead.NonceSize())
	binary.BigEndian.PutUint32(nonce, b.counter)
	out := make([]byte, clear, len(packet)+b.aead.Overhead()+counterSize)
	copy(out, packet[:clear])
	out = b.aead.Seal(out, nonce, packet[clear:], packet[:clear])
	return append(out, nonce[:counterSize]...)
}

// Open returns a packet of the wire as it was before Seal, and its counter. The packet is left as it is.
func (b *PacketCipher) Open(packet []byte, clear int) ([]byte, uint32, error) {
	if len(packet) < clear+b.aead.Overhead()+counterSize {
		return nil, 0, ErrPacketShort
	}
	sealed, counter := packet[clear:len(packet)-counterSize], packet[len(packet)-counterSize:]
	nonce := make([]byte, b.aead.NonceSize())
	copy(nonce, counter)
	out := make([]byte, clear, len(packet))
	copy(out, packet[:clear])
	out, err := b.aead.Open(out, nonce, sealed, packet[:clear])
	if err != nil {
		return nil, 0, fmt.Errorf("open a packet: %w", err)
	}
	return out, binary.BigEndian.Uint32(counter), nil
}

// ClearRTP tells how many bytes of an RTP packet stay readable: the header, the contributing sources, and of an
// extension only the four bytes that begin it.
func ClearRTP(packet []byte) (int, error) {
	if len(packet) < rtpHeaderSize {
		return 0, ErrPacketShort
	}
	n := rtpHeaderSize + 4*int(packet[0]&0x0f)
	if packet[0]&0x10 != 0 {
		n += 4
	}
	if len(packet) < n {
		return 0, ErrPacketShort
	}
	return n, nil
}

// IsRTCP tells the control packets (RFC 3550, RFC 4585) from the media on the same socket.
func IsRTCP(packet []byte) bool {
	return len(packet) >= 8 && packet[0]>>6 == 2 && packet[1] >= 200 && packet[1] <= 207
}

// clientConduct is what is remembered of a client, to tell when it does what the real service would not take, or what nobody may do.
type clientConduct struct {
	discovered netip.AddrPort // what the client was told about itself
	nonces     nonces
	tracks     map[uint32]track // by SSRC
	plain      bool             // it has been told that sound may go without end-to-end encryption
}

// nonces are the last ones that a client has used with its key. For sound, pictures and control packets they are one row.
type nonces struct {
	used  map[uint32]bool
	order []uint32
}

// keptNonces is how many are remembered.
const keptNonces = 4096

// spend notes a nonce. It reports whether it is a new one.
func (n *nonces) spend(nonce uint32) bool {
	if n.used[nonce] {
		return false
	}
	if n.used == nil {
		n.used = map[uint32]bool{}
	}
	n.used[nonce] = true
	if n.order = append(n.order, nonce); len(n.order) > keptNonces {
		delete(n.used, n.order[0])
		n.order = n.order[1:]
	}
	return true
}

// track is the last packet of a source.
type track struct {
	sequence  uint16
	timestamp uint32
}

// checkPacket looks at a packet of media that was opened.
func (s *Server) checkPacket(cl *client, ssrc uint32, p []byte) {
	if payload := int(p[1] & 0x7f); !slices.Contains(cl.payloads(ssrc), payload) {
		s.recordViolation(cl.seat, fmt.Sprintf("payload type %d on SSRC %d, and %v would be right", payload, ssrc, cl.payloads(ssrc)))
	}
	if cl.peer == nil { // WebRTC sends packets again
		s.checkTrack(cl, ssrc, track{binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint32(p[4:])})
	}
	if cl.chosen > 0 && !cl.conduct.plain && ssrc != cl.rtx && wholeFrame(cl, ssrc, p) && !isEncrypted(cl, ssrc, p) {
		s.recordViolation(cl.seat, fmt.Sprintf("a frame on SSRC %d that is not encrypted from end to end", ssrc))
	}
}

// checkTrack holds a source to sequence numbers that rise and to timestamps that do not fall. Loopback keeps the order.
func (s *Server) checkTrack(cl *client, ssrc uint32, now track) {
	last, there := cl.conduct.tracks[ssrc]
	if there && int16(now.sequence-last.sequence) <= 0 {
		s.recordViolation(cl.seat, fmt.Sprintf("sequence number %d after %d on SSRC %d", now.sequence, last.sequence, ssrc))
	}
	if there && ssrc != cl.rtx && int32(now.timestamp-last.timestamp) < 0 { // what is sent again is of any time
		s.recordViolation(cl.seat, fmt.Sprintf("timestamp %d after %d on SSRC %d", now.timestamp, last.timestamp, ssrc))
	}
	if cl.conduct.tracks == nil {
		cl.conduct.tracks = map[uint32]track{}
	}
	cl.conduct.tracks[ssrc] = now
}

// opusPayloadType is the payload type of sound that every client knows.
const opusPayloadType = 120

// payloads returns the payload types that a source may have: those of its codecs. Who names none for pictures may take any.
func (cl *client) payloads(ssrc uint32) []int {
	var list []int
	for _, co := range cl.codecs {
		switch {
		case co.Type == "audio" && ssrc == cl.audio, co.Type == "video" && ssrc == cl.video:
			list = append(list, co.Payload)
		case co.Type == "video" && ssrc == cl.rtx:
			list = append(list, co.RTX)
		}
	}
	if len(list) > 0 {
		return list
	}
	if ssrc == cl.audio {
		return []int{opusPayloadType}
	}
	for payload := range 128 {
		list = append(list, payload)
	}
	return list
}

// wholeFrame tells whether a frame ends with the packet: a packet of sound is one, of pictures the last has the marker.
func wholeFrame(cl *client, ssrc uint32, p []byte) bool { return ssrc == cl.audio || p[1]&0x80 != 0 }

// Marks of frames: the end of one that is encrypted from end to end, and sound that never is.
var (
	endOfFrame = []byte{0xfa, 0xfa}
	silence    = []byte{0xf8, 0xff, 0xfe}
)

// isEncrypted tells whether a frame has the end of an encrypted one, or needs none.
func isEncrypted(cl *client, ssrc uint32, p []byte) bool {
	if p[0]&0x20 != 0 && int(p[len(p)-1]) < len(p) {
		p = p[:len(p)-int(p[len(p)-1])] // padding
	}
	return bytes.HasSuffix(p, endOfFrame) || ssrc == cl.audio && bytes.HasSuffix(p, silence)
}

// checkCodecs looks at what a client says that it can send and read.
func (s *Server) checkCodecs(cl *client, list []offeredCodec) {
	const forbidden = 96
	seen, opus := map[int]bool{}, len(list) == 0
	for _, co := range list {
		opus = opus || co.Name == "opus" && co.Type == "audio"
		if co.Type != "audio" && co.Type != "video" {
			s.recordViolation(cl.seat, fmt.Sprintf("codec %s of type %q", co.Name, co.Type))
		}
		if co.Priority <= 0 || co.Priority%1000 != 0 {
			s.recordViolation(cl.seat, fmt.Sprintf("codec %s with priority %d", co.Name, co.Priority))
		}
		for _, payload := range []int{co.Payload, co.RTX} {
			if payload == 0 && co.RTX == 0 {
				continue // sound is not sent again
			}
			if payload <= 0 || payload > 127 || payload == forbidden || seen[payload] {
				s.recordViolation(cl.seat, fmt.Sprintf("codec %s with payload type %d", co.Name, payload))
			}
			seen[payload] = true
		}
	}
	if !opus {
		s.recordViolation(cl.seat, "codecs without opus")
	}
}

// checkOrder looks at a message that makes sense only when op 4 has gone out.
func (s *Server) checkOrder(cl *client, op int) {
	if early := []int{OpSpeaking, OpVideo, OpKeyPackage, OpCommitWelcome, OpReadyForTransition, OpInvalidCommitWelcome}; !cl.ready && slices.Contains(early, op) {
		s.recordViolation(cl.seat, fmt.Sprintf("op %d before op 4", op))
	}
}
