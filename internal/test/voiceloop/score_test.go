package voiceloop_test

import (
	"testing"
	"time"

	"clank/internal/test/voiceloop"
	"clank/voice"

	"github.com/google/go-cmp/cmp"
)

// said returns a sentence, an order and a call, a second each, at 1, 3 and 5 seconds.
func said() voiceloop.Recording {
	at := func(second int, text string, order bool) voiceloop.SpokenLine {
		start := time.Duration(second) * time.Second
		return voiceloop.SpokenLine{Text: text, Order: order, Start: start, End: start + time.Second}
	}
	return voiceloop.Recording{Said: []voiceloop.SpokenLine{at(1, "the bus stop", false), at(3, "stop", true), at(5, "clank look", false)}}
}

func TestScoresAreCountedByWhenSomethingWasHeard(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for _, c := range []struct {
		name  string
		heard []voiceloop.SpottedAt
		want  string
		calls int
		wrong int
	}{
		{"all", []voiceloop.SpottedAt{{"stop", ms(4300)}, {"clank", ms(6200)}}, "voice: hits=1 misses=0 false=0 p95_ms=300", 1, 0},
		{"nothing", nil, "voice: hits=0 misses=1 false=0 p95_ms=0", 0, 0},
		{"too late", []voiceloop.SpottedAt{{"stop", ms(5600)}}, "voice: hits=0 misses=1 false=1 p95_ms=0", 0, 0},
		{"in a sentence", []voiceloop.SpottedAt{{"stop", ms(2100)}, {"stop", ms(4200)}}, "voice: hits=1 misses=0 false=1 p95_ms=200", 0, 0},
		{"twice", []voiceloop.SpottedAt{{"stop", ms(4100)}, {"stop it", ms(4200)}}, "voice: hits=1 misses=0 false=1 p95_ms=100", 0, 0},
		{"the name where it was not said", []voiceloop.SpottedAt{{"clank", ms(2100)}, {"stop", ms(4200)}}, "voice: hits=1 misses=0 false=0 p95_ms=200", 0, 1},
	} {
		var s voiceloop.Score
		s.Add(said(), c.heard, "clank")
		if got := s.String(); got != c.want || s.Calls != c.calls || s.Wrong != c.wrong {
			t.Errorf("%s: %s, %d calls, %d wrong; want %s, %d, %d", c.name, got, s.Calls, s.Wrong, c.want, c.calls, c.wrong)
		}
	}
}

func TestTheDelayOfNineteenInTwentyIsTold(t *testing.T) {
	var s voiceloop.Score
	for i := range 20 {
		s.Delays = append(s.Delays, time.Duration(20-i)*time.Millisecond)
	}
	if got, want := s.P95(), 19*time.Millisecond; got != want {
		t.Errorf("P95 = %v, want %v", got, want)
	}
}

func TestALossyWayLosesItsPartAndNothingElse(t *testing.T) {
	const sent = 2000
	run := func() []uint16 {
		in := make(chan voice.Packet)
		go func() {
			defer close(in)
			for i := range sent {
				in <- voice.Packet{Sequence: uint16(i)}
			}
		}()
		var got []uint16
		for p := range voiceloop.Lossy(0.05, 7)(t.Context(), in) {
			if n := len(got); n > 0 && p.Sequence <= got[n-1] {
				t.Fatalf("%d came after %d", p.Sequence, got[n-1])
			}
			got = append(got, p.Sequence)
		}
		return got
	}
	got := run()
	if lost := sent - len(got); lost < sent*3/100 || lost > sent*7/100 {
		t.Errorf("%d of %d were lost, want about 5 in 100", lost, sent)
	}
	if diff := cmp.Diff(got, run()); diff != "" {
		t.Errorf("the same seed lost others:\n%s", diff)
	}
}
