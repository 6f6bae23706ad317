package keyword

import "math"

const (
	framesLead  = 4    // before a segment that are looked at with its beginning
	framesHead  = 52   // of a segment that are looked at
	partVowel   = 0.35 // of the loudest frame, that a vowel has
	sharpVowel  = 0.9  // loudness of the differences between samples, by that of the samples: a vowel has less, a hiss more
	framesHiss  = 9    // of "st", at least, until the vowel
	partClosure = 0.45 // of the hiss, that is left while the mouth is closed for a "t"
)

// beginsAsStop says whether somebody who says head begins as with "st": a hiss, a closure, and only then a vowel. The process cannot
// tell that: to it the hiss of a quiet voice is noise like any other, and "top" fits nearly as well. Head begins lead frames
// before what is said.
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
