package spot_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"clank/cancel"
	"clank/voice/speech/spot"
)

// sound is noise of a loudness (root mean square) for so many frames of 10 ms.
func sound(parts ...[2]int) []int16 {
	random := rand.New(rand.NewPCG(1, 2))
	var all []int16
	for _, p := range parts {
		for range p[1] * 160 {
			all = append(all, int16(max(math.MinInt16, min(math.MaxInt16, random.NormFloat64()*float64(p[0])))))
		}
	}
	return all
}

func TestTheGateCutsSpeechAtSilence(t *testing.T) {
	for _, c := range []struct {
		name  string
		sound []int16
		want  []spot.Segment
	}{
		{"nothing", sound([2]int{0, 300}), nil},
		{"a still room", sound([2]int{30, 300}), nil},
		{"a word between silences", sound([2]int{0, 50}, [2]int{3000, 40}, [2]int{0, 50}), []spot.Segment{{50, 90, true}}},
		{"a pause inside a word", sound([2]int{0, 50}, [2]int{3000, 20}, [2]int{0, 10}, [2]int{3000, 10}, [2]int{0, 50}), []spot.Segment{{50, 90, true}}},
		{"a click", sound([2]int{0, 50}, [2]int{3000, 2}, [2]int{0, 50}), nil},
		{"a word in a loud room", sound([2]int{250, 300}, [2]int{3000, 40}, [2]int{250, 50}), []spot.Segment{{0, 0, false}, {300, 340, true}}},
	} {
		got := spot.Cut(c.sound)
		if c.name == "a word in a loud room" { // the room is taken for speech until it is known
			got = got[max(0, len(got)-1):]
			c.want = c.want[1:]
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestSpeechWithoutAPauseIsCutAndStandsNotAlone(t *testing.T) {
	parts := [][2]int{{0, 50}}
	for range 100 {
		parts = append(parts, [2]int{3000, 15}, [2]int{0, 5})
	}
	got := spot.Cut(sound(append(parts, [2]int{0, 50})...))
	if len(got) < 2 {
		t.Fatalf("%d segments of 20 seconds, want it cut", len(got))
	}
	for _, s := range got {
		if s.Alone {
			t.Errorf("%+v stands alone", s)
		}
	}
}

func TestAStopPhraseMustBeAllOfWhatWasSaid(t *testing.T) {
	for _, c := range []struct {
		name, printed string
		start, end    float64
		alone         bool
		want          string
	}{
		{"it is", "stop  1.00 1.40 0.87", 1, 1.4, true, "stop"},
		{"after the word I", "right  0.98 1.15 0.83\nstop  1.11 1.40 0.85", 1, 1.4, true, ""},
		{"with a long s", "stay  0.97 1.14 0.82\nstop  1.13 1.40 0.82", 1, 1.4, true, "stop"},
		{"in the other pronunciation", "stop(2)  1.00 1.40 0.87", 1, 1.4, true, "stop"},
		{"something before it", "stop  1.30 1.70 0.87", 1, 1.7, true, ""},
		{"something after it", "stop  1.00 1.40 0.87", 1, 1.9, true, ""},
		{"amid speech", "stop  1.00 1.40 0.87", 1, 1.4, false, ""},
		{"the name before it", "stop  1.45 1.80 0.87\nclank  1.00 1.40 0.86", 1, 1.8, true, "stop"},
		{"another word fits better", "stop  1.00 1.40 0.82\nyes  1.02 1.38 0.88", 1, 1.4, true, ""},
		{"another word fits about as well", "stop  1.00 1.40 0.87\nyes  1.02 1.38 0.88", 1, 1.4, true, "stop"},
		{"a phrase", "stop now  1.00 1.30 0.85", 1, 1.7, true, "stop now"},
		{"a hit elsewhere", "stop  5.00 5.40 0.87", 1, 1.4, true, ""},
		{"nothing", "", 1, 1.4, true, ""},
		{"the name", "clank(2)  1.00 1.40 0.86", 1, 4, false, spot.Wake},
		{"the name after other words", "clank  3.00 3.40 0.86", 1, 4, true, ""},
		{"the name, but a word like it fits better", "clank  1.00 1.40 0.84\nbank 1.05 1.4 0.88", 1, 4, true, ""},
		{"the name, unsure", "clank  1.00 1.40 0.82", 1, 4, true, ""},
	} {
		if got := spot.Judge(c.printed, c.start, c.end, c.alone); got != c.want {
			t.Errorf("%s: heard %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEveryStopPhraseIsOneInChatToo(t *testing.T) {
	for _, p := range spot.Phrases() {
		if !cancel.IsStop(p) {
			t.Errorf("%q is no stop phrase in chat", p)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{"stop  1.00 1.40 0.87\n", "stop\n", "stop it NaN 1 2", "stop 2 1 0.9", strings.Repeat("x ", 5000), "stop 1e999 2 3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, printed string) {
		got := spot.Judge(printed, 1, 1.5, true)
		if got != "" && got != spot.Wake && !cancel.IsStop(got) {
			t.Errorf("Judge(%q) = %q", printed, got)
		}
	})
}
