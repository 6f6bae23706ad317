package runs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"clank/runs"
	"clank/sessions"
)

func TestAStepIsToldOnceWhateverWasSaidMeanwhile(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var lines strings.Builder
	add := func(e runs.Entry) {
		at = at.Add(time.Second)
		e.At = at
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(raw, '\n'))
	}
	step := func(n int, kind sessions.StepKind, phase sessions.Phase) {
		add(runs.Entry{Kind: runs.KindStep, Step: &sessions.Step{N: n, Kind: kind, Phase: phase, Usage: sessions.Usage{Calls: n}}})
	}
	leg := &runs.Begin{Format: 1, Task: sessions.Task{ID: "t1"}, Runtime: "r", Session: "s1"}
	add(runs.Entry{Kind: runs.KindBegin, Begin: leg})
	step(1, sessions.StepAct, sessions.Begun)
	step(2, sessions.StepNotice, sessions.Done)
	step(1, sessions.StepAct, sessions.Done)
	step(3, sessions.StepAct, sessions.Begun) // the program ended
	add(runs.Entry{Kind: runs.KindBegin, Begin: leg})
	step(3, sessions.StepAct, sessions.Done) // of another backend, which counts from 1
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
	account := open(t, dir).Account()
	for _, s := range account.Steps {
		got = append(got, told{s.N, s.Phase, s.Millis})
	}
	want := []told{{2, sessions.Done, 0}, {1, sessions.Done, 2000}, {3, sessions.Begun, 0}, {3, sessions.Done, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}
