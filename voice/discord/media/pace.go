package media

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/pion/rtcp"

	"clank/voice"
)

// A screenshot of a page with photos has 60 to 200 KB, as every picture is a whole one: up to 170 packets. Sent at once they would
// overrun what routers on the way can hold, and one lost packet is a lost picture. So they leave at a pace.
const (
	paceEvery   = 2 * time.Millisecond
	paceLeast   = 4  // packets that go each time: 19 Mbit/s
	defaultRate = 10 // frames a second, where none was announced

	boxSize   = 2048 // packets, a power of two: the largest frame has 1,793
	maxAge    = 2 * time.Second
	againWait = 15 * time.Millisecond // before a packet is sent once more again
	againRate = 500                   // packets a second that are sent again, on average
	againMost = 512                   // of them that wait or come at once
	osn       = 2                     // bytes of a packet's number in RFC 4588
)

// outbox is the packets of pictures that wait to be sent, and those that were sent last and may be asked for again. It is guarded by
// Conn.sending.
type outbox struct {
	owner    *session // whose packets they are
	slots    []kept   // by sequence number, modulo boxSize
	sequence uint16   // of the next packet that is made
	unsent   int      // packets before it that have not gone
	held     int      // packets before it that are the owner's
	due      time.Time
	next     time.Time // not before then may more go

	again   []uint16  // sequence numbers of packets that are to be sent again
	repeats uint16    // sequence number of the next of those
	left    float64   // packets that may be sent again, as of leftAt
	leftAt  time.Time // zero: as many as may be at once
}

// kept is one packet, readable.
type kept struct {
	data []byte
	head int // bytes of its header
	made time.Time
	at   time.Time // when it was last sent again
}

// of makes the outbox that of a session. What is left of another is forgotten: it is encrypted for others.
func (b *outbox) of(s *session) {
	if b.owner != s {
		b.empty()
		b.owner = s
	}
	if b.slots == nil {
		b.slots = make([]kept, boxSize)
	}
}

// empty forgets all packets. Their numbers are not used again.
func (b *outbox) empty() {
	b.unsent, b.held, b.again, b.owner = 0, 0, b.again[:0], nil
}

// slot makes room for the next packet.
func (b *outbox) slot(head, size int, now time.Time) []byte {
	k := &b.slots[b.sequence%boxSize]
	if cap(k.data) < size {
		k.data = make([]byte, size, maxRTP)
	}
	k.data, k.head, k.at, k.made = k.data[:size], head, time.Time{}, now
	b.sequence++
	b.unsent++
	b.held = min(b.held+1, boxSize)
	return k.data
}

// ask notes that a packet is wanted again (RFC 4585, generic NACK), if it has gone, and lately, and not just now again.
func (b *outbox) ask(sequence uint16, now time.Time) {
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
func (b *outbox) spend(now time.Time) bool {
	b.left = min(againMost, b.left+now.Sub(b.leftAt).Seconds()*againRate)
	b.leftAt = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// spread is the time within which a frame has gone.
func (c *Conn) spread() time.Duration {
	rate := c.out.format.Rate
	if rate <= 0 {
		rate = defaultRate
	}
	return time.Second / time.Duration(rate) / 2
}

// wake has the pacer look.
func (c *Conn) wake() {
	select {
	case c.waiting <- struct{}{}:
	default: // it will, or there is none
	}
}

// pace sends what waits in the outbox, until ctx ends.
func (c *Conn) pace(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	timer.Stop()
	for {
		select {
		case <-c.waiting:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		c.sending.Lock()
		wait, _ := c.step(time.Now()) // a packet that is lost here is like one that is lost on the way
		c.sending.Unlock()
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// step sends the packets whose turn it is, and returns how long to wait for the next ones; 0 if there are none. It is called with sending
// held.
func (c *Conn) step(now time.Time) (time.Duration, error) {
	box := &c.out.box
	if box.unsent == 0 && len(box.again) == 0 {
		return 0, nil
	}
	if s := c.sendable(); s == nil || s != box.owner {
		box.empty()
		return 0, voice.ErrMute
	}
	if wait := box.next.Sub(now); wait > 0 {
		return wait, nil
	}
	box.next = now.Add(paceEvery)
	for range min(paceLeast, len(box.again)) {
		c.repeat(box.again[0])
		box.again = box.again[1:]
	}
	n := paceLeast
	if rest := box.due.Sub(now); rest < paceEvery {
		n = box.unsent
	} else {
		steps := int(rest / paceEvery)
		n = max(n, (box.unsent+steps-1)/steps)
	}
	for range min(n, box.unsent) {
		k := &box.slots[(box.sequence-uint16(box.unsent))%boxSize] //nolint:gosec // at most boxSize
		box.unsent--
		if err := c.send(box.owner, &c.out.pictures, k.data, len(k.data)-k.head, now); err != nil {
			box.unsent = 0 // one gap is a lost frame
			return 0, err
		}
	}
	if box.unsent == 0 && len(box.again) == 0 {
		return 0, nil
	}
	return paceEvery, nil
}

// repeat sends a packet again: as RFC 4588 has it where the gateway gave a source for that, else as it was.
func (c *Conn) repeat(sequence uint16) {
	box := &c.out.box
	k := &box.slots[sequence%boxSize]
	_, rtx := box.owner.ready.VideoSSRCs()
	packet := k.data
	if rtx != 0 {
		packet = append(append(c.out.buf[:0], k.data[:k.head]...), 0, 0)
		packet = append(packet, k.data[k.head:]...)
		packet[1] = packet[1]&0x80 | typeVP8RTX
		copy(packet[k.head:], packet[2:2+osn]) // its number before
		binary.BigEndian.PutUint16(packet[2:], box.repeats)
		binary.BigEndian.PutUint32(packet[8:], rtx)
		c.out.buf = packet
	}
	box.repeats++
	if err := box.owner.transport.Send(packet); err != nil {
		c.logger().Debug("packet was not sent again", "error", err)
		return
	}
	c.note(func(s *Stats) { s.Repeated++ })
}

// missed takes what a receiver did not get. A transport that sends again by itself needs nobody to.
func (c *Conn) missed(s *session, p *rtcp.TransportLayerNack, now time.Time) {
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.out.box.owner != s {
		return // of nothing that we have sent
	}
	video, _ := s.ready.VideoSSRCs()
	if _, itself := s.transport.(Sourcer); itself || p.MediaSSRC != video {
		return
	}
	for _, pair := range p.Nacks {
		for _, sequence := range pair.PacketList() {
			c.out.box.ask(sequence, now)
		}
	}
	c.wake()
}
