package browsermgr_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/fault"
)

var errBroken = errors.New("broken")

func isOpen(b *browsermgr.LaunchBreaker) bool { return b.Check("work") != nil }

func TestItOpensAfterFailuresInARowForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b browsermgr.LaunchBreaker
		for n := range browsermgr.BreakerFailures {
			if isOpen(&b) {
				t.Fatalf("it is open after %d failures", n)
			}
			b.RecordFailure(errBroken)
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
		time.Sleep(browsermgr.BreakerPause + 1) //nolint:forbidigo // the clock of the bubble
		if isOpen(&b) {
			t.Error("it is open for ever")
		}
		b.RecordFailure(errBroken)
		if !isOpen(&b) {
			t.Error("it takes more than one further failure")
		}
	})
}

func TestASuccessForgetsFailures(t *testing.T) {
	var b browsermgr.LaunchBreaker
	for range browsermgr.BreakerFailures - 1 {
		b.RecordFailure(errBroken)
	}
	b.Close()
	b.RecordFailure(errBroken)
	if isOpen(&b) {
		t.Error("failures before a success count")
	}
}

func TestOneRefusalHoldsIt(t *testing.T) {
	var b browsermgr.LaunchBreaker
	b.Open(errBroken)
	if err := b.Check("user"); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want that it is held", err)
	}
	b.Close()
	if isOpen(&b) {
		t.Error("it is open after it was closed")
	}
}

func TestWhatIsInUseIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := browsermgr.NewUseCounter()
		if u.TryEnd(time.Minute) {
			t.Fatal("a new one is idle")
		}
		if !u.Acquire() {
			t.Fatal("a new one cannot be used")
		}
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble
		if u.TryEnd(time.Minute) {
			t.Error("one in use is idle")
		}
		u.Release()
		if u.TryEnd(time.Minute) {
			t.Error("one that was just used is idle")
		}
		time.Sleep(time.Minute) //nolint:forbidigo // in a bubble
		if !u.Acquire() {
			t.Fatal("an idle one cannot be looked at")
		}
		u.ReleaseUnused()
		if !u.TryEnd(time.Minute) {
			t.Error("a look counts as use")
		}
		if u.Acquire() || u.TryEnd(0) {
			t.Error("one that has ended goes on")
		}
		<-u.Ending()
	})
}

func TestOneOfManyEndsIt(t *testing.T) {
	u := browsermgr.NewUseCounter()
	u.Acquire()
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if u.TryEnd(0) {
				wins.Add(1)
			}
		})
	}
	wg.Wait()
	if n := wins.Load(); n != 1 {
		t.Errorf("%d have ended it", n)
	}
}
