package voiceloop

import (
	"fmt"
	"slices"
	"time"
)

// Score is the result of recordings.
type Score struct {
	Hits, Misses, False int
	Delays              []time.Duration // from the end of an order to its recognition
	Speech              time.Duration
	Notes               []string // on errors
}

// maxSpotDelay is the maximum delay between an order and its recognition.
const maxSpotDelay = 1500 * time.Millisecond

// Add counts one recording. heard are the times at which stop words were recognized, relative to its start.
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

// Merge returns the sum of both scores.
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

// P95 returns the 95th percentile of the delays.
func (s *Score) P95() time.Duration {
	if len(s.Delays) == 0 {
		return 0
	}
	d := slices.Sorted(slices.Values(s.Delays))
	return d[min(len(d)-1, (len(d)*95+99)/100-1)]
}

// String returns the last line of the output.
func (s *Score) String() string {
	return fmt.Sprintf("voice: hits=%d misses=%d false=%d p95_ms=%d", s.Hits, s.Misses, s.False, s.P95().Milliseconds())
}
