package conn

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"

	"clank/voice"
)

// A screenshot of a page with photos has 60 to 200 KB, because every picture is a key frame: up to 170 packets. Sent at
// once, they would overflow the buffers of routers, and one lost packet loses the picture. So they are paced.
const (
	paceEvery      = 2 * time.Millisecond
	minPacePackets = 4 // packets that go each time: 19 Mbit/s

	pacerSlots           = 2048 // packets, a power of two: the largest frame has 1,793
	maxPacketAge         = 2 * time.Second
	resendWait           = 15 * time.Millisecond // before a packet is sent once more again
	resendRate           = 500                   // packets a second that are sent again, on average
	maxResends           = 512                   // of them that wait or are requested at once
	originalSequenceSize = 2                     // bytes of a packet's number in RFC 4588
)

// Pacer holds the video packets that wait to be sent, and those sent last, which may be requested again. S is their
// destination: packets for one destination are never sent to another. Set the fields, then Reset. Its methods must not
// be called concurrently.
type Pacer[S comparable] struct {
	// Send sends a packet, with payload bytes after its header, to its destination. It does not keep the packet. An error
	// drops the waiting frames.
	Send func(to S, packet []byte, payload int, at time.Time) error

	// Resend sends a packet again, in the form of RFC 4588 or unchanged.
	Resend func(to S, packet []byte)

	PayloadType, ResendType uint8 // of payload

	to              S // whose packets they are
	slots           []queuedPacket
	sequence        uint16 // of the next packet that is made; its slot is this modulo pacerSlots
	picture         uint16 // number of the last frame
	rtx             uint32 // source of retransmissions; 0 means that of the packet
	unsent          int    // packets before sequence that have not gone
	receiverPackets int    // packets before sequence that are for to
	due             time.Time
	next            time.Time // not before then may more go

	resends        []uint16  // sequence numbers of packets to be sent again
	resendSequence uint16    // sequence number of the next of them
	resendTokens   float64   // packets that may be sent again, as of tokensAt
	tokensAt       time.Time // zero: the maximum is available
	buf            []byte
}

type queuedPacket struct {
	data     []byte
	head     int // bytes of its header
	made     time.Time
	resentAt time.Time // when it was last sent again
}

// Reset chooses where all numbers begin. It is called once, before the first frame.
func (b *Pacer[S]) Reset() {
	b.sequence, b.resendSequence = uint16(rand.Uint32()), uint16(rand.Uint32()) //nolint:gosec // any bits will do
	b.picture = uint16(rand.Uint32N(1 << 15))                                   //nolint:gosec // held to 15 bits
}

// Clear forgets all packets. Their numbers are not used again.
func (b *Pacer[S]) Clear() {
	var none S
	b.unsent, b.receiverPackets, b.resends, b.to = 0, 0, b.resends[:0], none
}

// HoldsFor reports whether the packets that are kept go there.
func (b *Pacer[S]) HoldsFor(to S) bool { return b.to == to }

// Pending reports whether packets wait to be sent.
func (b *Pacer[S]) Pending() bool { return b.unsent > 0 || len(b.resends) > 0 }

// SendDue sends the packets that are due, and returns how long to wait for the next ones; 0 if there are none. Packets
// for other destinations than to are dropped, with [voice.ErrUnavailable].
func (b *Pacer[S]) SendDue(to S, now time.Time) (time.Duration, error) {
	if !b.Pending() {
		return 0, nil
	}
	if to != b.to {
		b.Clear()
		return 0, voice.ErrUnavailable
	}
	if wait := b.next.Sub(now); wait > 0 {
		return wait, nil
	}
	b.next = now.Add(paceEvery)
	for range min(minPacePackets, len(b.resends)) {
		b.resendPacket(b.resends[0])
		b.resends = b.resends[1:]
	}
	n := minPacePackets
	if rest := b.due.Sub(now); rest < paceEvery {
		n = b.unsent
	} else {
		steps := int(rest / paceEvery)
		n = max(n, (b.unsent+steps-1)/steps)
	}
	for range min(n, b.unsent) {
		k := &b.slots[(b.sequence-uint16(b.unsent))%pacerSlots] //nolint:gosec // at most boxSize
		b.unsent--
		if err := b.Send(b.to, k.data, len(k.data)-k.head, now); err != nil {
			b.unsent = 0 // one gap is a lost frame
			return 0, err
		}
	}
	if !b.Pending() {
		return 0, nil
	}
	return paceEvery, nil
}

// resendPacket sends a packet again: in the form of RFC 4588 if there is a source for that, else unchanged.
func (b *Pacer[S]) resendPacket(sequence uint16) {
	k := &b.slots[sequence%pacerSlots]
	packet := k.data
	if b.rtx != 0 {
		packet = append(append(b.buf[:0], k.data[:k.head]...), 0, 0)
		packet = append(packet, k.data[k.head:]...)
		packet[1] = packet[1]&0x80 | b.ResendType
		copy(packet[k.head:], packet[2:2+originalSequenceSize]) // its number before
		binary.BigEndian.PutUint16(packet[2:], b.resendSequence)
		binary.BigEndian.PutUint32(packet[8:], b.rtx)
		b.buf = packet
	}
	b.resendSequence++
	b.Resend(b.to, packet)
}

// QueueResends notes which packets a receiver has not got, as a generic NACK of RFC 4585 names them. Those that have
// gone, and lately, and not just now again, wait to be sent again.
func (b *Pacer[S]) QueueResends(lost []rtcp.NackPair, now time.Time) {
	for _, pair := range lost {
		for _, sequence := range pair.PacketList() {
			b.queueResend(sequence, now)
		}
	}
}

func (b *Pacer[S]) queueResend(sequence uint16, now time.Time) {
	back := int(b.sequence - sequence) // 1 is the newest
	if back == 0 || back > b.receiverPackets || back <= b.unsent || len(b.resends) >= maxResends {
		return
	}
	k := &b.slots[sequence%pacerSlots]
	if now.Sub(k.made) > maxPacketAge || now.Sub(k.resentAt) < resendWait || !b.takeResendToken(now) {
		return
	}
	k.resentAt = now
	b.resends = append(b.resends, sequence)
}

// takeResendToken reports whether one more packet may be sent again. It limits how much others can make us send.
func (b *Pacer[S]) takeResendToken(now time.Time) bool {
	b.resendTokens = min(maxResends, b.resendTokens+now.Sub(b.tokensAt).Seconds()*resendRate)
	b.tokensAt = now
	if b.resendTokens < 1 {
		return false
	}
	b.resendTokens--
	return true
}

const (
	maxVideoPacket = 1200 // bytes of a packet of pictures, before encryption
	descriptorSize = 4    // bytes of VP8's, with a picture id of 15 bits
)

// MaxVideoFrame is the most bytes that a frame may have.
const MaxVideoFrame = 2 << 20

// VideoFrame is one frame of VP8 as it is sent: end-to-end encrypted if necessary.
type VideoFrame struct {
	Data      []byte
	SSRC      uint32
	RTX       uint32        // source of retransmissions; 0 if there is none
	Timestamp uint32        // of RTP
	DelayID   uint8         // id of the header extension with the playout delay
	Spread    time.Duration // within which it is to have gone
}

// PutFrame splits a frame into packets, which [Pacer.SendDue] sends. If too many packets of older frames wait, these
// are dropped.
func (b *Pacer[S]) PutFrame(to S, f VideoFrame, now time.Time) error {
	if len(f.Data) > MaxVideoFrame {
		return fmt.Errorf("make packets of a frame of %d bytes: it may have at most %d", len(f.Data), MaxVideoFrame)
	}
	b.switchReceiver(to)
	h := rtp.Header{Version: 2, PayloadType: b.PayloadType, Timestamp: f.Timestamp, SSRC: f.SSRC}
	if err := h.SetExtension(f.DelayID, []byte{0, 0, 0}); err != nil { // play immediately
		return fmt.Errorf("send a frame: %w", err)
	}
	b.picture = (b.picture + 1) & 0x7fff
	head := h.MarshalSize()
	room, rest := maxVideoPacket-head-descriptorSize, f.Data
	if b.unsent+(len(rest)+room-1)/room > pacerSlots {
		b.unsent = 0 // the new frame replaces older ones
	}
	b.due, b.rtx = now.Add(f.Spread), f.RTX
	for first := true; len(rest) > 0; first = false {
		n := min(room, len(rest))
		h.SequenceNumber, h.Marker = b.sequence, n == len(rest)
		buf := b.slot(head, head+descriptorSize+n, now)
		if _, err := h.MarshalTo(buf); err != nil {
			return fmt.Errorf("write a packet: %w", err)
		}
		writeDescriptor(buf[head:], first, b.picture)
		copy(buf[head+descriptorSize:], rest)
		rest = rest[n:]
	}
	return nil
}

// switchReceiver sets the destination. Packets for another one are dropped: they are encrypted for others.
func (b *Pacer[S]) switchReceiver(to S) {
	if b.to != to {
		b.Clear()
		b.to = to
	}
	if b.slots == nil {
		b.slots = make([]queuedPacket, pacerSlots)
	}
}

func (b *Pacer[S]) slot(head, size int, now time.Time) []byte {
	k := &b.slots[b.sequence%pacerSlots]
	if cap(k.data) < size {
		k.data = make([]byte, size, maxVideoPacket)
	}
	k.data, k.head, k.resentAt, k.made = k.data[:size], head, time.Time{}, now
	b.sequence++
	b.unsent++
	b.receiverPackets = min(b.receiverPackets+1, pacerSlots)
	return k.data
}

// writeDescriptor writes the payload descriptor of RFC 7741: start of partition 0, and a picture id of 15 bits.
func writeDescriptor(to []byte, first bool, picture uint16) {
	to[0], to[1] = 0x80, 0x80
	if first {
		to[0] |= 0x10
	}
	binary.BigEndian.PutUint16(to[2:], 0x8000|picture)
}
