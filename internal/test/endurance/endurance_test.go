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
	goroutines, ends int
	heap             uint64
	sizes            map[string]int
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
	synctest.Test(t, c.run)
}

// run holds calls, and compares how things are after the first round with how they are after the last.
func (c course) run(t *testing.T) {
	t.Helper()
	began := time.Now()
	w := newWorld(t, c.towns)
	defer w.close()
	var first, last figures
	for n := range c.rounds {
		w.round(c, n)
		last = w.measure()
		if n == 0 {
			first = last
		}
		t.Logf("round %d: goroutines=%d heap_kb=%d", n, last.goroutines, last.heap/1024)
	}
	packets, gaps := w.judge(t, first, last)
	if gaps > 0 {
		t.Errorf("%d gaps that the network did not cause", gaps)
	}
	t.Logf("endurance: minutes=%.1f packets=%d gaps_over_200ms=%d goroutines=%d→%d heap_mb=%.1f→%.1f",
		time.Since(began).Minutes(), packets, gaps, first.goroutines, last.goroutines, float64(first.heap)/1e6,
		float64(last.heap)/1e6)
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
	synctest.Wait()
	f := figures{ends: w.net.OpenSockets(), goroutines: runtime.NumGoroutine()}
	if os.Getenv("CLANK_ENDURE") != "" { // the race detector does not see that everybody sleeps
		f.sizes = w.sizes()
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	f.heap = m.HeapAlloc
	return f
}

// judge compares, and tells what is wrong.
func (w *world) judge(t *testing.T, first, last figures) (packets, gaps int) {
	t.Helper()
	lost, holes, unread := 0, 0, 0
	if n := w.net.DroppedDatagrams(); n > 0 {
		t.Errorf("%d datagrams were not read in time", n)
	}
	for _, tn := range w.towns {
		tn.mu.Lock()
		packets, gaps = packets+tn.packets, gaps+len(tn.gaps)
		for _, g := range tn.gaps[:min(len(tn.gaps), 20)] {
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
			packets += got.frames
		}
	}
	t.Logf("lost by the network %d, missed by listeners %d, unread %d", lost, holes, unread)
	if holes > lost+ring { // a stream may begin near the one before it
		t.Errorf("listeners miss %d packets, and the network has lost %d", holes, lost)
	}
	if unread > 0 {
		t.Errorf("%d packets could not be decrypted", unread)
	}
	// packets under way when we were moved
	nobody := func(v voicetest.Violation) bool { return v.Seat == voicetest.ClientID{} }
	if v := slices.DeleteFunc(w.voice.Violations(), nobody); len(v) > 0 {
		t.Errorf("the server complains: %v", v[:min(len(v), 10)])
	}
	if last.goroutines > first.goroutines+5 || last.ends > first.ends+2 {
		t.Errorf("something is left over: goroutines %d→%d, ends of the network %d→%d", first.goroutines, last.goroutines,
			first.ends, last.ends)
	}
	if last.heap > first.heap+first.heap/4+2<<20 {
		t.Errorf("the heap grows from %d to %d bytes", first.heap, last.heap)
	}
	for name, n := range last.sizes {
		if n > 2*first.sizes[name]+100 {
			t.Errorf("%s grows from %d to %d elements", name, first.sizes[name], n)
		}
	}
	return packets, gaps
}
