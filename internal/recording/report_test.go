package recording_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/recording"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

func TestAStepIsToldOnceWhateverWasSaidMeanwhile(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var lines strings.Builder
	add := func(e recording.Entry) {
		at = at.Add(time.Second)
		e.At = at
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(raw, '\n'))
	}
	step := func(n int, kind sessions.StepKind, phase sessions.Phase) {
		add(recording.Entry{Kind: recording.KindStep, Step: &sessions.Step{N: n, Kind: kind, Phase: phase, Usage: llm.Usage{Calls: n}}})
	}
	leg := &recording.RunStart{Format: 1, Task: sessions.Task{ID: "t1"}, Runtime: "r", Session: "s1"}
	add(recording.Entry{Kind: recording.KindBegin, Begin: leg})
	step(1, sessions.StepAct, sessions.PhaseBegun)
	step(2, sessions.StepNotice, sessions.PhaseDone)
	step(1, sessions.StepAct, sessions.PhaseDone)
	step(3, sessions.StepAct, sessions.PhaseBegun) // the program ended
	add(recording.Entry{Kind: recording.KindBegin, Begin: leg})
	step(3, sessions.StepAct, sessions.PhaseDone) // of another backend, which counts from 1
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run.jsonl"), []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	type told struct {
		N      int
		Phase  sessions.Phase
		Millis float64
	}
	var got []told
	account := open(t, dir).Report()
	for _, s := range account.Steps {
		got = append(got, told{s.N, s.Phase, s.Millis})
	}
	want := []told{{2, sessions.PhaseDone, 0}, {1, sessions.PhaseDone, 2000}, {3, sessions.PhaseBegun, 0}, {3, sessions.PhaseDone, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
