package voiceloop_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/internal/test/voiceloop"
)

var bin = flag.String("voice.bin", "", "the program that people talk to in emulated calls")

// TestVoiceLoop tests the whole way: people in emulated calls, encryption, loss, the real program, its browser.
func TestVoiceLoop(t *testing.T) {
	if *bin == "" {
		t.Skip("takes minutes; make voice-loop runs it")
	}
	check.Installed(t, append(voiceloop.Programs, "pocketsphinx_continuous")...)
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
		l, err := voiceloop.SynthesizeLines(w.t.Context(), v, text)
		check.Must(w.t, err)
		c, err := w.call(fmt.Sprint(id, i), v)
		check.Must(w.t, err)
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
