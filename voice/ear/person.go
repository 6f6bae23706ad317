package ear

import (
	"time"

	"clank/voice"
	"clank/voice/audio"
)

const (
	concealed = 5 // lost packets in a row that are concealed; more is a gap
	ending    = 5 // packets of silence that end what somebody says
)

// person is one of those who are listened to.
type person struct {
	ear     *Ear
	id      string
	decoder *audio.Decoder
	order   order
	speech
	heard time.Time // when the last packet came

	expected uint32 // the timestamp that the next packet has if nothing is left out
	last     time.Time
	silent   int // packets of silence in a row
}

// take takes a packet as it came.
func (p *person) take(packet voice.Packet) {
	p.heard = packet.At
	for _, o := range p.order.put(packet) {
		p.play(o)
	}
}

// pass does what is due, and says for how long nothing is.
func (p *person) pass(now time.Time) time.Duration {
	for _, o := range p.order.due(now) {
		p.play(o)
	}
	next := min(p.order.waits(now), forget-now.Sub(p.heard))
	if !p.speaking {
		return next
	}
	silent := now.Sub(p.heard)
	if silent >= p.ear.pause() {
		p.end()
		return next
	}
	if half := p.ear.pause()/2 - silent; half > 0 {
		return min(next, half)
	}
	p.mayEnd(p.ear, p.id)
	return min(next, p.ear.pause()-silent)
}

// end gives back what is left in order, and ends what they say.
func (p *person) end() {
	for _, o := range p.order.flush() {
		p.play(o)
	}
	p.over(p.ear, p.id)
}

// play decodes a packet in its place.
func (p *person) play(o ordered) {
	shape, err := audio.Inspect(o.Opus)
	if err != nil {
		p.ear.logger().Debug("a packet is not Opus", "from", p.id, "error", err)
		return
	}
	gap := p.conceal(o)
	samples, err := p.decoder.Decode(o.Opus)
	if err != nil {
		p.ear.logger().Debug("a packet cannot be decoded", "from", p.id, "error", err)
		return
	}
	p.expected, p.last = o.Timestamp+ticks(shape.Duration()), o.At
	p.sound(samples, gap, o.At)
	if p.silent++; !audio.IsSilence(o.Opus) {
		p.silent = 0
	}
	p.hear(p.ear, o.Packet, samples, gap, shape.Duration())
	if p.silent == ending {
		p.over(p.ear, p.id)
	}
}

// conceal makes sound of what was lost before a packet, and returns what is missing all the same.
func (p *person) conceal(o ordered) time.Duration {
	if !o.after {
		return 0
	}
	passed := o.At.Sub(p.last)
	if o.anew {
		return max(0, passed-voice.FrameTime)
	}
	missing := time.Duration(int32(o.Timestamp-p.expected)) * time.Second / voice.RateOpus //nolint:gosec // wrapping is the point
	missing = max(0, min(missing, passed+time.Second))                                     // no more than can have passed
	for range min(o.lost, concealed) {
		samples, err := p.decoder.Decode(nil)
		long := time.Duration(len(samples)) * time.Second / time.Duration(p.decoder.Rate())
		if err != nil || long == 0 || long > missing {
			break
		}
		p.sound(samples, 0, o.At)
		missing -= long
	}
	return missing
}

func (p *person) sound(samples []int16, gap time.Duration, at time.Time) {
	if p.ear.Sound != nil {
		p.ear.Sound(voice.Sound{From: p.id, Rate: p.decoder.Rate(), Samples: samples, Gap: gap, At: at})
	}
}

// ticks is a time in units of the timestamps.
func ticks(d time.Duration) uint32 {
	return uint32(d * voice.RateOpus / time.Second) //nolint:gosec // of one packet
}
