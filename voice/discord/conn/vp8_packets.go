package conn

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/pion/rtp"
)

const (
	maxVideoPacket = 1200 // bytes of a packet of pictures, before encryption
	descriptorSize = 4    // bytes of VP8's, with a picture id of 15 bits
)

// MaxVideoFrame is the most bytes that a frame may have.
const MaxVideoFrame = 2 << 20

// VideoFrame is one frame of VP8, as it is to be sent: encrypted from end to end where that is wanted.
type VideoFrame struct {
	Data      []byte
	SSRC      uint32
	RTX       uint32        // the source of packets that are sent again; 0 if there is none
	Timestamp uint32        // of RTP
	DelayID   uint8         // number of the header extension that says when to play it
	Spread    time.Duration // within which it is to have gone
}

// PutFrame makes the packets of a frame, which [Pacer.SendDue] sends. If there are too many of older frames, they are given up.
func (b *Pacer[S]) PutFrame(to S, f VideoFrame, now time.Time) error {
	if len(f.Data) > MaxVideoFrame {
		return fmt.Errorf("make packets of a frame of %d bytes: it may have at most %d", len(f.Data), MaxVideoFrame)
	}
	b.switchReceiver(to)
	h := rtp.Header{Version: 2, PayloadType: b.PayloadType, Timestamp: f.Timestamp, SSRC: f.SSRC}
	if err := h.SetExtension(f.DelayID, []byte{0, 0, 0}); err != nil { // play as soon as it is there
		return fmt.Errorf("send a frame: %w", err)
	}
	b.picture = (b.picture + 1) & 0x7fff
	head := h.MarshalSize()
	room, rest := maxVideoPacket-head-descriptorSize, f.Data
	if b.unsent+(len(rest)+room-1)/room > pacerSlots {
		b.unsent = 0 // of frames that are older: this one takes their place
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

// switchReceiver makes the box that of a destination. What is left of another is forgotten: it is encrypted for others.
func (b *Pacer[S]) switchReceiver(to S) {
	if b.to != to {
		b.Clear()
		b.to = to
	}
	if b.slots == nil {
		b.slots = make([]queuedPacket, pacerSlots)
	}
}

// slot makes room for the next packet.
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
