package voiceloop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/voiceloop"
	"clank/voice/speech/keyword"
)

var (
	bin  = flag.String("voice.bin", "", "the program that people talk to in emulated calls")
	only = flag.String("voice.only", "", "use only voices with that in their names")
)

// requirePrograms skips where the programs are missing.
func requirePrograms(t *testing.T) {
	t.Helper()
	for _, p := range voiceloop.Programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s: install the package %s", p, p)
		}
	}
	s, err := keyword.Open(keyword.Options{})
	if errors.Is(err, keyword.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

// TestVoiceLoop tests the whole way: people in emulated calls, encryption, loss, the real program, its browser.
func TestVoiceLoop(t *testing.T) {
	if *bin == "" {
		t.Skip("takes minutes; make voice-loop runs it")
	}
	requirePrograms(t)
	w := newTestGuild(t, *bin)
	var tuned, held voiceloop.Score
	for n, voices := range slices.Collect(slices.Chunk(voiceloop.Voices(), 6)) {
		w.converse(fmt.Sprintf("t%d", n), voices, voiceloop.Tuned, &tuned)
	}
	w.converse("h", voiceloop.HeldOutVoices(), voiceloop.HeldOut, &held)
	all := tuned.Merge(held)
	if got := w.discord.Voice.Violations(); len(got) > 0 {
		t.Errorf("got violations %v, want none", got)
	}
	t.Logf("tuned voices: %s in %v of speech", tuned.String(), tuned.Speech.Round(time.Second))
	t.Logf("held-out voices: %s in %v of speech", held.String(), held.Speech.Round(time.Second))
	t.Log(all.String())
}

// converse lets voices speak at once, each in a call of its own.
func (w *testGuild) converse(id string, voices []voiceloop.Voice, text voiceloop.TestText, score *voiceloop.Score) {
	w.t.Helper()
	var calls []*call
	var lines [][]voiceloop.SpeechLine
	for i, v := range voices {
		if !strings.Contains(v.String(), *only) {
			continue
		}
		l, err := voiceloop.SynthesizeLines(w.t.Context(), v, text)
		if err != nil {
			w.t.Fatal(err)
		}
		c, err := w.call(fmt.Sprint(id, i), v)
		if err != nil {
			w.t.Fatal(err)
		}
		calls, lines = append(calls, c), append(lines, l)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for i, c := range calls {
		wg.Go(func() {
			take, heard, err := c.play(ctx, lines[i], uint64(i))
			if err != nil {
				w.t.Error(c.voice, err)
			}
			mu.Lock()
			defer mu.Unlock()
			had := len(score.Notes)
			score.Add(take, heard)
			w.t.Log(c.voice, "so far:", score.String(), score.Notes[had:])
		})
	}
	wg.Wait()
	for _, c := range calls {
		if err := c.leave(); err != nil {
			w.t.Error(c.voice, err)
		}
	}
}

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
		heard []time.Duration
		want  string
	}{
		{"all", []time.Duration{ms(4300)}, "voice: hits=1 misses=0 false=0 p95_ms=300"},
		{"nothing", nil, "voice: hits=0 misses=1 false=0 p95_ms=0"},
		{"too late", []time.Duration{ms(5600)}, "voice: hits=0 misses=1 false=1 p95_ms=0"},
		{"in a sentence", []time.Duration{ms(2100), ms(4200)}, "voice: hits=1 misses=0 false=1 p95_ms=200"},
		{"twice", []time.Duration{ms(4100), ms(4200)}, "voice: hits=1 misses=0 false=1 p95_ms=100"},
	} {
		var s voiceloop.Score
		s.Add(said(), c.heard)
		if got := s.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
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
