package dashboard

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestFailedSignInsAreCountedForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count throttle
		for range maxFailures {
			if wait := count.wait("a"); wait > 0 {
				t.Fatalf("one has to wait %s too early", wait)
			}
			count.fail("a")
		}
		<-time.After(time.Minute)
		if wait := count.wait("a"); wait != failureTime-time.Minute || count.wait("b") > 0 {
			t.Errorf("one waits %s, others %s", wait, count.wait("b"))
		}
		<-time.After(failureTime)
		if wait := count.wait("a"); wait > 0 || len(count.failed) != 0 {
			t.Errorf("afterwards one waits %s, and %d are remembered", wait, len(count.failed))
		}
		for i := range maxAllFailures {
			count.fail(strconv.Itoa(i))
			<-time.After(time.Second)
		}
		if wait := count.wait("somebody else"); wait != failureTime-maxAllFailures*time.Second {
			t.Errorf("where many fail all wait %s", wait)
		}
	})
}
