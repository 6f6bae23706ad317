package breaker_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/breaker"
	"clank/browsermgr/fault"
)

var errBroken = errors.New("broken")

func open(b *breaker.Breaker) bool { return b.Check("work") != nil }

func TestItOpensAfterFailuresInARowForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b breaker.Breaker
		for n := range breaker.Failures {
			if open(&b) {
				t.Fatalf("it is open after %d failures", n)
			}
			b.Failed(errBroken)
		}
		err := b.Check("work")
		if !errors.Is(err, fault.ErrUnavailable) || !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
		for _, want := range []string{`profile "work"`, "3 times", "for 30s", "broken"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q does not say %q", err, want)
			}
		}
		time.Sleep(breaker.Pause + 1) //nolint:forbidigo // the clock of the bubble
		if open(&b) {
			t.Error("it is open for ever")
		}
		b.Failed(errBroken)
		if !open(&b) {
			t.Error("it takes more than one further failure")
		}
	})
}

func TestASuccessForgetsFailures(t *testing.T) {
	var b breaker.Breaker
	for range breaker.Failures - 1 {
		b.Failed(errBroken)
	}
	b.Close()
	b.Failed(errBroken)
	if open(&b) {
		t.Error("failures before a success count")
	}
}

func TestOneRefusalHoldsIt(t *testing.T) {
	var b breaker.Breaker
	b.Hold(errBroken)
	if err := b.Check("user"); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want that it is held", err)
	}
	b.Close()
	if open(&b) {
		t.Error("it is open after it was closed")
	}
}
