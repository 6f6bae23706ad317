package computeruse_test

import (
	"context"
	"image"
	"testing"

	"clank/computeruse"
	"clank/internal/test/computerusetest"
	"clank/sessions"
)

// BenchmarkBatch measures the loop's time for a batch of a click and a text, with a model that answers at once
// and a screen in memory: with an image sent as it is, one that is scaled down, and one that did not change.
func BenchmarkBatch(b *testing.B) {
	for _, bc := range []struct {
		name  string
		ratio float64
		still bool
	}{{"as it is", 1, false}, {"scaled", 2, false}, {"unchanged", 2, true}} {
		b.Run(bc.name, func(b *testing.B) {
			mind := &computerusetest.Model{Size: image.Pt(1280, 800)}
			mind.Script = func(_ context.Context, n int, _ computeruse.Input) (computeruse.Turn, error) {
				if !b.Loop() {
					return say("done"), nil
				}
				return do(click(n%1000, n/1000), computeruse.Action{Kind: computeruse.ActType, Text: "lamp"}), nil
			}
			agent := &computeruse.Agent{
				Browser: &computerusetest.Browser{New: func() *computerusetest.Screen {
					return &computerusetest.Screen{Size: image.Pt(1280, 800), Ratio: bc.ratio, Still: bc.still}
				}},
				Model: func(context.Context, string) (computeruse.Model, error) { return mind, nil },
			}
			b.ReportAllocs()
			task := sessions.Task{ID: "t1", Prompt: "go", MaxSteps: 1 << 30}
			for step, err := range agent.Run(b.Context(), sessions.Session{ID: "s1"}, task) {
				if err != nil || step.Failed {
					b.Fatal(err, step.Text)
				}
			}
		})
	}
}
