package vad

import (
	"slices"
	"time"

	"clank/voice"
)

const (
	maxConcealed  = 5 // lost packets in a row that are concealed; more is a gap
	endingSilence = 5 // packets of silence that end an utterance
)

// speaker is the state of a person who is listened to.
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

// addPacket adds a packet in its order of arrival.
func (p *speaker) addPacket(packet voice.Packet) {
	p.lastPacket = packet.At
	for _, o := range p.jitter.put(packet) {
		p.decodePacket(o)
	}
}

// processDue does what is due, and returns how long nothing will be.
func (p *speaker) processDue(now time.Time) time.Duration {
	for _, o := range p.jitter.due(now) {
		p.decodePacket(o)
	}
	next := min(p.jitter.waitLeft(now), forgetAfter-now.Sub(p.lastPacket))
	if !p.speaking {
		return next
	}
	silent := now.Sub(p.lastPacket)
	if silent >= pauseTime {
		p.endSpeech()
		return next
	}
	if half := pauseTime/2 - silent; half > 0 {
		return min(next, half)
	}
	p.reportPause(p.detector, p.id)
	return min(next, pauseTime-silent)
}

// endSpeech processes the remaining packets in order, and ends the utterance.
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

// concealLoss generates sound for packets lost before o, and returns the duration that is still missing.
func (p *speaker) concealLoss(o orderedPacket) time.Duration {
	if !o.continued {
		return 0
	}
	passed := o.At.Sub(p.last)
	if o.restarted {
		return max(0, passed-voice.FrameTime)
	}
	behind := int32(o.Timestamp - p.expected) //nolint:gosec // wrapping is the point
	missing := time.Duration(behind) * time.Second / voice.RateOpus
	missing = max(0, min(missing, passed+time.Second)) // no more than can have passed
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
	p.detector.on.Sound(voice.Sound{From: p.id, Rate: p.decoder.Rate(), Samples: samples, Gap: gap, At: at})
}

// opusTicks returns a time in units of the timestamps.
func opusTicks(d time.Duration) uint32 {
	return uint32(d * voice.RateOpus / time.Second) //nolint:gosec // of one packet
}

const (
	minJitterWait       = 60 * time.Millisecond // for a packet that is missing
	maxJitterWait       = 100 * time.Millisecond
	jitterWaitStep      = 10 * time.Millisecond
	calmPackets         = 250             // packets without a late one, and the wait becomes shorter
	sequenceWindow      = 100             // packets before and after the expected one that are of the same stream
	maxPacketsBehindGap = 10              // packets behind a hole, and it is given up
	restartFar          = 2               // unexpected packets in a row after which a far stream counts as new
	restartNear         = 6               // the same if they could be late packets
	restartSilence      = 1 * time.Second // of silence, after which any packet begins a new stream
)

// jitterBuffer orders the packets of one stream. Packets in order are never delayed: nobody listens to them in real
// time, so jitter alone does no harm. After a gap they wait for the missing packet, 60 to 100 ms depending on how late
// packets have been.
type jitterBuffer struct {
	started bool
	next    uint16         // the sequence number that is expected
	waiting []voice.Packet // after a gap, in order
	odd     []voice.Packet // in a row, from outside the window or late
	wait    time.Duration
	good    int // packets since the last late one
	last    time.Time
}

// orderedPacket is a packet in its place.
type orderedPacket struct {
	voice.Packet
	lost      int  // packets before it that never came
	restarted bool // a new stream begins, with unrelated timestamps
	continued bool // there was one before it
}

// put adds a packet and returns those that are in order now.
func (o *jitterBuffer) put(p voice.Packet) []orderedPacket {
	idle := p.At.Sub(o.last) >= restartSilence
	o.last = p.At
	if !o.started {
		o.wait = minJitterWait
		return o.startStream(p)
	}
	switch ahead := int(int16(p.Sequence - o.next)); { //nolint:gosec // wrapping is the point
	case ahead >= 0 && ahead < sequenceWindow:
		o.odd = nil
		if i, there := slices.BinarySearchFunc(o.waiting, p, o.compare); !there {
			o.waiting = slices.Insert(o.waiting, i, p)
		}
		return o.due(p.At)
	case idle && len(o.waiting) == 0:
		return o.startStream(p)
	case ahead < 0 && ahead > -sequenceWindow:
		return o.handleLate(p, restartNear)
	default:
		return o.handleLate(p, restartFar)
	}
}

// startStream starts a new stream with a packet.
func (o *jitterBuffer) startStream(p voice.Packet) []orderedPacket {
	after := o.started
	o.started, o.next, o.odd, o.good = true, p.Sequence+1, nil, 0
	out := []orderedPacket{{Packet: p, restarted: true, continued: after}}
	o.waiting = nil
	return out
}

// handleLate handles an unexpected packet: a duplicate, a late packet, or the first of a new stream, which the
// following packets confirm.
func (o *jitterBuffer) handleLate(p voice.Packet, enough int) []orderedPacket {
	o.wait, o.good = min(o.wait+jitterWaitStep, maxJitterWait), 0
	if n := len(o.odd); n > 0 {
		if step := int16(p.Sequence - o.odd[n-1].Sequence); step < 1 || //nolint:gosec // wrapping is the point
			step > maxPacketsBehindGap {
			o.odd = nil
		}
	}
	o.odd = append(o.odd, p)
	if len(o.odd) < enough {
		return nil
	}
	odd := o.odd
	out := append(o.flush(), o.startStream(odd[0])...)
	for _, p := range odd[1:] {
		out = append(out, o.put(p)...)
	}
	return out
}

func (o *jitterBuffer) compare(a, b voice.Packet) int {
	return int(a.Sequence-o.next) - int(b.Sequence-o.next)
}

// due returns the packets that are due at a time: those without a gap before them, or for which the wait is over.
func (o *jitterBuffer) due(now time.Time) []orderedPacket {
	var out []orderedPacket
	for len(o.waiting) > 0 {
		p := o.waiting[0]
		lost := int(p.Sequence - o.next)
		if lost > 0 && now.Sub(o.oldest()) < o.wait && len(o.waiting) < maxPacketsBehindGap {
			break
		}
		out = append(out, orderedPacket{Packet: p, lost: lost, continued: true})
		o.waiting, o.next = o.waiting[1:], p.Sequence+1
		if o.good++; o.good >= calmPackets {
			o.wait, o.good = max(o.wait-jitterWaitStep, minJitterWait), 0
		}
	}
	return out
}

// oldest returns when the first of the waiting packets came.
func (o *jitterBuffer) oldest() time.Time {
	at := o.waiting[0].At
	for _, p := range o.waiting[1:] {
		if p.At.Before(at) {
			at = p.At
		}
	}
	return at
}

// flush returns all that waits.
func (o *jitterBuffer) flush() []orderedPacket {
	var out []orderedPacket
	for _, p := range o.waiting {
		out = append(out, orderedPacket{Packet: p, lost: int(p.Sequence - o.next), continued: true})
		o.next = p.Sequence + 1
	}
	o.waiting = nil
	return out
}

// waitLeft returns how long nothing is due.
func (o *jitterBuffer) waitLeft(now time.Time) time.Duration {
	if len(o.waiting) == 0 {
		return forgetAfter
	}
	return o.wait - now.Sub(o.oldest())
}
