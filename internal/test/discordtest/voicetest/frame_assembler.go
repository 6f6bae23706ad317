package voicetest

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
)

const (
	maxPendingFrames  = 8    // pictures that are not whole yet
	maxMissing        = 4096 // packets; a larger gap is another beginning
	requestAfter      = 10 * time.Millisecond
	requestAgainAfter = 40 * time.Millisecond
	maxRequests       = 10 // times that one packet is asked for
	requestEvery      = 20 * time.Millisecond
)

// frameAssembler puts the packets of one source of video together.
type frameAssembler struct {
	ssrc    uint32
	begun   bool
	highest uint16 // sequence number
	given   uint16 // the last packet of the picture that was given out last
	any     bool   // given is set
	pending []*pendingFrame
	missing map[uint16]*missingPacket
}

// pendingFrame is a frame of which packets have come.
type pendingFrame struct {
	timestamp uint32
	parts     map[uint16]framePart
	last      rtp.Packet // with the marker
	whole     bool       // last is set
}

type framePart struct {
	first   bool
	payload []byte
}

// missingPacket is a packet that has not come.
type missingPacket struct {
	noticed, asked time.Time
	times          int
}

// assemble takes a packet of a picture. It is given out once all of it is there, in whichever order that came.
func (m *Member) assemble(from mediaSource, p rtp.Packet) {
	var vp8 codecs.VP8Packet
	payload, err := vp8.Unmarshal(p.Payload)
	if err != nil {
		return
	}
	s := m.pending[p.SSRC]
	if s == nil {
		s = &frameAssembler{ssrc: p.SSRC, missing: map[uint16]*missingPacket{}}
		m.pending[p.SSRC] = s
	}
	s.came(p.SequenceNumber, time.Now())
	if s.any && int16(p.SequenceNumber-s.given) <= 0 {
		return // of a picture that was given out, or is older
	}
	pic := s.picture(p.Timestamp)
	pic.parts[p.SequenceNumber] = framePart{vp8.S == 1 && vp8.PID == 0, payload}
	if p.Marker {
		pic.last, pic.whole = p, true
	}
	if data, ok := pic.data(); ok {
		if lost := s.done(pic); lost && m.options.RequestLost {
			pli := rtcp.PictureLossIndication{SenderSSRC: m.session.audio, MediaSSRC: s.ssrc}
			if report, err := pli.Marshal(); err == nil {
				_, _ = m.udp.Write(m.session.out.Seal(report, 8)) // what is lost is asked for again
			}
		}
		m.deliverFrame(from, "VP8", pic.last, data)
	}
}

// came notes which packets before this one are missing.
func (s *frameAssembler) came(sequence uint16, now time.Time) {
	step := int16(sequence - s.highest)
	if !s.begun || step > maxMissing || step < -maxMissing {
		s.begun, s.highest = true, sequence
		clear(s.missing)
		return
	}
	delete(s.missing, sequence)
	for ; step > 0; step-- {
		if s.highest++; s.highest != sequence {
			s.missing[s.highest] = &missingPacket{noticed: now}
		}
	}
}

func (s *frameAssembler) picture(timestamp uint32) *pendingFrame {
	for _, pic := range s.pending {
		if pic.timestamp == timestamp {
			return pic
		}
	}
	pic := &pendingFrame{timestamp: timestamp, parts: map[uint16]framePart{}}
	if s.pending = append(s.pending, pic); len(s.pending) > maxPendingFrames {
		s.pending = s.pending[1:]
	}
	return pic
}

// data returns the picture, if all of it is there.
func (p *pendingFrame) data() ([]byte, bool) {
	if !p.whole {
		return nil, false
	}
	var payloads [][]byte
	for n := p.last.SequenceNumber; ; n-- {
		part, there := p.parts[n]
		if !there {
			return nil, false
		}
		payloads = append(payloads, part.payload)
		if part.first {
			slices.Reverse(payloads)
			return slices.Concat(payloads...), true
		}
	}
}

// done forgets a picture that is given out, and all before it, and reports whether one of those was not whole.
func (s *frameAssembler) done(pic *pendingFrame) (lost bool) {
	s.given, s.any = pic.last.SequenceNumber, true
	s.pending = slices.DeleteFunc(s.pending, func(p *pendingFrame) bool { return int32(p.timestamp-pic.timestamp) <= 0 })
	for n := range s.missing {
		if int16(n-s.given) <= 0 {
			delete(s.missing, n)
			lost = true
		}
	}
	return lost
}

// restoreRTX makes of a packet of RFC 4588 the one that was lost.
func restoreRTX(p rtp.Packet, video uint32) (rtp.Packet, bool) {
	if len(p.Payload) < 2 {
		return p, false
	}
	p.SequenceNumber, p.SSRC, p.PayloadType, p.Payload = binary.BigEndian.Uint16(p.Payload), video, payloadVP8,
		p.Payload[2:]
	return p, true
}

// requestLost asks for packets of pictures that do not come, until ctx ends.
func (m *Member) requestLost(ctx context.Context) {
	tick := time.NewTicker(requestEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			m.mu.Lock()
			for _, s := range m.pending {
				m.requestMissing(s, now)
			}
			m.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// requestMissing sends a generic NACK (RFC 4585). The lock is held.
func (m *Member) requestMissing(s *frameAssembler, now time.Time) {
	var wanted []uint16
	for n, g := range s.missing {
		if now.Sub(g.noticed) < requestAfter || now.Sub(g.asked) < requestAgainAfter {
			continue
		}
		if g.times++; g.times > maxRequests {
			delete(s.missing, n)
			continue
		}
		g.asked = now
		wanted = append(wanted, n)
	}
	if len(wanted) == 0 {
		return
	}
	slices.Sort(wanted)
	nack := rtcp.TransportLayerNack{
		SenderSSRC: m.session.audio, MediaSSRC: s.ssrc,
		Nacks: rtcp.NackPairsFromSequenceNumbers(wanted),
	}
	data, err := nack.Marshal()
	if err == nil {
		_, _ = m.udp.Write(m.session.out.Seal(data, 8)) // what is lost is asked for again
	}
}
