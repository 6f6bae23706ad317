package tasks_test

import (
	"context"
	"testing"

	"clank/internal/tasks"
)

func TestStepsThatAreNotDoneAreNoticed(t *testing.T) {
	for _, task := range tasks.Corpus() {
		if err := task.Check(t.Context(), untouched{}); err == nil {
			t.Errorf("%s: all is as it must be before anything was done", task.Name)
		}
	}
}

// untouched is a page on which nothing happens.
type untouched struct{}

func (untouched) Act(context.Context, string, map[string]any) ([]string, error) { return nil, nil }

func (untouched) Snapshot(context.Context, bool, int) (string, error) { return "", nil }

func TestTheCorpusIsLargeEnoughForEachBackend(t *testing.T) {
	names, worded := map[string]bool{}, 0
	for _, task := range tasks.Corpus() {
		names[task.Name] = true
		if _, ok := task.Sentences("http://shop.test/"); ok {
			worded++
		}
	}
	if len(names) != len(tasks.Corpus()) || worded < 30 {
		t.Errorf("of %d tasks, %d have names of their own and %d can be said in plain sentences, want all and at least 30", len(tasks.Corpus()), len(names), worded)
	}
}
