package webrtc

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"clank/voice"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

const (
	opusTicks     = 960                    // of one of our packets at 48 kHz
	speechGap     = 100 * time.Millisecond // without a packet: what follows is a new stretch of speech
	silenceFrames = 5
)

// sound is what the page hears of us.
type sound struct {
	track  *webrtc.TrackLocalStaticRTP
	sender *webrtc.RTPSender

	mu   sync.Mutex
	seq  uint16
	next uint32    // timestamp of the next packet if it follows without a gap
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

// drain reads the page's reports until the connection has ended; the library requires that.
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
	if gap := now.Sub(s.last); !begins && gap > speechGap {
		begins = true
		s.next += uint32(gap/voice.FrameTime-1) * opusTicks //nolint:gosec // wraps, as timestamps do
	}
	s.last = now
	p := rtp.Packet{
		Header:  rtp.Header{Version: 2, Marker: begins, SequenceNumber: s.seq, Timestamp: s.next},
		Payload: opus,
	}
	s.seq++
	s.next += opusTicks
	if err := s.track.WriteRTP(&p); err != nil {
		return fmt.Errorf("send sound to the page: %w", err)
	}
	return nil
}

// Play sends one Opus packet of [voice.FrameTime]; see [voice.Line]. It returns [voice.ErrUnavailable] while the
// connection is not up.
func (c *Conn) Play(opus []byte) error {
	if !c.up.Load() {
		return voice.ErrUnavailable
	}
	return c.sound.send(opus, time.Now())
}

// EndSpeech sends five packets of silence.
func (c *Conn) EndSpeech() error {
	for range silenceFrames {
		if err := c.Play(voice.OpusSilence[:]); err != nil {
			return err
		}
	}
	return nil
}

// readSound passes on the sound of the page's microphone until the connection has ended.
func (c *Conn) readSound(track *webrtc.TrackRemote) {
	if track.Kind() != webrtc.RTPCodecTypeAudio {
		return
	}
	for {
		p, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		if len(p.Payload) == 0 || c.handlers.Packet == nil {
			continue
		}
		c.handlers.Packet(voice.Packet{
			Sequence: p.SequenceNumber, Timestamp: p.Timestamp, Opus: slices.Clone(p.Payload), At: time.Now(),
		})
	}
}
