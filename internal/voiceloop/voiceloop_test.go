package voiceloop_test

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os/exec"
	"sync"
	"testing"
	"time"

	"clank/internal/voiceloop"
	"clank/voice"
	"clank/voice/speech/spot"
)

var (
	whole = flag.Bool("voice.whole", false, "let all voices say everything, in real time")
	only  = flag.String("voice.only", "", "the one voice to use")
	debug = flag.Bool("voice.debug", false, "log what the spotter thinks")
)

// open skips where the programs are missing.
func open(t *testing.T) *spot.Spotter {
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
	s, err := spot.Open(spot.Options{Max: 16, Log: log})
	if errors.Is(err, spot.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestVoiceLoop(t *testing.T) {
	if !*whole {
		t.Skip("takes minutes; make voice-loop runs it")
	}
	spotter := open(t)
	var score voiceloop.Score
	voices := voiceloop.Voices()
	for len(voices) > 0 {
		n := min(6, len(voices))
		play(t, voices[:n], voiceloop.Tuned, spotter, &score)
		voices = voices[n:]
	}
	for _, n := range score.Notes {
		t.Log(n)
	}
	t.Logf("name: heard=%d missed=%d wrong=%d in %v of speech", score.Calls, score.Uncalled, score.Wrong, score.Speech.Round(time.Second))
	t.Log(score.String())
}

// play lets voices speak at once, to one spotter, over a way that loses 5 % of all packets.
func play(t *testing.T, voices []voiceloop.Voice, text voiceloop.Text, spotter voice.Spotter, score *voiceloop.Score) {
	t.Helper()
	var takes []voiceloop.Take
	for i, v := range voices {
		if *only != "" && v.String() != *only {
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
			heard, err := voiceloop.Play(ctx, take, voiceloop.Lossy(0.05, uint64(i)), spotter)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			score.Add(take, heard, spot.Wake)
		})
	}
	wg.Wait()
}
