package vad

import (
	"time"

	"clank/voice"
)

const (
	maxConcealed  = 5 // lost packets in a row that are concealed; more is a gap
	endingSilence = 5 // packets of silence that end what somebody says
)

// speaker is one of those who are listened to.
type speaker struct {
	detector *Detector
	id       string
	decoder  *voice.OpusDecoder
	jitter   jitterBuffer
	speechState
	lastPacket time.Time // when the last packet came

	expected uint32 // the timestamp that the next packet has if nothing is left out
	last     time.Time
	silent   int // packets of silence in a row
}

// addPacket takes a packet as it came.
func (p *speaker) addPacket(packet voice.Packet) {
	p.lastPacket = packet.At
	for _, o := range p.jitter.put(packet) {
		p.decodePacket(o)
	}
}

// processDue does what is due, and says for how long nothing is.
func (p *speaker) processDue(now time.Time) time.Duration {
	for _, o := range p.jitter.due(now) {
		p.decodePacket(o)
	}
	next := min(p.jitter.waitLeft(now), forgetAfter-now.Sub(p.lastPacket))
	if !p.speaking {
		return next
	}
	silent := now.Sub(p.lastPacket)
	if silent >= p.detector.pauseTime() {
		p.endSpeech()
		return next
	}
	if half := p.detector.pauseTime()/2 - silent; half > 0 {
		return min(next, half)
	}
	p.reportPause(p.detector, p.id)
	return min(next, p.detector.pauseTime()-silent)
}

// endSpeech gives back what is left in order, and ends what they say.
func (p *speaker) endSpeech() {
	for _, o := range p.jitter.flush() {
		p.decodePacket(o)
	}
	p.endUtterance(p.detector, p.id)
}

// decodePacket decodes a packet in its place.
func (p *speaker) decodePacket(o orderedPacket) {
	shape, err := voice.InspectOpus(o.Opus)
	if err != nil {
		p.detector.logger().Debug("a packet is not Opus", "from", p.id, "error", err)
		return
	}
	gap := p.concealLoss(o)
	samples, err := p.decoder.Decode(o.Opus)
	if err != nil {
		p.detector.logger().Debug("a packet cannot be decoded", "from", p.id, "error", err)
		return
	}
	p.expected, p.last = o.Timestamp+opusTicks(shape.Duration()), o.At
	p.emitSound(samples, gap, o.At)
	if p.silent++; !voice.IsOpusSilence(o.Opus) {
		p.silent = 0
	}
	p.addFrame(p.detector, o.Packet, samples, gap, shape.Duration())
	if p.silent == endingSilence {
		p.endUtterance(p.detector, p.id)
	}
}

// concealLoss makes sound of what was lost before a packet, and returns what is missing all the same.
func (p *speaker) concealLoss(o orderedPacket) time.Duration {
	if !o.continued {
		return 0
	}
	passed := o.At.Sub(p.last)
	if o.restarted {
		return max(0, passed-voice.FrameTime)
	}
	missing := time.Duration(int32(o.Timestamp-p.expected)) * time.Second / voice.RateOpus //nolint:gosec // wrapping is the point
	missing = max(0, min(missing, passed+time.Second))                                     // no more than can have passed
	for range min(o.lost, maxConcealed) {
		samples, err := p.decoder.Decode(nil)
		long := time.Duration(len(samples)) * time.Second / time.Duration(p.decoder.Rate())
		if err != nil || long == 0 || long > missing {
			break
		}
		p.emitSound(samples, 0, o.At)
		missing -= long
	}
	return missing
}

func (p *speaker) emitSound(samples []int16, gap time.Duration, at time.Time) {
	if p.detector.Sound != nil {
		p.detector.Sound(voice.Sound{From: p.id, Rate: p.decoder.Rate(), Samples: samples, Gap: gap, At: at})
	}
}

// opusTicks returns a time in units of the timestamps.
func opusTicks(d time.Duration) uint32 {
	return uint32(d * voice.RateOpus / time.Second) //nolint:gosec // of one packet
}
