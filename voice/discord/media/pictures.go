package media

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/pion/rtp"

	"clank/voice"
	"clank/voice/discord/dave"
)

const (
	maxRTP       = 1200 // bytes of a packet of pictures, before encryption
	maxFrame     = 2 << 20
	descriptor   = 4 // bytes of VP8's, with a picture id of 15 bits
	defaultDelay = 6 // the extension's number in Discord's native clients
)

// SendVideo sends one VP8 frame that was taken at a time. It is [voice.ErrMute] while nothing can be sent. The first packets have gone when
// it returns; the rest of a large frame follows within half of the time that the announced rate leaves between two.
func (c *Conn) SendVideo(vp8 []byte, taken time.Time) error {
	if len(vp8) == 0 || len(vp8) > maxFrame {
		return fmt.Errorf("send a frame of %d bytes: it must have some, and at most %d", len(vp8), maxFrame)
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	s := c.sendable()
	if s == nil {
		return voice.ErrMute
	}
	ssrc, _ := s.ready.VideoSSRCs()
	if ssrc == 0 || !c.out.showing {
		return voice.ErrMute
	}
	frame, err := s.dave.Encrypt(dave.VP8, vp8)
	if err != nil {
		return voice.ErrMute
	}
	now := time.Now()
	if err := c.packetise(s, ssrc, frame, taken, now); err != nil {
		return err
	}
	wait, err := c.step(now)
	if wait > 0 {
		c.wake()
	}
	return err
}

// packetise puts the packets of a frame into the outbox.
func (c *Conn) packetise(s *session, ssrc uint32, frame []byte, taken, now time.Time) error {
	box := &c.out.box
	box.of(s)
	h := rtp.Header{Version: 2, PayloadType: typeVP8, Timestamp: c.out.pictures.timestamp + ticks(taken.Sub(c.out.began)), SSRC: ssrc}
	id := c.PlayoutDelayID
	if id == 0 {
		id = defaultDelay
	}
	if err := h.SetExtension(id, []byte{0, 0, 0}); err != nil { // play as soon as it is there
		return fmt.Errorf("send a frame: %w", err)
	}
	c.out.picture = (c.out.picture + 1) & 0x7fff
	head := h.MarshalSize()
	room := maxRTP - head - descriptor
	if box.unsent+(len(frame)+room-1)/room > boxSize {
		box.unsent = 0 // of frames that are older: this one takes their place
	}
	box.due = now.Add(c.spread())
	for first := true; len(frame) > 0; first = false {
		n := min(room, len(frame))
		h.SequenceNumber, h.Marker = box.sequence, n == len(frame)
		buf := box.slot(head, head+descriptor+n, now)
		if _, err := h.MarshalTo(buf); err != nil {
			return fmt.Errorf("write a packet: %w", err)
		}
		describeVP8(buf[head:], first, c.out.picture)
		copy(buf[head+descriptor:], frame)
		frame = frame[n:]
	}
	return nil
}

func ticks(d time.Duration) uint32 {
	return uint32(d.Seconds() * videoClock) // wraps after half a day
}

// describeVP8 writes the payload descriptor of RFC 7741: start of partition 0, and a picture id of 15 bits.
func describeVP8(to []byte, first bool, picture uint16) {
	to[0], to[1] = 0x80, 0x80
	if first {
		to[0] |= 0x10
	}
	binary.BigEndian.PutUint16(to[2:], 0x8000|picture)
}
