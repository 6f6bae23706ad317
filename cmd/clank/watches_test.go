package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"clank/internal/sqlite"
	"clank/internal/watches"
)

func TestWatchesAreListedAndEndedInTheTerminal(t *testing.T) {
	t.Parallel()
	e, stdout, stderr := newTestEnv(t)
	if err := watchesVerb(t.Context(), e, nil); err != nil || !strings.Contains(stderr.String(), "no page is watched") {
		t.Fatalf("%s, %v", stderr, err)
	}
	err := withServerOrDatabase(t.Context(), e, nil, func(db *sqlite.DB) error {
		return db.AddWatch(t.Context(), watches.Watch{
			ID: "w1", URL: "https://shop.test/", What: "cheaper", State: watches.StateActive, NextCheck: time.Now(),
			LastNotice: &watches.Notice{Text: "It is $18 now"},
		}, 1, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := watchesVerb(t.Context(), e, nil); err != nil || !strings.Contains(stdout.String(), "w1  active") || !strings.Contains(stdout.String(), "It is $18 now") {
		t.Errorf("%s, %v", stdout, err)
	}
	stdout.Reset()
	if err := watchesVerb(t.Context(), e, []string{"--json"}); err != nil || !strings.Contains(stdout.String(), `"url": "https://shop.test/"`) {
		t.Errorf("%s, %v", stdout, err)
	}
	if err := watchesVerb(t.Context(), e, []string{"end", "w1"}); err != nil || !strings.Contains(stderr.String(), "ended: w1") {
		t.Errorf("%s, %v", stderr, err)
	}
	stdout.Reset()
	if err := watchesVerb(t.Context(), e, []string{"--json"}); err != nil || strings.TrimSpace(stdout.String()) != "[]" {
		t.Errorf("%s, %v", stdout, err)
	}
	if err := watchesVerb(t.Context(), e, []string{"end", "w9"}); !errors.Is(err, watches.ErrNotFound) {
		t.Errorf("a watch that is not there: %v", err)
	}
	if err := watchesVerb(t.Context(), e, []string{"begin"}); err == nil {
		t.Error("what is not understood was taken")
	}
}
