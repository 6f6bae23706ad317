package voiceloop

import (
	"fmt"
	"slices"
	"time"
)

// Score is what came of takes.
type Score struct {
	Hits, Misses, False int
	Delays              []time.Duration // from the end of an order to its being heard
	Speech              time.Duration
	Notes               []string // on what went wrong
}

// maxSpotDelay is how long after an order it may be heard.
const maxSpotDelay = 1500 * time.Millisecond

// Add counts one take. Heard is when stop words were heard, in the time of the take.
func (s *Score) Add(t Recording, heard []time.Duration) {
	s.Speech += t.Speech()
	heard = slices.Clone(heard)
	for _, x := range t.Said {
		if !x.Order {
			continue
		}
		i := slices.IndexFunc(heard, func(at time.Duration) bool { return at > x.Start && at < x.End+maxSpotDelay })
		if i < 0 {
			s.Misses++
			s.note(t, "missed %q at %v", x.Text, x.Start)
			continue
		}
		s.Hits++
		s.Delays = append(s.Delays, heard[i]-x.End)
		heard = slices.Delete(heard, i, i+1)
	}
	for _, at := range heard {
		s.False++
		s.note(t, "no order at %v: %s", at, lastSaidBefore(t, at))
	}
}

// Merge returns the score of both.
func (s Score) Merge(o Score) Score {
	s.Hits, s.Misses, s.False = s.Hits+o.Hits, s.Misses+o.Misses, s.False+o.False
	s.Delays = slices.Concat(s.Delays, o.Delays)
	s.Notes = slices.Concat(s.Notes, o.Notes)
	s.Speech += o.Speech
	return s
}

func (s *Score) note(t Recording, format string, args ...any) {
	s.Notes = append(s.Notes, t.Voice.String()+": "+fmt.Sprintf(format, args...))
}

func lastSaidBefore(t Recording, at time.Duration) string {
	last := ""
	for _, x := range t.Said {
		if x.Start < at {
			last = x.Text
		}
	}
	return last
}

// P95 returns the delay that 95 of 100 orders do not pass.
func (s *Score) P95() time.Duration {
	if len(s.Delays) == 0 {
		return 0
	}
	d := slices.Sorted(slices.Values(s.Delays))
	return d[min(len(d)-1, (len(d)*95+99)/100-1)]
}

// String returns the line that ends a measurement.
func (s *Score) String() string {
	return fmt.Sprintf("voice: hits=%d misses=%d false=%d p95_ms=%d", s.Hits, s.Misses, s.False, s.P95().Milliseconds())
}
