package voicetest

import (
	"context"
	"fmt"
	"strconv"

	"github.com/pion/rtp"
)

// Payload types and clocks of what a member sends.
const (
	payloadOpus = 120
	payloadVP8  = 105
	opusTicks   = 960 // of 20 ms at 48 kHz
)

// sentStream counts what the member sends of one kind.
type sentStream struct {
	sequence  uint16
	timestamp uint32
}

// Speak says that the member speaks (mask 1), shares sound (2) or is silent (0). It must come before the first packet.
func (m *Member) Speak(mask int) {
	m.mu.Lock()
	ssrc := m.session.audio
	m.mu.Unlock()
	m.sendJSON(OpSpeaking, map[string]any{"speaking": mask, "delay": 0, "ssrc": ssrc})
}

// OpusSilence is a packet of Opus without sound. It is never encrypted end to end.
var OpusSilence = []byte{0xf8, 0xff, 0xfe}

// Send sends one packet of Opus, 20 ms after the one before it by its timestamp.
func (m *Member) Send(opus []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.private != nil {
		sealed, err := m.private.Encrypt("opus", opus)
		if err != nil {
			return fmt.Errorf("%s sends sound: %w", m.User, err)
		}
		opus = sealed
	}
	m.audio.sequence++
	m.audio.timestamp += opusTicks
	return m.sendRTP(&rtp.Packet{Header: rtp.Header{
		Version: 2, PayloadType: payloadOpus, SequenceNumber: m.audio.sequence, Timestamp: m.audio.timestamp,
		SSRC: m.session.audio,
	}, Payload: opus})
}

// Pause lets the timestamps of sound run on, as when nothing is sent for that many packets.
func (m *Member) Pause(packets int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.audio.timestamp += uint32(packets) * opusTicks
}

// RequestQuality says by op 15 how much the member wants to have any video, 0 to 100.
func (m *Member) RequestQuality(much int) { m.sendJSON(OpWants, map[string]any{"any": much}) }

func (m *Member) sendRTP(p *rtp.Packet) error {
	data, err := p.Marshal()
	if err != nil {
		return fmt.Errorf("%s sends a packet: %w", m.User, err)
	}
	clear, err := ClearRTP(data)
	if err != nil {
		return fmt.Errorf("%s sends a packet: %w", m.User, err)
	}
	if _, err := m.udp.Write(m.session.out.Seal(data, clear)); err != nil {
		return fmt.Errorf("%s sends a packet: %w", m.User, err)
	}
	return nil
}

// SendRTCP sends a control packet.
func (m *Member) SendRTCP(packet []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.udp.Write(m.session.out.Seal(packet, 8)); err != nil {
		return fmt.Errorf("%s sends a control packet: %w", m.User, err)
	}
	return nil
}

// readMedia takes packets until the socket is closed.
func (m *Member) readMedia(ctx context.Context) {
	buf := make([]byte, 64<<10)
	for {
		n, err := m.udp.Read(buf)
		if err != nil {
			if ctx.Err() == nil {
				m.end(fmt.Errorf("read media: %w", err))
			}
			return
		}
		if IsRTCP(buf[:n]) {
			continue // feedback, which members have no use for
		}
		clear, err := ClearRTP(buf[:n])
		if err != nil {
			continue // a ping's answer, or no packet of RTP
		}
		m.mu.Lock()
		plain, _, err := m.session.in.Open(buf[:n], clear)
		var p rtp.Packet
		if err == nil && p.Unmarshal(plain) == nil {
			m.handleRTP(p)
		}
		m.mu.Unlock()
	}
}

// earlyPackets is how many packets of a source wait until the gateway says whose they are.
const earlyPackets = 64

// handleRTP deals with one packet. The lock is held.
func (m *Member) handleRTP(p rtp.Packet) {
	if video, again := m.repeats[p.SSRC]; again {
		if p, again = restoreRTX(p, video); !again {
			return
		}
	}
	from, known := m.sources[p.SSRC]
	switch {
	case !known:
		if len(m.early[p.SSRC]) < earlyPackets {
			m.early[p.SSRC] = append(m.early[p.SSRC], p)
		}
	case from.video:
		m.assemble(from, p)
	default:
		m.deliverFrame(from, "opus", p, p.Payload)
	}
}

// assignSource learns whose a source is.
func (m *Member) assignSource(ssrc uint32, from mediaSource) {
	if ssrc == 0 {
		return
	}
	m.sources[ssrc] = from
	for _, p := range m.early[ssrc] {
		m.handleRTP(p)
	}
	delete(m.early, ssrc)
}

// deliverFrame decrypts a frame and hands it out.
func (m *Member) deliverFrame(from mediaSource, codec string, p rtp.Packet, data []byte) {
	f := ReceivedFrame{
		From: from.user, Video: from.video, Payload: p.PayloadType, Sequence: p.SequenceNumber, Timestamp: p.Timestamp,
		Data: data, Encrypted: data,
	}
	if m.private != nil {
		user, err := strconv.ParseUint(from.user, 10, 64)
		if err == nil {
			f.Data, err = m.private.Decrypt(user, codec, data)
		}
		f.Err = err
	}
	select {
	case m.frames <- f:
	default: // nobody takes them
	}
}
