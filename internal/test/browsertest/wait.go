package browsertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Within returns a context that ends after d, and with the test at the latest.
func Within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// Eventually waits for what another process brings about, up to a minute.
func Eventually(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	ctx := Within(tb, time.Minute)
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("not within a minute: %s", what)
		}
	}
}

// WantContains fails the test for each text that got does not contain.
func WantContains(tb testing.TB, got string, want ...string) {
	tb.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			tb.Errorf("got\n%s\nwant it to contain %q", got, w)
		}
	}
}

// Must ends the test if there is an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Err returns the error of a call whose result does not matter.
func Err[T any](_ T, err error) error { return err }

// WantEqual compares with go-cmp.
func WantEqual[T any](tb testing.TB, got, want T) {
	tb.Helper()
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("got %+v (-want +got)\n%s", got, d)
	}
}

// WantError fails the test unless err is target and its text contains all of want. A nil target stands for any error.
func WantError(tb testing.TB, err, target error, want ...string) {
	tb.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		tb.Errorf("got error %v, want %v %q", err, target, want)
		return
	}
	WantContains(tb, err.Error(), want...)
}
