package keyword_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clank/cancel"
	"clank/internal/test/check"
	"clank/voice/conversation"
	"clank/voice/speech/keyword"
)

// sound returns noise of a loudness (root mean square) for so many frames of 10 ms.
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
		want  []keyword.Segment
	}{
		{"nothing", sound([2]int{0, 300}), nil},
		{"a still room", sound([2]int{30, 300}), nil},
		{"a word between silences", sound([2]int{0, 50}, [2]int{3000, 40}, [2]int{0, 50}), []keyword.Segment{{50, 90, true}}},
		{
			"a pause inside a word", sound([2]int{0, 50}, [2]int{3000, 20}, [2]int{0, 10}, [2]int{3000, 10}, [2]int{0, 50}),
			[]keyword.Segment{{50, 90, true}},
		},
		{"a click", sound([2]int{0, 50}, [2]int{3000, 2}, [2]int{0, 50}), nil},
		{
			"a word in a loud room", sound([2]int{250, 300}, [2]int{3000, 40}, [2]int{250, 50}),
			[]keyword.Segment{{0, 0, false}, {300, 340, true}},
		},
	} {
		got := keyword.Cut(c.sound)
		if c.name == "a word in a loud room" { // the room is taken for speech until it is known
			got = got[max(0, len(got)-1):]
			c.want = c.want[1:]
		}
		check.Diff(t, c.name, got, c.want)
	}
}

func TestSpeechWithoutAPauseIsCutAndStandsNotAlone(t *testing.T) {
	parts := [][2]int{{0, 50}}
	for range 100 {
		parts = append(parts, [2]int{3000, 15}, [2]int{0, 5})
	}
	got := keyword.Cut(sound(append(parts, [2]int{0, 50})...))
	if len(got) < 2 {
		t.Fatalf("%d segments of 20 seconds, want it cut", len(got))
	}
	for _, s := range got {
		if s.Alone {
			t.Errorf("%+v stands alone", s)
		}
	}
}

func TestAPhraseMustBeAllOfWhatWasSaid(t *testing.T) {
	for _, c := range []struct {
		name, printed string
		start, end    float64
		alone         bool
		want          string
	}{
		{"it is", "stop  1.00 1.40 0.87", 1, 1.4, true, "stop"},
		{"please stop", "please stop  1.05 1.60 0.82", 1, 1.6, true, "please stop"},
		{"it stopped", "please stop  1.13 1.60 0.82", 1, 1.6, true, ""},
		{"with a long s", "stay  0.97 1.14 0.82\nstop  1.18 1.40 0.82", 1, 1.4, true, "stop"},
		{"in the other pronunciation", "stop(2)  1.00 1.40 0.87", 1, 1.4, true, "stop"},
		{"something before it", "stop  1.30 1.70 0.87", 1, 1.7, true, ""},
		{"something after it", "stop  1.00 1.40 0.87", 1, 1.9, true, ""},
		{"amid speech", "stop  1.00 1.40 0.87", 1, 1.4, false, ""},
		{"the name before it", "stop  1.45 1.80 0.87\nclank  1.00 1.40 0.86", 1, 1.8, true, "stop"},
		{"the name before it, and something after it", "stop  1.45 1.80 0.87\nclank  1.00 1.40 0.80", 1, 1.95, true, ""},
		{"the name and something before it", "stop  1.75 2.10 0.87\nclank  1.00 1.40 0.80", 1, 2.1, true, ""},
		{"another word fits better", "stop  1.00 1.40 0.82\nyes  1.02 1.38 0.88", 1, 1.4, true, ""},
		{"another word fits about as well", "stop  1.00 1.40 0.87\nyes  1.02 1.38 0.88", 1, 1.4, true, "stop"},
		{"a phrase", "stop now  1.00 1.30 0.85", 1, 1.7, true, "stop now"},
		{"cancel, as the English say it", "cancel(3) that(2)  1.00 1.50 0.80", 1, 1.7, true, "cancel that"},
		{"to be left out", "clank(3) privacy  1.00 1.80 0.80\nclank(3)  1.00 1.30 0.85", 1, 1.9, true, "clank privacy"},
		{"a question about privacy", "clank privacy  1.00 1.80 0.80", 1, 2.4, true, ""},
		{"a hit elsewhere", "stop  5.00 5.40 0.87", 1, 1.4, true, ""},
		{"nothing", "", 1, 1.4, true, ""},
		{"the name", "clank(2)  1.00 1.40 0.86", 1, 4, false, keyword.WakeWord},
		{"the name, as the English say it", "clank(3)  1.00 1.40 0.84", 1, 4, false, keyword.WakeWord},
		{"the name after other words", "clank  3.00 3.40 0.86", 1, 4, true, ""},
		{"the name, but a word like it fits better", "clank  1.00 1.40 0.84\nbank 1.05 1.4 0.85", 1, 4, true, ""},
		{"the name, unsure", "clank  1.00 1.40 0.82", 1, 4, true, ""},
	} {
		check.Equal(t, c.name+": heard", keyword.Judge(c.printed, c.start, c.end, c.alone, true), c.want)
	}
}

func TestWhatDoesNotBeginAsStopIsNone(t *testing.T) {
	for _, c := range []struct{ name, printed, want string }{
		{"top", "stop  1.05 1.40 0.87", ""},
		{"I stopped", "stop  1.14 1.40 0.87", ""},
		{"cancel that", "cancel that  1.00 1.40 0.87", "cancel that"},
		{"please stop", "please stop  1.00 1.40 0.87", "please stop"},
		{"clank, stop", "clank stop  1.00 1.40 0.87", "clank stop"},
		{"clank, and then stop", "clank  1.00 1.20 0.87\nstop  1.20 1.40 0.87", "stop"},
		{"thanks a lot", "clank  1.00 1.20 0.82\nthanks  1.00 1.20 0.84\nstop  1.20 1.40 0.87", ""},
		{"the last", "clank  1.00 1.30 0.82\nstop  1.32 1.60 0.87", ""},
	} {
		check.Equal(t, c.name+": heard", keyword.Judge(c.printed, 1, 1.4, true, false), c.want)
	}
}

// hum returns a vowel of a loudness for so many frames.
func hum(level, frames int) []int16 {
	out := make([]int16, frames*160)
	for i := range out {
		out[i] = int16(float64(level) * math.Sqrt2 * math.Sin(2*math.Pi*200*float64(i)/16000))
	}
	return out
}

func TestAStopBeginsWithAHissAndAClosure(t *testing.T) {
	for _, c := range []struct {
		name string
		head []int16
		want bool
	}{
		{"stop", slices.Concat(sound([2]int{600, 9}, [2]int{80, 5}), hum(3000, 20)), true},
		{"stop, said slowly", slices.Concat(sound([2]int{600, 15}, [2]int{80, 8}), hum(3000, 25)), true},
		{"stop, whose hiss is loud", slices.Concat(sound([2]int{1500, 9}, [2]int{80, 5}), hum(3000, 20)), true},
		{"top", slices.Concat(sound([2]int{600, 4}), hum(3000, 20)), false},
		{"shop", slices.Concat(sound([2]int{600, 14}), hum(3000, 20)), false},
		{"up", hum(3000, 20), false},
		{"a hiss alone", sound([2]int{600, 30}), false},
		{"nothing", nil, false},
	} {
		check.Equal(t, c.name+" begins as stop", keyword.BeginsAsStop(c.head), c.want)
	}
}

func TestEveryPhraseIsUnderstoodAsInChat(t *testing.T) {
	for _, p := range keyword.Phrases() {
		_, rest := conversation.CutName(p, nil)
		if !cancel.IsStop(p) && !conversation.IsOptOutRequest(rest) {
			t.Errorf("%q means nothing in chat", p)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{
		"stop  1.00 1.40 0.87\n", "stop\n", "stop it NaN 1 2", "stop 2 1 0.9",
		strings.Repeat("x ", 5000), "stop 1e999 2 3",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, printed string) {
		got := keyword.Judge(printed, 1, 1.5, true, true)
		if got != "" && got != keyword.WakeWord && got != "clank privacy" && !cancel.IsStop(got) {
			t.Errorf("Judge(%q) = %q", printed, got)
		}
	})
}
