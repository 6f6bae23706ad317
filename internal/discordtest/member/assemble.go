package member

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
	mostPending = 8    // pictures that are not whole yet
	mostMissing = 4096 // packets; a larger gap is another beginning
	askAfter    = 10 * time.Millisecond
	askAgain    = 40 * time.Millisecond
	mostAsked   = 10 // times that one packet is asked for
	askEvery    = 20 * time.Millisecond
)

// pictures puts the packets of one source of video together.
type pictures struct {
	ssrc    uint32
	begun   bool
	highest uint16 // sequence number
	given   uint16 // the last packet of the picture that was given out last
	any     bool   // given is set
	pending []*picture
	missing map[uint16]*gap
}

// picture is a frame of which packets have come.
type picture struct {
	timestamp uint32
	parts     map[uint16]part
	last      rtp.Packet // with the marker
	whole     bool       // last is set
}

type part struct {
	first   bool
	payload []byte
}

// gap is a packet that has not come.
type gap struct {
	noticed, asked time.Time
	times          int
}

// assemble takes a packet of a picture. It is given out once all of it is there, in whichever order that came.
func (m *Member) assemble(from source, p rtp.Packet) {
	var vp8 codecs.VP8Packet
	payload, err := vp8.Unmarshal(p.Payload)
	if err != nil {
		return
	}
	s := m.pending[p.SSRC]
	if s == nil {
		s = &pictures{ssrc: p.SSRC, missing: map[uint16]*gap{}}
		m.pending[p.SSRC] = s
	}
	s.came(p.SequenceNumber, time.Now())
	if s.any && int16(p.SequenceNumber-s.given) <= 0 {
		return // of a picture that was given out, or is older
	}
	pic := s.picture(p.Timestamp)
	pic.parts[p.SequenceNumber] = part{vp8.S == 1 && vp8.PID == 0, payload}
	if p.Marker {
		pic.last, pic.whole = p, true
	}
	if data, ok := pic.data(); ok {
		s.done(pic)
		m.give(from, "VP8", pic.last, data)
	}
}

// came notes which packets before this one are missing.
func (s *pictures) came(sequence uint16, now time.Time) {
	step := int16(sequence - s.highest)
	if !s.begun || step > mostMissing || step < -mostMissing {
		s.begun, s.highest = true, sequence
		clear(s.missing)
		return
	}
	delete(s.missing, sequence)
	for ; step > 0; step-- {
		if s.highest++; s.highest != sequence {
			s.missing[s.highest] = &gap{noticed: now}
		}
	}
}

func (s *pictures) picture(timestamp uint32) *picture {
	for _, pic := range s.pending {
		if pic.timestamp == timestamp {
			return pic
		}
	}
	pic := &picture{timestamp: timestamp, parts: map[uint16]part{}}
	if s.pending = append(s.pending, pic); len(s.pending) > mostPending {
		s.pending = s.pending[1:]
	}
	return pic
}

// data is the picture, if all of it is there.
func (p *picture) data() ([]byte, bool) {
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

// done forgets a picture that is given out, and all before it: each stands by itself.
func (s *pictures) done(pic *picture) {
	s.given, s.any = pic.last.SequenceNumber, true
	s.pending = slices.DeleteFunc(s.pending, func(p *picture) bool { return int32(p.timestamp-pic.timestamp) <= 0 })
	for n := range s.missing {
		if int16(n-s.given) <= 0 {
			delete(s.missing, n)
		}
	}
}

// restore makes of a packet of RFC 4588 the one that was lost.
func restore(p rtp.Packet, video uint32) (rtp.Packet, bool) {
	if len(p.Payload) < 2 {
		return p, false
	}
	p.SequenceNumber, p.SSRC, p.PayloadType, p.Payload = binary.BigEndian.Uint16(p.Payload), video, payloadVP8, p.Payload[2:]
	return p, true
}

// ask asks for packets of pictures that do not come, until ctx ends.
func (m *Member) ask(ctx context.Context) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			m.mu.Lock()
			for _, s := range m.pending {
				m.askFor(s, now)
			}
			m.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// askFor sends a generic NACK (RFC 4585). The lock is held.
func (m *Member) askFor(s *pictures, now time.Time) {
	var wanted []uint16
	for n, g := range s.missing {
		if now.Sub(g.noticed) < askAfter || now.Sub(g.asked) < askAgain {
			continue
		}
		if g.times++; g.times > mostAsked {
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
	nack := rtcp.TransportLayerNack{SenderSSRC: m.session.audio, MediaSSRC: s.ssrc, Nacks: rtcp.NackPairsFromSequenceNumbers(wanted)}
	data, err := nack.Marshal()
	if err == nil {
		_, _ = m.udp.Write(m.session.out.Seal(data, 8)) // what is lost is asked for again
	}
}
