package vad

import (
	"slices"
	"time"

	"clank/voice"
)

const (
	minJitterWait       = 60 * time.Millisecond // for a packet that is missing
	maxJitterWait       = 100 * time.Millisecond
	jitterWaitStep      = 10 * time.Millisecond
	calmPackets         = 250             // packets without a late one, and the wait becomes shorter
	sequenceWindow      = 100             // packets before and after the expected one that are of the same stream
	maxPacketsBehindGap = 10              // packets behind a hole, and it is given up
	restartFar          = 2               // packets in a row from elsewhere, and the stream has begun anew there
	restartNear         = 6               // the same where they could be late ones
	restartSilence      = 1 * time.Second // of silence, and whatever comes begins anew
)

// jitterBuffer brings the packets of one stream into their order. Packets that come in order are never held up: nobody listens to
// them in time, so jitter alone does no harm. Behind a hole they wait for the missing one, 60 to 100 ms depending on how
// late packets have been.
type jitterBuffer struct {
	started bool
	next    uint16         // the sequence number that is expected
	waiting []voice.Packet // behind a hole, in order
	odd     []voice.Packet // in a row, from outside the window or late
	wait    time.Duration
	good    int // packets since one was late
	last    time.Time
}

// orderedPacket is a packet in its place.
type orderedPacket struct {
	voice.Packet
	lost      int  // packets before it that never came
	restarted bool // a stream begins, whose timestamps have nothing to do with those before
	continued bool // there was one before it
}

// put takes a packet and returns those that are in order now.
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

// startStream starts anew at a packet.
func (o *jitterBuffer) startStream(p voice.Packet) []orderedPacket {
	after := o.started
	o.started, o.next, o.odd, o.good = true, p.Sequence+1, nil, 0
	out := []orderedPacket{{Packet: p, restarted: true, continued: after}}
	o.waiting = nil
	return out
}

// handleLate handles a packet that is not expected: a copy, one that comes too late, or the first of a stream that has begun
// anew, which is told by the ones that follow it.
func (o *jitterBuffer) handleLate(p voice.Packet, enough int) []orderedPacket {
	o.wait, o.good = min(o.wait+jitterWaitStep, maxJitterWait), 0
	if n := len(o.odd); n > 0 {
		if step := int16(p.Sequence - o.odd[n-1].Sequence); step < 1 || step > maxPacketsBehindGap { //nolint:gosec // wrapping is the point
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

// due returns what is in order at a time: what nothing is missing before, or has been waited for long enough.
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
