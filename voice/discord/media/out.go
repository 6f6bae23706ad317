package media

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pion/rtp"

	"clank/voice"
	"clank/voice/discord/dave"
	"clank/voice/discord/media/outbox"
)

const (
	opusTicks    = 960 // of 20 ms at 48 kHz
	silenceCount = 5
	pause        = 100 * time.Millisecond // between packets; longer ones show in the timestamps
	videoClock   = 90000
)

var silence = []byte{0xf8, 0xff, 0xfe}

func isSilence(opus []byte) bool { return string(opus) == string(silence) }

// output is what we send; guarded by Conn.sending.
type output struct {
	sound, pictures  track
	speaking, marked bool
	told             bool      // the session knows whether we speak
	last             time.Time // when the last packet of sound went
	began            time.Time
	format           Format
	showing          bool
	box              outbox.Box[*session] // of pictures
	buf              []byte
}

// track is one stream of packets.
type track struct {
	sequence  uint16
	timestamp uint32
	at        time.Time // of timestamp
	packets   uint32
	octets    uint32
	reported  uint32 // packets when the last report went
}

func (o *output) reset(now time.Time) {
	random := func() track { return track{sequence: uint16(rand.Uint32()), timestamp: rand.Uint32()} } //nolint:gosec // any bits will do
	o.sound, o.pictures, o.began = random(), random(), now
}

// SendAudio sends one Opus packet of 20 ms. It is [voice.ErrMute] while nothing can be sent: no connection, or no keys yet.
func (c *Conn) SendAudio(opus []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	s := c.sendable()
	if s == nil {
		return voice.ErrMute
	}
	frame, err := s.dave.Encrypt(dave.Opus, opus)
	if err != nil {
		return voice.ErrMute
	}
	now := time.Now()
	t := &c.out.sound
	if gap := now.Sub(c.out.last); !c.out.last.IsZero() && gap > pause {
		t.timestamp += uint32(gap/voice.FrameTime-1) * opusTicks //nolint:gosec // timestamps wrap
	}
	if !c.out.speaking {
		if c.attended() == nil {
			return voice.ErrMute // who begins has to say so before
		}
		c.out.speaking, c.out.marked = true, true
		c.speak(s, c.mask())
	}
	c.out.last = now
	h := rtp.Header{Version: 2, Marker: c.out.marked, PayloadType: typeOpus, SequenceNumber: t.sequence, Timestamp: t.timestamp, SSRC: s.ready.SSRC}
	c.out.marked = false
	err = c.sendSound(s, t, h, frame, now)
	t.timestamp += opusTicks
	return err
}

// Hush says that nothing more follows: packets of silence, so that decoders do not go on, and the speaking state.
func (c *Conn) Hush() error {
	c.sending.Lock()
	spoke := c.out.speaking
	c.sending.Unlock()
	if !spoke {
		return nil
	}
	var failed error
	for range silenceCount {
		if err := c.SendAudio(silence); err != nil {
			failed = err
		}
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	c.out.speaking = false
	if s := c.attended(); s != nil {
		c.speak(s, 0)
	}
	return failed
}

// Format is what is told of our pictures before they come.
type Format struct {
	Width, Height int
	Rate          int // frames a second, at most
	Bitrate       int // bits a second, at most
}

// ShowVideo tells that pictures follow; [Conn.Video] must be set. It is told again by itself after a reconnect.
func (c *Conn) ShowVideo(f Format) {
	c.sending.Lock()
	c.out.format, c.out.showing = f, true
	c.sending.Unlock()
	c.announceVideo()
}

// HideVideo tells that no more pictures follow.
func (c *Conn) HideVideo() {
	c.sending.Lock()
	c.out.showing = false
	c.out.box.Empty()
	c.sending.Unlock()
	c.announceVideo()
}

// announceVideo sends op 12, and op 5 before the first pictures.
func (c *Conn) announceVideo() {
	if !c.Video {
		return
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	s := c.attended()
	if s == nil {
		return
	}
	m := video{Streams: []stream{}}
	if ssrc, rtx := s.ready.VideoSSRCs(); c.out.showing && ssrc != 0 {
		if !c.out.speaking {
			c.out.speaking = true
			c.speak(s, c.mask())
		}
		f := c.out.format
		m = video{AudioSSRC: s.ready.SSRC, VideoSSRC: ssrc, RTXSSRC: rtx, Streams: []stream{{
			Type: "video", RID: "100", SSRC: ssrc, RTX: rtx, Active: true, Quality: 100, MaxBitrate: f.Bitrate, MaxRate: f.Rate,
			MaxSize: &resolution{Type: "fixed", Width: f.Width, Height: f.Height},
		}}}
	}
	c.sendJSON(opVideo, m)
}

// sendSound writes a packet to the transport.
func (c *Conn) sendSound(s *session, t *track, h rtp.Header, opus []byte, at time.Time) error {
	need := h.MarshalSize() + len(opus)
	if cap(c.out.buf) < need {
		c.out.buf = make([]byte, need)
	}
	buf := c.out.buf[:need]
	n, err := h.MarshalTo(buf)
	if err != nil {
		return fmt.Errorf("write a packet: %w", err)
	}
	copy(buf[n:], opus)
	t.sequence++
	return c.send(s, t, buf, len(opus), at)
}

// send gives a packet with a payload of some bytes to the transport. A network that does not take it now may take the next one.
func (c *Conn) send(s *session, t *track, packet []byte, payload int, at time.Time) error {
	if err := s.transport.Send(packet); err != nil {
		c.logger().Debug("packet was not sent", "error", err)
		return voice.ErrMute
	}
	t.packets++
	t.octets += uint32(payload) //nolint:gosec // counters of reports wrap
	t.at = at
	c.note(func(s *Stats) { s.Sent++ })
	return nil
}

// sendable is the session over which media goes now; nil while there is none.
func (c *Conn) sendable() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.usable()
	if s == nil && c.session != nil && c.session.described && time.Now().Before(c.bridge) {
		return c.session
	}
	return s
}

// attended is the session if its gateway listens, too.
func (c *Conn) attended() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usable()
}

func (c *Conn) mask() int {
	if c.Mask == 0 {
		return MaskVoice
	}
	return c.Mask
}

func (c *Conn) speak(s *session, mask int) {
	c.out.told = true
	c.sendJSON(opSpeaking, speaking{Speaking: mask, SSRC: s.ready.SSRC})
}
