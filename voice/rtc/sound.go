package rtc

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"clank/voice"
)

const (
	frameTicks = 960                    // of one packet of ours at 48 kHz
	pauseAfter = 100 * time.Millisecond // without a packet: what follows is a new stretch of speech
	hushFrames = 5
)

// silence is an Opus packet of 20 ms without sound.
var silence = []byte{0xf8, 0xff, 0xfe}

// sound is what the page hears of us.
type sound struct {
	track  *webrtc.TrackLocalStaticRTP
	sender *webrtc.RTPSender

	mu   sync.Mutex
	seq  uint16
	next uint32    // timestamp of the next packet if it follows at once
	last time.Time // when the last was sent
}

func newSound(pc *webrtc.PeerConnection) (*sound, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(opusCodec, "sound", "clank")
	if err != nil {
		return nil, fmt.Errorf("make the track of sound: %w", err)
	}
	sender, err := pc.AddTrack(track)
	if err != nil {
		return nil, fmt.Errorf("add the track of sound: %w", err)
	}
	return &sound{track: track, sender: sender}, nil
}

// drain reads what the page reports, which must be read for the rest to work, until the connection has ended.
func (s *sound) drain() {
	buf := make([]byte, 1500)
	for {
		if _, _, err := s.sender.Read(buf); err != nil {
			return
		}
	}
}

func (s *sound) send(opus []byte, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	begins := s.last.IsZero()
	if gap := now.Sub(s.last); !begins && gap > pauseAfter {
		begins = true
		s.next += uint32(gap/voice.FrameTime-1) * frameTicks //nolint:gosec // wraps, as timestamps do
	}
	s.last = now
	p := rtp.Packet{Header: rtp.Header{Version: 2, Marker: begins, SequenceNumber: s.seq, Timestamp: s.next}, Payload: opus}
	s.seq++
	s.next += frameTicks
	if err := s.track.WriteRTP(&p); err != nil {
		return fmt.Errorf("send sound to the page: %w", err)
	}
	return nil
}

// Play sends one Opus packet of [voice.FrameTime]; see [voice.Line]. It returns [voice.ErrMute] while the connection is not up.
func (c *Conn) Play(opus []byte) error {
	if !c.up.Load() {
		return voice.ErrMute
	}
	return c.sound.send(opus, time.Now())
}

// Hush sends five packets of silence.
func (c *Conn) Hush() error {
	for range hushFrames {
		if err := c.Play(silence); err != nil {
			return err
		}
	}
	return nil
}

// hear hands on what the page's microphone sends until the connection has ended.
func (c *Conn) hear(track *webrtc.TrackRemote) {
	if track.Kind() != webrtc.RTPCodecTypeAudio {
		return
	}
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		if len(p.Payload) == 0 || c.peer.Hear == nil {
			continue
		}
		c.peer.Hear(voice.Packet{
			Sequence: p.SequenceNumber, Timestamp: p.Timestamp, Opus: slices.Clone(p.Payload), At: time.Now(),
		})
	}
}
