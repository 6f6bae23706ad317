package endurance_test

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/endurance"
)

// course is how long a run goes on, and how much happens.
type course struct {
	rounds int
	round  time.Duration
	every  time.Duration // between two events in a town
	towns  int
}

// figures are what must not grow.
type figures struct {
	goroutines, fds, ends int
	heap                  uint64
	sizes                 map[string]int
}

// TestTwoHoursOfCallsInSimulatedTime takes two hours where it is asked to (make endurance), and else minutes.
func TestTwoHoursOfCallsInSimulatedTime(t *testing.T) {
	c := course{rounds: 2, round: 40 * time.Second, every: 5 * time.Second, towns: 2}
	if testing.Short() {
		c.towns, c.round = 1, 20*time.Second
	}
	if os.Getenv("CLANK_ENDURE") != "" {
		c = course{rounds: 8, round: 15 * time.Minute, every: 20 * time.Second, towns: 3}
	}
	synctest.Test(t, func(t *testing.T) { c.run(t, endurance.NewNetwork()) })
}

func TestCallsOverSockets(t *testing.T) {
	if os.Getenv("CLANK_ENDURE") == "" {
		t.Skip("takes minutes: make endurance")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	course{rounds: 3, round: 50 * time.Second, every: 4 * time.Second, towns: 3}.run(t, nil)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v (%v)", left, err)
	}
}

// run holds calls, and compares how things are after the first round with how they are after the last.
func (c course) run(t *testing.T, network *endurance.Network) {
	t.Helper()
	began := time.Now()
	w := newWorld(t, network, c.towns)
	w.wg.Go(func() { w.watch(w.life) })
	defer w.close()
	var first, last figures
	for n := range c.rounds {
		w.round(c, n)
		last = w.measure()
		if n == 0 {
			first = last
		}
		t.Logf("round %d: goroutines=%d heap_kb=%d fds=%d", n, last.goroutines, last.heap/1024, last.fds)
	}
	sum := w.judge(t, first, last)
	fair, why := w.verdict(began)
	t.Logf("%s, which made %d gaps", why, sum.machine)
	if sum.gaps > 0 && fair {
		t.Errorf("%d gaps that the network did not cause", sum.gaps)
	}
	t.Logf("endurance: minutes=%.1f packets=%d gaps_over_200ms=%d goroutines=%d→%d heap_mb=%.1f→%.1f fds=%d→%d",
		time.Since(began).Minutes(), sum.packets, sum.gaps, first.goroutines, last.goroutines,
		float64(first.heap)/1e6, float64(last.heap)/1e6, first.fds, last.fds)
}

// round lets things happen for a while, and then comes to rest: the people who stay, and nobody else.
func (w *world) round(c course, n int) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), c.round, errOver)
	defer cancel()
	done := make(chan struct{}, len(w.towns))
	for i, tn := range w.towns {
		go func() {
			tn.trouble(ctx, c.every, rand.New(rand.NewPCG(uint64(n), uint64(i))))
			done <- struct{}{}
		}()
	}
	for range w.towns {
		<-done
	}
	w.settle()
}

// settle waits until everybody is in the groups they belong to.
func (w *world) settle() {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); rest(w.life, 100*time.Millisecond) {
		settled := true
		for _, tn := range w.towns {
			for _, room := range tn.rooms {
				settled = settled && w.voice.Settled(tn.guild, room)
			}
		}
		if settled {
			rest(w.life, 12*time.Second) // until old keys are forgotten
			return
		}
	}
	w.t.Error("not everybody came into the group of their call")
}

func (w *world) measure() figures {
	w.voice.ForgetTraffic()
	f := figures{}
	if w.net != nil {
		synctest.Wait()
		f.ends = w.net.OpenSockets()
		if os.Getenv("CLANK_ENDURE") != "" { // the race detector does not see that everybody sleeps
			f.sizes = w.sizes()
		}
	} else if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		f.fds = len(list)
	}
	f.goroutines = runtime.NumGoroutine()
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	f.heap = m.HeapAlloc
	return f
}

// outcome is what a run comes to.
type outcome struct{ packets, gaps, machine int }

// judge compares, and tells what is wrong.
func (w *world) judge(t *testing.T, first, last figures) outcome {
	t.Helper()
	var sum outcome
	lost, holes, unread := 0, 0, 0
	if w.net == nil {
		lost = overflown()
	} else if n := w.net.DroppedDatagrams(); n > 0 {
		t.Errorf("%d datagrams were not read in time", n)
	}
	for _, tn := range w.towns {
		tn.mu.Lock()
		sum.packets += tn.packets
		bad, machine := tn.judged()
		sum.gaps, sum.machine = sum.gaps+len(bad), sum.machine+machine
		for _, g := range bad[:min(len(bad), 20)] {
			t.Log(g)
		}
		t.Logf("town %s: %v; heard %d utterances, %v in all; longest silence around a change of servers %v",
			tn.guild, tn.events, tn.said, tn.heard.Round(time.Second), tn.outage)
		if tn.events["ended"]+tn.events["unsaid"] > 0 || tn.said == 0 {
			t.Errorf("town %s: %v", tn.guild, tn.events)
		}
		tn.mu.Unlock()
		for _, p := range tn.stays {
			got := p.total()
			c, _ := w.voice.Client(seatOf(tn.guild, p.user))
			lost, holes, unread = lost+c.Lost, holes+got.holes, unread+got.unread
			sum.packets += got.frames
		}
	}
	t.Logf("lost by the network %d, missed by listeners %d, unread %d", lost, holes, unread)
	if holes > lost+ring { // a stream may begin near the one before it
		t.Errorf("listeners miss %d packets, and the network has lost %d", holes, lost)
	}
	if unread > 0 {
		t.Errorf("%d packets could not be decrypted", unread)
	}
	nobody := func(v voicetest.Violation) bool { return v.Seat == voicetest.ClientID{} } // packets under way when we were moved
	if v := slices.DeleteFunc(w.voice.Violations(), nobody); len(v) > 0 {
		t.Errorf("the server complains: %v", v[:min(len(v), 10)])
	}
	if last.goroutines > first.goroutines+5 || last.fds > first.fds+5 || last.ends > first.ends+2 {
		t.Errorf("something is left over: goroutines %d→%d, descriptors %d→%d, ends of the network %d→%d",
			first.goroutines, last.goroutines, first.fds, last.fds, first.ends, last.ends)
	}
	if last.heap > first.heap+first.heap/4+2<<20 {
		t.Errorf("the heap grows from %d to %d bytes", first.heap, last.heap)
	}
	for name, n := range last.sizes {
		if n > 2*first.sizes[name]+100 {
			t.Errorf("%s grows from %d to %d elements", name, first.sizes[name], n)
		}
	}
	return sum
}
