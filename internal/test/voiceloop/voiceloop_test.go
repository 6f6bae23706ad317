package voiceloop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/voiceloop"
	"clank/voice"
	"clank/voice/speech/keyword"
)

var (
	bin   = flag.String("voice.bin", "", "the program that people talk to in emulated calls")
	path  = flag.Bool("voice.path", false, "let all voices say everything to an ear and a spotter alone")
	held  = flag.Bool("voice.held", false, "the same with the voices that are held out")
	only  = flag.String("voice.only", "", "use only voices with that in their names")
	debug = flag.Bool("voice.debug", false, "log what the spotter thinks")
)

// open skips where the programs are missing.
func open(t *testing.T) *keyword.Spotter {
	t.Helper()
	for _, p := range voiceloop.Programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("needs %s: install the package %s", p, p)
		}
	}
	log := slog.New(slog.DiscardHandler)
	if *debug {
		log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s, err := keyword.Open(keyword.Options{MaxListeners: 16, Log: log})
	if errors.Is(err, keyword.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestVoiceLoop tests the whole way: people in emulated calls, encryption, loss, the real program, its browser.
func TestVoiceLoop(t *testing.T) {
	if *bin == "" {
		t.Skip("takes minutes; make voice-loop runs it")
	}
	open(t)
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
			score.Add(take, heard, keyword.WakeWord)
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

// TestSoundPath tests the part of the way that thresholds are found with: packets, losses, the ear, the spotter.
func TestSoundPath(t *testing.T) {
	if !*path {
		t.Skip("takes minutes; it is for tuning: -voice.path")
	}
	spotter := open(t)
	var score voiceloop.Score
	for voices := range slices.Chunk(voiceloop.Voices(), 6) {
		play(t, voices, voiceloop.Tuned, spotter, &score)
	}
	if *held {
		play(t, voiceloop.HeldOutVoices(), voiceloop.HeldOut, spotter, &score)
	}
	for _, n := range score.Notes {
		t.Log(n)
	}
	t.Logf("name: heard=%d missed=%d wrong=%d in %v of speech", score.Calls, score.Uncalled, score.Wrong, score.Speech.Round(time.Second))
	t.Log(score.String())
}

// play lets voices speak at once, to one spotter, over a way that loses 5 % of all packets.
func play(t *testing.T, voices []voiceloop.Voice, text voiceloop.TestText, spotter voice.Spotter, score *voiceloop.Score) {
	t.Helper()
	var takes []voiceloop.Recording
	for i, v := range voices {
		if !strings.Contains(v.String(), *only) {
			continue
		}
		take, err := voiceloop.Record(t.Context(), v, text, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		takes = append(takes, take)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for i, take := range takes {
		wg.Go(func() {
			heard, err := voiceloop.SpotRecording(ctx, take, voiceloop.Lossy(0.05, uint64(i)), spotter)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			score.Add(take, heard, keyword.WakeWord)
		})
	}
	wg.Wait()
}
