package sqlite_test

import (
	"path/filepath"
	"testing"

	"clank/internal/sqlite"
	"clank/llm"
	"clank/sessions"
)

// BenchmarkSaveStep measures what every step of every task costs, twice.
func BenchmarkSaveStep(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "clank.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	step := sessions.Step{
		Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "click", At: noon,
		View: &llm.Image{MediaType: "image/jpeg", Data: make([]byte, 60_000)},
	}
	r, s := task("t", "s", sessions.TaskRunning), session("s")
	for b.Loop() {
		step.N++
		if err := db.SaveStep(b.Context(), r, s, step, 20); err != nil {
			b.Fatal(err)
		}
	}
}
