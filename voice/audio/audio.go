// Package audio turns sound into other forms of sound: Opus packets into samples and back ([NewDecoder], [NewEncoder],
// [Packer]), one rate into another ([Resampler]), packets into Ogg and out of it, samples into WAV and out of it. It
// also says how loud samples are, and how long a packet sounds.
//
// It knows nothing of calls, of people and of time that passes: jitter, pauses and the ends of what somebody says are
// the business of voice/ear, pacing that of voice/mouth.
package audio

import "math"

// Silence is the Opus packet by which clients say that they fall silent: 20 ms of nothing. Five of them end what
// somebody says.
var Silence = [3]byte{0xF8, 0xFF, 0xFE}

// IsSilence reports whether a packet is [Silence].
func IsSilence(opus []byte) bool {
	return len(opus) == len(Silence) && [3]byte(opus) == Silence
}

// Level says how loud samples are: their largest value and the root of their mean square, both between 0 and 1.
func Level(samples []int16) (peak, rms float64) {
	if len(samples) == 0 {
		return 0, 0
	}
	var top, sum float64
	for _, s := range samples {
		v := float64(s) / 32768
		sum += v * v
		top = max(top, math.Abs(v))
	}
	return top, math.Sqrt(sum / float64(len(samples)))
}
