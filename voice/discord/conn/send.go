package conn

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"clank/voice"
	"clank/voice/discord/dave"

	"github.com/pion/rtp"
)

const (
	opusTicks    = 960 // of 20 ms at 48 kHz
	silenceCount = 5
	speechGap    = 100 * time.Millisecond // between packets; longer gaps show in the timestamps
	videoClock   = 90000
)

// output is what we send; guarded by Conn.sending.
type output struct {
	sound, video     track
	speaking, marked bool
	speakingSent     bool      // the session knows whether we speak
	last             time.Time // when the last packet of sound went
	began            time.Time
	format           Format
	showing          bool
	pacer            Pacer[*session] // of pictures
	buf              []byte
}

type track struct {
	sequence  uint16
	timestamp uint32
	at        time.Time // of timestamp
	packets   uint32
	octets    uint32
	reported  uint32 // packets when the last report went
}

func (o *output) reset(now time.Time) {
	random := func() track {
		return track{sequence: uint16(rand.Uint32()), timestamp: rand.Uint32()} //nolint:gosec // any bits will do
	}
	o.sound, o.video, o.began = random(), random(), now
}

// SendAudio sends one Opus packet of 20 ms. It is [voice.ErrUnavailable] while nothing can be sent: no connection, or
// no keys yet.
func (c *Conn) SendAudio(opus []byte) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	s := c.sendable()
	if s == nil {
		return voice.ErrUnavailable
	}
	frame, err := s.dave.Encrypt(dave.Opus, opus)
	if err != nil {
		return voice.ErrUnavailable
	}
	now := time.Now()
	t := &c.out.sound
	if gap := now.Sub(c.out.last); !c.out.last.IsZero() && gap > speechGap {
		t.timestamp += uint32(gap/voice.FrameTime-1) * opusTicks //nolint:gosec // timestamps wrap
	}
	if !c.out.speaking {
		if c.attended() == nil {
			return voice.ErrUnavailable // a speaking state must be sent first
		}
		c.out.speaking, c.out.marked = true, true
		c.sendSpeaking(s, c.speakingFlags())
	}
	c.out.last = now
	h := rtp.Header{
		Version: 2, Marker: c.out.marked, PayloadType: typeOpus, SequenceNumber: t.sequence,
		Timestamp: t.timestamp, SSRC: s.ready.SSRC,
	}
	c.out.marked = false
	err = c.sendSound(s, t, h, frame, now)
	t.timestamp += opusTicks
	return err
}

// EndSpeech ends an utterance: it sends packets of silence, so that decoders stop, and the speaking state.
func (c *Conn) EndSpeech() error {
	c.sendMu.Lock()
	spoke := c.out.speaking
	c.sendMu.Unlock()
	if !spoke {
		return nil
	}
	var failed error
	for range silenceCount {
		if err := c.SendAudio(voice.OpusSilence[:]); err != nil {
			failed = err
		}
	}
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	c.out.speaking = false
	if s := c.attended(); s != nil {
		c.sendSpeaking(s, 0)
	}
	return failed
}

// Format describes our pictures before they are sent.
type Format struct {
	Width, Height int
	Rate          int // frames a second, at most
	Bitrate       int // bits a second, at most
}

// ShowVideo announces video; [Conn.Video] must be set. After a reconnect it is announced again.
func (c *Conn) ShowVideo(f Format) {
	c.sendMu.Lock()
	c.out.format, c.out.showing = f, true
	c.sendMu.Unlock()
	c.announceVideo()
}

// announceVideo sends op 12, and op 5 before the first pictures.
func (c *Conn) announceVideo() {
	if !c.Video {
		return
	}
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	s := c.attended()
	if s == nil {
		return
	}
	m := videoState{Streams: []stream{}}
	if ssrc, rtx := s.ready.VideoSSRCs(); c.out.showing && ssrc != 0 {
		if !c.out.speaking {
			c.out.speaking = true
			c.sendSpeaking(s, c.speakingFlags())
		}
		f := c.out.format
		m = videoState{AudioSSRC: s.ready.SSRC, VideoSSRC: ssrc, RTXSSRC: rtx, Streams: []stream{{
			Type: "video", RID: "100", SSRC: ssrc, RTX: rtx, Active: true, Quality: 100, MaxBitrate: f.Bitrate, MaxRate: f.Rate,
			MaxSize: &resolution{Type: "fixed", Width: f.Width, Height: f.Height},
		}}}
	}
	c.sendJSON(opVideo, m)
}

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

// send passes a packet with payload bytes after its header to the transport. A network that does not accept it may
// accept the next one.
func (c *Conn) send(s *session, t *track, packet []byte, payload int, at time.Time) error {
	if err := s.transport.Send(packet); err != nil {
		c.logger().Debug("packet was not sent", "error", err)
		return voice.ErrUnavailable
	}
	t.packets++
	t.octets += uint32(payload) //nolint:gosec // counters of reports wrap
	t.at = at
	c.updateStats(func(s *Stats) { s.Sent++ })
	return nil
}

// sendable returns the session over which media is sent now; nil if there is none.
func (c *Conn) sendable() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.usableSession()
	if s == nil && c.session != nil && c.session.described && time.Now().Before(c.bridgeUntil) {
		return c.session
	}
	return s
}

// attended returns the session if its gateway listens, too.
func (c *Conn) attended() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usableSession()
}

func (c *Conn) speakingFlags() int { return cmp.Or(c.SpeakingFlags, SpeakingMicrophone) }

func (c *Conn) sendSpeaking(s *session, mask int) {
	c.out.speakingSent = true
	c.sendJSON(opSpeaking, speaking{Speaking: mask, SSRC: s.ready.SSRC})
}
