package outbox

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/pion/rtcp"

	"clank/voice"
)

// A screenshot of a page with photos has 60 to 200 KB, as every picture is a whole one: up to 170 packets. Sent at once they would
// overrun what routers on the way can hold, and one lost packet is a lost picture. So they leave at a pace.
const (
	paceEvery = 2 * time.Millisecond
	paceLeast = 4 // packets that go each time: 19 Mbit/s

	boxSize   = 2048 // packets, a power of two: the largest frame has 1,793
	maxAge    = 2 * time.Second
	againWait = 15 * time.Millisecond // before a packet is sent once more again
	againRate = 500                   // packets a second that are sent again, on average
	againMost = 512                   // of them that wait or come at once
	osn       = 2                     // bytes of a packet's number in RFC 4588
)

// Box is the packets of pictures that wait to be sent, and those that were sent last and may be asked for again. S is where they go:
// what was made for one is never sent to another. Set the fields, then Reset. Its methods must not be called at once.
type Box[S comparable] struct {
	// Send gives a packet, with so many bytes after its header, to where it goes. It does not keep the packet. An error is the end
	// of the frames that wait.
	Send func(to S, packet []byte, payload int, at time.Time) error

	// Again does so with a packet that was sent before, as RFC 4588 has it or as it was.
	Again func(to S, packet []byte)

	Type, AgainType uint8 // of payload

	to       S // whose packets they are
	slots    []kept
	sequence uint16 // of the next packet that is made; its slot is this modulo boxSize
	picture  uint16 // number of the last frame
	rtx      uint32 // source of what is sent again; 0 is that of the packet
	unsent   int    // packets before sequence that have not gone
	held     int    // packets before sequence that are for to
	due      time.Time
	next     time.Time // not before then may more go

	again   []uint16  // sequence numbers of packets that are to be sent again
	repeats uint16    // sequence number of the next of those
	left    float64   // packets that may be sent again, as of leftAt
	leftAt  time.Time // zero: as many as may be at once
	buf     []byte
}

// kept is one packet, readable.
type kept struct {
	data []byte
	head int // bytes of its header
	made time.Time
	at   time.Time // when it was last sent again
}

// Reset chooses where all numbers begin. It is called once, before the first frame.
func (b *Box[S]) Reset() {
	b.sequence, b.repeats = uint16(rand.Uint32()), uint16(rand.Uint32()) //nolint:gosec // any bits will do
	b.picture = uint16(rand.Uint32N(1 << 15))                            //nolint:gosec // held to 15 bits
}

// Empty forgets all packets. Their numbers are not used again.
func (b *Box[S]) Empty() {
	var none S
	b.unsent, b.held, b.again, b.to = 0, 0, b.again[:0], none
}

// For reports whether the packets that are kept go there.
func (b *Box[S]) For(to S) bool { return b.to == to }

// Waiting reports whether there is something to send.
func (b *Box[S]) Waiting() bool { return b.unsent > 0 || len(b.again) > 0 }

// Step sends the packets whose turn it is, and returns how long to wait for the next ones; 0 if there are none. What was made for
// somewhere else than to is forgotten, with [voice.ErrMute].
func (b *Box[S]) Step(to S, now time.Time) (time.Duration, error) {
	if !b.Waiting() {
		return 0, nil
	}
	if to != b.to {
		b.Empty()
		return 0, voice.ErrMute
	}
	if wait := b.next.Sub(now); wait > 0 {
		return wait, nil
	}
	b.next = now.Add(paceEvery)
	for range min(paceLeast, len(b.again)) {
		b.repeat(b.again[0])
		b.again = b.again[1:]
	}
	n := paceLeast
	if rest := b.due.Sub(now); rest < paceEvery {
		n = b.unsent
	} else {
		steps := int(rest / paceEvery)
		n = max(n, (b.unsent+steps-1)/steps)
	}
	for range min(n, b.unsent) {
		k := &b.slots[(b.sequence-uint16(b.unsent))%boxSize] //nolint:gosec // at most boxSize
		b.unsent--
		if err := b.Send(b.to, k.data, len(k.data)-k.head, now); err != nil {
			b.unsent = 0 // one gap is a lost frame
			return 0, err
		}
	}
	if !b.Waiting() {
		return 0, nil
	}
	return paceEvery, nil
}

// repeat sends a packet again: as RFC 4588 has it where there is a source for that, else as it was.
func (b *Box[S]) repeat(sequence uint16) {
	k := &b.slots[sequence%boxSize]
	packet := k.data
	if b.rtx != 0 {
		packet = append(append(b.buf[:0], k.data[:k.head]...), 0, 0)
		packet = append(packet, k.data[k.head:]...)
		packet[1] = packet[1]&0x80 | b.AgainType
		copy(packet[k.head:], packet[2:2+osn]) // its number before
		binary.BigEndian.PutUint16(packet[2:], b.repeats)
		binary.BigEndian.PutUint32(packet[8:], b.rtx)
		b.buf = packet
	}
	b.repeats++
	b.Again(b.to, packet)
}

// Ask notes which packets a receiver has not got, as a generic NACK of RFC 4585 names them. Those that have gone, and lately, and not
// just now again, wait to be sent again.
func (b *Box[S]) Ask(lost []rtcp.NackPair, now time.Time) {
	for _, pair := range lost {
		for _, sequence := range pair.PacketList() {
			b.ask(sequence, now)
		}
	}
}

func (b *Box[S]) ask(sequence uint16, now time.Time) {
	back := int(b.sequence - sequence) // 1 is the newest
	if back == 0 || back > b.held || back <= b.unsent || len(b.again) >= againMost {
		return
	}
	k := &b.slots[sequence%boxSize]
	if now.Sub(k.made) > maxAge || now.Sub(k.at) < againWait || !b.spend(now) {
		return
	}
	k.at = now
	b.again = append(b.again, sequence)
}

// spend reports whether one more packet may be sent again: nobody makes us send without end.
func (b *Box[S]) spend(now time.Time) bool {
	b.left = min(againMost, b.left+now.Sub(b.leftAt).Seconds()*againRate)
	b.leftAt = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
