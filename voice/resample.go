package voice

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

const (
	filterTaps    = 32      // of each phase, at the lower of the two rates
	maxFilter     = 1 << 20 // coefficients of all phases
	filterRolloff = 0.91    // of half the lower rate; higher frequencies are damped
	kaiserBeta    = 8.0     // of the Kaiser window: about 80 dB
)

// Resampler converts a stream of mono samples to another rate with a polyphase windowed sinc filter. Its output is in
// time with its input. It is not safe for concurrent use.
type Resampler struct {
	up, down int
	phases   [][]float32 // each reversed, to be laid over the samples as they came
	history  []float32
	at       int // of the next result, in units of 1/up of a sample of history
}

// NewResampler returns a resampler. Rates are from 8 to 192 kHz.
func NewResampler(from, to int) (*Resampler, error) {
	for _, r := range []int{from, to} {
		if r < 8000 || r > 192000 {
			return nil, fmt.Errorf("bring %d Hz to %d Hz: rates are from 8000 to 192000 Hz", from, to)
		}
	}
	div := gcd(from, to)
	up, down := to/div, from/div
	width := filterTaps
	if down > up {
		width = (filterTaps*down/up + 1) &^ 1
	}
	if up*width > maxFilter {
		return nil, errors.New("bring one rate to another: the two have too little in common")
	}
	r := &Resampler{up: up, down: down, phases: designFilter(up, down, width)}
	// Half of the filter is before the first sample.
	r.history = make([]float32, width/2-1)
	return r, nil
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// designFilter returns the phases of a low-pass filter below half of the lower rate.
func designFilter(up, down, width int) [][]float32 {
	cutoff := filterRolloff * min(1, float64(up)/float64(down)) // of half the rate that comes in
	half := float64(width) / 2
	phases := make([][]float32, up)
	for p := range phases {
		h := make([]float64, width)
		sum := 0.0
		for k := range h {
			t := float64(k) - (half - 1) - float64(p)/float64(up)
			h[k] = cutoff * sinc(cutoff*t) * kaiser(t/half)
			sum += h[k]
		}
		phases[p] = make([]float32, width)
		for k := range h {
			phases[p][k] = float32(h[k] / sum)
		}
	}
	return phases
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func kaiser(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel(kaiserBeta*math.Sqrt(1-x*x)) / bessel(kaiserBeta)
}

// bessel returns the modified Bessel function of the first kind and order zero.
func bessel(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-12; k++ {
		term *= (x / 2 / k) * (x / 2 / k)
		sum += term
	}
	return sum
}

// delay returns by how many samples the output may lag behind its input.
func (r *Resampler) delay() int { return (len(r.phases[0])/2*r.up)/r.down + 1 }

// Write appends samples and returns the output that is complete. The rest follows with the next samples or with Flush.
func (r *Resampler) Write(samples []int16) []int16 {
	for _, s := range samples {
		r.history = append(r.history, float32(s))
	}
	width := len(r.phases[0])
	var out []int16
	for r.at/r.up+width <= len(r.history) {
		window, phase := r.history[r.at/r.up:], r.phases[r.at%r.up]
		var sum float32
		for k, c := range phase {
			sum += c * window[k]
		}
		out = append(out, clampSample(sum))
		r.at += r.down
	}
	if used := min(r.at/r.up, len(r.history)); used > 0 {
		r.history = slices.Delete(r.history, 0, used)
		r.at -= used * r.up
	}
	return out
}

// Flush returns the last samples, as if silence had followed. The resampler is then to be left.
func (r *Resampler) Flush() []int16 {
	return r.Write(make([]int16, len(r.phases[0])/2))
}

func clampSample(v float32) int16 {
	return int16(max(-32768, min(32767, math.RoundToEven(float64(v)))))
}
