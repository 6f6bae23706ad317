package voice

import "math"

// OpusSilence is the Opus packet by which clients say that they fall silent: 20 ms of nothing. Five of them end what
// somebody says.
var OpusSilence = [3]byte{0xF8, 0xFF, 0xFE}

// IsOpusSilence reports whether a packet is [OpusSilence].
func IsOpusSilence(opus []byte) bool {
	return len(opus) == len(OpusSilence) && [3]byte(opus) == OpusSilence
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
