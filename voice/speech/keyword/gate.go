package keyword

import (
	"math"
	"math/bits"

	"clank/voice"
)

// The gate works in frames of 10 ms.
const (
	frameSize = voice.RateSpeech / 100

	framesToBegin = 3  // loud frames of the last four that begin a segment
	framesToEnd   = 24 // quiet frames that end a segment
	framesAlone   = 24 // quiet frames before a segment that make it stand alone
	// quiet frames after a segment if no more sound arrives: senders end with silence, broken networks do not
	framesTrail      = 8
	maxSegmentFrames = 800 // longer segments are cut, so that phrases in them are reported

	quietest   = 100.0 // root mean square below which nothing is speech: 0.003 of full scale
	aboveFloor = 2.8   // how much louder than the room speech is
	belowPeak  = 0.08  // after a loud sound, only sound above this fraction of it is speech
)

// segment is a piece of speech between silences. Frames are counted from the first that the gate has seen.
type segment struct {
	began, ended int64 // first loud frame; frame after the last loud one
	alone        bool  // silence before it and after it
}

// speechGate distinguishes speech from a quiet room, and tracks the room's noise level.
type speechGate struct {
	frames   int64 // seen so far
	floor    noiseFloor
	still    int  // frames since the last loud one
	recent   uint // loudness of the latest frames, one bit each
	inside   bool
	peak     float64
	current  segment
	lastLoud int64
}

func newSpeechGate() *speechGate {
	return &speechGate{still: framesAlone}
}

// frame processes the next 10 ms. It reports whether a segment began with it or ended.
func (g *speechGate) frame(samples []int16) (began, ended bool) {
	level := rms(samples)
	room := g.floor.next(level)
	need := max(quietest, room*aboveFloor)
	if g.inside {
		need = max(need, g.peak*belowPeak)
	}
	loud := level > need
	g.frames++
	g.recent <<= 1
	if loud {
		g.recent |= 1
	}
	if !g.inside {
		return g.outside(level), false
	}
	if loud {
		g.peak = max(g.peak, level)
		g.lastLoud = g.frames
		g.still = 0
	} else {
		g.still++
	}
	tooLong := g.frames-g.current.began >= maxSegmentFrames
	if g.still < framesToEnd && !tooLong {
		return false, false
	}
	g.inside = false
	g.current.ended = g.lastLoud
	if tooLong {
		g.current.alone = false
		g.still = 0
	}
	g.recent = 0
	return false, true
}

// silence handles missing sound: it ends a segment, and the next one stands alone. The room's noise level is kept. It
// reports whether a segment ended.
func (g *speechGate) silence() (ended bool) {
	ended = g.inside
	if ended {
		g.inside = false
		g.current.ended = g.lastLoud
	}
	g.recent = 0
	g.still = framesAlone
	return ended
}

// trails reports whether the sound has ended quietly, as senders make it end before they stop sending.
func (g *speechGate) trails() bool { return g.still >= framesTrail }

// outside reports whether a segment begins with the frame.
func (g *speechGate) outside(level float64) (began bool) {
	last4 := g.recent & 0xf
	if bits.OnesCount(last4) < framesToBegin {
		g.still++
		return false
	}
	first := g.frames - 3
	if last4&0x8 != 0 {
		first = g.frames - 4
	}
	g.inside = true
	g.peak = level
	g.lastLoud = g.frames
	g.current = segment{began: max(first, 0), alone: g.still >= framesAlone}
	g.still = 0
	return true
}

func rms(samples []int16) float64 {
	if len(samples) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(len(samples)))
}

// noiseFloor is the noise level of the room: the quietest of the last two seconds.
type noiseFloor struct {
	stillest [66]float64 // of 30 ms each, a ring
	at       int
	sum      float64 // of the 30 ms under way
	n        int
}

func (f *noiseFloor) next(level float64) float64 {
	f.sum += level
	f.n++
	if f.n == 3 {
		f.at = (f.at + 1) % len(f.stillest)
		f.stillest[f.at] = f.sum / float64(f.n)
		f.sum, f.n = 0, 0
	}
	return f.now()
}

// now returns the level, as a root mean square.
func (f *noiseFloor) now() float64 {
	least := f.stillest[0]
	for _, s := range f.stillest[1:] {
		least = min(least, s)
	}
	return least
}

const (
	framesLead = 4    // before a segment that are looked at with its beginning
	framesHead = 52   // of a segment that are looked at
	partVowel  = 0.35 // of the loudest frame, that a vowel has
	// loudness of the differences between samples, by that of the samples: a vowel has less, a hiss more
	sharpVowel  = 0.9
	framesHiss  = 9    // of "st", at least, until the vowel
	partClosure = 0.45 // of the hiss, that is left while the mouth is closed for a "t"
)

// beginsAsStop reports whether head sounds like the beginning of "st": a hiss, a closure, and only then a vowel. The
// process cannot tell that: to it the hiss of a quiet voice is noise, and "top" fits nearly as well. Head begins lead
// frames before the speech.
func beginsAsStop(head []int16, lead int) bool {
	var levels, sharps []float64
	peak := 1.0
	for len(head) >= frameSize {
		f := head[:frameSize]
		head = head[frameSize:]
		levels = append(levels, rms(f))
		sharps = append(sharps, roughness(f))
		peak = max(peak, levels[len(levels)-1])
	}
	vowel := 0
	for vowel < len(levels) && (levels[vowel] < partVowel*peak || sharps[vowel] > sharpVowel*levels[vowel]) {
		vowel++
	}
	if vowel == len(levels) || vowel < lead+framesHiss {
		return false
	}
	hiss, least := 0.0, 1.0
	for i, level := range levels[lead:vowel] {
		if i >= 2 && hiss > 0 {
			least = min(least, level/hiss)
		}
		hiss = max(hiss, level)
	}
	return least <= partClosure
}

// roughness returns the root mean square of the differences between samples.
func roughness(samples []int16) float64 {
	sum := 0.0
	for i := 1; i < len(samples); i++ {
		d := float64(samples[i]) - float64(samples[i-1])
		sum += d * d
	}
	return math.Sqrt(sum / float64(max(len(samples)-1, 1)))
}
