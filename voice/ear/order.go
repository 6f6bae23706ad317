package ear

import (
	"slices"
	"time"

	"clank/voice"
)

const (
	shortestWait = 60 * time.Millisecond // for a packet that is missing
	longestWait  = 100 * time.Millisecond
	waitStep     = 10 * time.Millisecond
	calm         = 250             // packets without a late one, and the wait becomes shorter
	window       = 100             // packets before and after the expected one that are of the same stream
	crowd        = 10              // packets behind a hole, and it is given up
	restartFar   = 2               // packets in a row from elsewhere, and the stream has begun anew there
	restartNear  = 6               // the same where they could be late ones
	fresh        = 1 * time.Second // of silence, and whatever comes begins anew
)

// order brings the packets of one stream into their order. Packets that come in order are never held up: nobody listens to
// them in time, so jitter alone does no harm. Behind a hole they wait for the missing one, 60 to 100 ms depending on how
// late packets have been.
type order struct {
	started bool
	next    uint16         // the sequence number that is expected
	waiting []voice.Packet // behind a hole, in order
	odd     []voice.Packet // in a row, from outside the window or late
	wait    time.Duration
	good    int // packets since one was late
	last    time.Time
}

// ordered is a packet in its place.
type ordered struct {
	voice.Packet
	lost  int  // packets before it that never came
	anew  bool // a stream begins, whose timestamps have nothing to do with those before
	after bool // there was one before it
}

// put takes a packet and returns those that are in order now.
func (o *order) put(p voice.Packet) []ordered {
	idle := p.At.Sub(o.last) >= fresh
	o.last = p.At
	if !o.started {
		o.wait = shortestWait
		return o.begin(p)
	}
	switch ahead := int(int16(p.Sequence - o.next)); { //nolint:gosec // wrapping is the point
	case ahead >= 0 && ahead < window:
		o.odd = nil
		if i, there := slices.BinarySearchFunc(o.waiting, p, o.compare); !there {
			o.waiting = slices.Insert(o.waiting, i, p)
		}
		return o.due(p.At)
	case idle && len(o.waiting) == 0:
		return o.begin(p)
	case ahead < 0 && ahead > -window:
		return o.late(p, restartNear)
	default:
		return o.late(p, restartFar)
	}
}

// begin starts anew at a packet.
func (o *order) begin(p voice.Packet) []ordered {
	after := o.started
	o.started, o.next, o.odd, o.good = true, p.Sequence+1, nil, 0
	out := []ordered{{Packet: p, anew: true, after: after}}
	o.waiting = nil
	return out
}

// late handles a packet that is not expected: a copy, one that comes too late, or the first of a stream that has begun
// anew, which is told by the ones that follow it.
func (o *order) late(p voice.Packet, enough int) []ordered {
	o.wait, o.good = min(o.wait+waitStep, longestWait), 0
	if n := len(o.odd); n > 0 {
		if step := int16(p.Sequence - o.odd[n-1].Sequence); step < 1 || step > crowd { //nolint:gosec // wrapping is the point
			o.odd = nil
		}
	}
	o.odd = append(o.odd, p)
	if len(o.odd) < enough {
		return nil
	}
	odd := o.odd
	out := append(o.flush(), o.begin(odd[0])...)
	for _, p := range odd[1:] {
		out = append(out, o.put(p)...)
	}
	return out
}

func (o *order) compare(a, b voice.Packet) int {
	return int(a.Sequence-o.next) - int(b.Sequence-o.next)
}

// due returns what is in order at a time: what nothing is missing before, or has been waited for long enough.
func (o *order) due(now time.Time) []ordered {
	var out []ordered
	for len(o.waiting) > 0 {
		p := o.waiting[0]
		lost := int(p.Sequence - o.next)
		if lost > 0 && now.Sub(o.oldest()) < o.wait && len(o.waiting) < crowd {
			break
		}
		out = append(out, ordered{Packet: p, lost: lost, after: true})
		o.waiting, o.next = o.waiting[1:], p.Sequence+1
		if o.good++; o.good >= calm {
			o.wait, o.good = max(o.wait-waitStep, shortestWait), 0
		}
	}
	return out
}

// oldest is when the first of the waiting packets came.
func (o *order) oldest() time.Time {
	at := o.waiting[0].At
	for _, p := range o.waiting[1:] {
		if p.At.Before(at) {
			at = p.At
		}
	}
	return at
}

// flush returns all that waits.
func (o *order) flush() []ordered {
	var out []ordered
	for _, p := range o.waiting {
		out = append(out, ordered{Packet: p, lost: int(p.Sequence - o.next), after: true})
		o.next = p.Sequence + 1
	}
	o.waiting = nil
	return out
}

// waits is for how long nothing is due.
func (o *order) waits(now time.Time) time.Duration {
	if len(o.waiting) == 0 {
		return forget
	}
	return o.wait - now.Sub(o.oldest())
}
