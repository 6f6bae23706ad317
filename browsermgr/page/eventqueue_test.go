package page_test

import (
	"clank/internal/test/browsertest"
	"testing"
	"testing/synctest"

	"clank/browsermgr/page"
)

// run lets a feed run; the channel is closed when it has ended.
func run(f *page.EventQueue[int], gone <-chan struct{}) (out chan int, done chan struct{}) {
	out, done = make(chan int), make(chan struct{})
	go func() {
		defer close(done)
		f.Deliver(out, gone)
	}()
	return out, done
}

// running fails the test if the feed has ended by itself.
func running(t *testing.T, done <-chan struct{}) {
	t.Helper()
	synctest.Wait()
	select {
	case <-done:
		t.Error("the feed has ended")
	default:
	}
}

// over fails the test if the feed goes on.
func over(t *testing.T, done <-chan struct{}) {
	t.Helper()
	synctest.Wait()
	select {
	case <-done:
	default:
		t.Fatal("the feed goes on")
	}
}

func TestAReaderWhoFallsBehindGetsAllInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := page.NewEventQueue[int]()
		f.Add(0)
		out, done := run(f, nil)
		for i := 1; i < 1000; i++ {
			f.Add(i)
		}
		f.End()
		for want := range 1000 {
			browsertest.WantEqual(t, <-out, want)
		}
		<-done
	})
}

func TestAnEndThatComesWhileTheReaderIsBusyEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := page.NewEventQueue[int]()
		f.Add(0)
		out, done := run(f, nil)
		synctest.Wait() // it has the first in hand
		f.Add(1)
		f.End()
		for want := range 2 {
			browsertest.WantEqual(t, <-out, want)
		}
		<-done
	})
}

func TestAnEndWithoutEventsEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := page.NewEventQueue[int]()
		_, done := run(f, nil)
		running(t, done)
		f.End()
		over(t, done)
	})
}

func TestAReaderWhoStopsIsWaitedForNoMore(t *testing.T) {
	for name, add := range map[string]int{"while it waits for events": 0, "while one waits for it": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := page.NewEventQueue[int]()
				for i := range add {
					f.Add(i)
				}
				_, done := run(f, nil)
				running(t, done)
				f.Stop()
				f.Stop()
				over(t, done)
			})
		})
	}
}

func TestNobodyWaitsForAReaderWhoIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := page.NewEventQueue[int]()
		gone := make(chan struct{})
		f.Add(1)
		f.Add(2)
		out, done := run(f, gone)
		browsertest.WantEqual(t, <-out, 1)
		running(t, done)
		close(gone)
		over(t, done)
	})
}
