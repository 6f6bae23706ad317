package browsermgr_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr"
)

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
