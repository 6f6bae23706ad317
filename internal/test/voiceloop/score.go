package voiceloop

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Score is what came of takes.
type Score struct {
	Hits, Misses, False int
	Delays              []time.Duration // from the end of an order to its being heard
	Calls, Uncalled     int             // of the name, in sentences that begin with it: heard and not heard
	Wrong               int             // times that the name was heard and not said
	Speech              time.Duration
	Notes               []string // on what went wrong
}

// maxSpotDelay is how long after an order it may be heard.
const maxSpotDelay = 1500 * time.Millisecond

// Add counts one take. The name is wake.
func (s *Score) Add(t Recording, heard []SpottedAt, wake string) {
	s.Speech += t.Speech()
	used := make([]bool, len(heard))
	find := func(x SpokenLine, isWake bool) (SpottedAt, bool) {
		for i, h := range heard {
			if !used[i] && (h.Phrase == wake) == isWake && h.At > x.Start && h.At < x.End+maxSpotDelay {
				used[i] = true
				return h, true
			}
		}
		return SpottedAt{}, false
	}
	for _, x := range t.Said {
		if x.Order {
			if h, ok := find(x, false); ok {
				s.Hits++
				s.Delays = append(s.Delays, h.At-x.End)
			} else {
				s.Misses++
				s.note(t, "missed %q at %v", x.Text, x.Start)
			}
			continue
		}
		if !strings.HasPrefix(x.Text, wake) {
			continue
		}
		if _, ok := find(x, true); ok {
			s.Calls++
		} else {
			s.Uncalled++
		}
	}
	for i, h := range heard {
		switch {
		case used[i]:
		case h.Phrase == wake && !matchesLine(t, h, wake):
			s.Wrong++
			s.note(t, "the name was not said at %v: %s", h.At, lastSaidBefore(t, h))
		case h.Phrase != wake:
			s.False++
			s.note(t, "%q was not an order at %v: %s", h.Phrase, h.At, lastSaidBefore(t, h))
		}
	}
}

// Merge returns the score of both.
func (s Score) Merge(o Score) Score {
	s.Hits, s.Misses, s.False = s.Hits+o.Hits, s.Misses+o.Misses, s.False+o.False
	s.Calls, s.Uncalled, s.Wrong = s.Calls+o.Calls, s.Uncalled+o.Uncalled, s.Wrong+o.Wrong
	s.Delays = slices.Concat(s.Delays, o.Delays)
	s.Notes = slices.Concat(s.Notes, o.Notes)
	s.Speech += o.Speech
	return s
}

func (s *Score) note(t Recording, format string, args ...any) {
	s.Notes = append(s.Notes, t.Voice.String()+": "+fmt.Sprintf(format, args...))
}

// matchesLine says whether the name was said where it was heard: in an order, say.
func matchesLine(t Recording, h SpottedAt, wake string) bool {
	return strings.Contains(lastSaidBefore(t, h), wake)
}

// lastSaidBefore returns what was said last before h.
func lastSaidBefore(t Recording, h SpottedAt) string {
	last := ""
	for _, x := range t.Said {
		if x.Start < h.At {
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
