package corpus_test

import (
	"context"
	"testing"

	"clank/internal/test/corpus"
)

func TestStepsThatAreNotDoneAreNoticed(t *testing.T) {
	for _, task := range corpus.All() {
		if err := task.Check(t.Context(), untouchedPage{}); err == nil {
			t.Errorf("%s: all is as it must be before anything was done", task.Name)
		}
	}
}

// untouchedPage is a page on which nothing happens.
type untouchedPage struct{}

func (untouchedPage) Act(context.Context, string, map[string]any) ([]string, error) { return nil, nil }

func (untouchedPage) Snapshot(context.Context, bool, int) (string, error) { return "", nil }

func TestTheCorpusIsLargeEnoughForEachBackend(t *testing.T) {
	names, worded := map[string]bool{}, 0
	for _, task := range corpus.All() {
		names[task.Name] = true
		if _, ok := task.Sentences("http://shop.test/"); ok {
			worded++
		}
	}
	if len(names) != len(corpus.All()) || worded < 30 {
		t.Errorf("of %d tasks, %d have names of their own and %d can be said in plain sentences, want all and at least 30", len(corpus.All()), len(names), worded)
	}
}
