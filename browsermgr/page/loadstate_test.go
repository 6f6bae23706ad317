package page_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
)

// told applies events of the frame "main" to a state, each given as its method and parameters.
func told(tb testing.TB, s *page.LoadState, events ...string) {
	tb.Helper()
	for i := 0; i < len(events); i += 2 {
		ev := cdp.Event{Method: events[i], Params: json.RawMessage(events[i+1])}
		if n, ok := page.ParseLoadEvent(ev, "main"); ok {
			s.Apply(n)
		} else if traffic, ok := page.ParseRequestEvent(ev, "main"); ok {
			s.ApplyRequest(traffic)
		} else {
			tb.Fatalf("%s %s tells nothing", events[i], events[i+1])
		}
	}
}

func TestALinkThatLoadsNothingHereIsNotWaitedFor(t *testing.T) {
	const planned, cleared = "Page.frameScheduledNavigation", "Page.frameClearedScheduledNavigation"
	const requested, id = "Page.frameRequestedNavigation", `{"frameId":"main"}`
	for name, tt := range map[string]struct {
		events  []string
		pending bool
	}{
		"a script":  {[]string{planned, id, cleared, id}, false},
		"a new tab": {[]string{planned, id, requested, `{"frameId":"main","disposition":"newTab"}`, cleared, id}, false},
		"here":      {[]string{planned, id, requested, `{"frameId":"main","disposition":"currentTab"}`, cleared, id}, true},
		"a script while another page loads": {
			[]string{requested, `{"frameId":"main","disposition":"currentTab"}`, planned, id, cleared, id}, true,
		},
	} {
		s := page.NewLoadState()
		told(t, &s, tt.events...)
		if s.Pending != tt.pending {
			t.Errorf("%s: pending is %v, want %v", name, s.Pending, tt.pending)
		}
	}
}

func TestADocumentLoadsInSteps(t *testing.T) {
	s := page.NewLoadState()
	reached := func() string {
		return fmt.Sprint(s.Reached("domcontentloaded"), s.Reached("load"), s.Reached("networkidle"))
	}
	told(t, &s, "Page.frameRequestedNavigation", `{"frameId":"main","disposition":"currentTab"}`)
	before := s.LoadCounts
	for _, step := range []struct{ method, params, want string }{
		{"Page.frameStartedNavigating", `{"frameId":"main","loaderId":"L1"}`, "false false false"},
		{
			"Network.requestWillBeSent", `{"requestId":"R1","loaderId":"L1","frameId":"main","type":"Document"}`,
			"false false false",
		},
		{
			"Network.responseReceived",
			`{"requestId":"R1","loaderId":"L1","frameId":"main","type":"Document","response":{"status":404}}`,
			"false false false",
		},
		{"", "", "false false false"},
		{"Network.loadingFinished", `{"requestId":"R1"}`, "false false false"},
		{"Page.lifecycleEvent", `{"frameId":"main","loaderId":"of another","name":"load"}`, "false false false"},
		{"Page.lifecycleEvent", `{"frameId":"main","loaderId":"L1","name":"DOMContentLoaded"}`, "true false false"},
		{"Page.lifecycleEvent", `{"frameId":"main","loaderId":"L1","name":"load"}`, "true true false"},
		{"Page.lifecycleEvent", `{"frameId":"main","loaderId":"L1","name":"networkIdle"}`, "true true true"},
		{
			"Network.requestWillBeSent", `{"requestId":"R2","loaderId":"L1","frameId":"other","type":"Fetch"}`,
			"true true false",
		},
		{"Network.loadingFailed", `{"requestId":"R2"}`, "true true true"},
	} {
		if step.method == "" {
			s.Committed("L1", false)
		} else {
			told(t, &s, step.method, step.params)
		}
		if got := reached(); got != step.want {
			t.Errorf("after %s %s: got %s, want %s", step.method, step.params, got, step.want)
		}
	}
	if s.Status != 404 || s.Pending {
		t.Errorf("got status %d, pending %v", s.Status, s.Pending)
	}
	want := page.LoadCounts{Documents: before.Documents + 1, Navigations: before.Navigations, Requests: before.Requests +
		2}
	browsertest.WantEqual(t, s.LoadCounts, want)
}

func TestWhatAPageAsksForIsCounted(t *testing.T) {
	s := page.NewLoadState()
	told(t, &s,
		"Page.frameRequestedNavigation", `{"frameId":"main","disposition":"newTab"}`,
		"Page.frameRequestedNavigation", `{"frameId":"main","disposition":"newWindow"}`,
		"Page.frameRequestedNavigation", `{"frameId":"main","disposition":"download"}`,
		"Page.frameScheduledNavigation", `{"frameId":"main"}`,
		"Page.navigatedWithinDocument", `{"frameId":"main","url":"http://x/#a"}`,
	)
	browsertest.WantEqual(t, s.LoadCounts, page.LoadCounts{NewTabs: 2, Navigations: 1, SameDocument: 1})
}

func TestARestoredDocumentIsLoadedAtOnce(t *testing.T) {
	s := page.NewLoadState()
	s.Committed("L1", true)
	if !s.Reached("networkidle") {
		t.Error("it goes on loading")
	}
}

func TestOnlyRequestsOfTheDocumentThatIsShownAreWaitedFor(t *testing.T) {
	s := page.NewLoadState()
	told(t, &s,
		"Network.requestWillBeSent", `{"requestId":"R1","loaderId":"L1","type":"XHR"}`,
		"Network.requestWillBeSent", `{"requestId":"R2","loaderId":"L1","type":"Image"}`,
		"Network.requestWillBeSent", `{"requestId":"R3","loaderId":"L2","type":"Script"}`,
	)
	for _, c := range []struct {
		number int
		want   bool
	}{{0, true}, {2, true}, {3, false}} {
		if got := s.HasOpenSince(c.number); got != c.want {
			t.Errorf("busy since %d: got %v, want %v", c.number, got, c.want)
		}
	}
	s.Committed("L1", false)
	if !s.HasOpenSince(0) || s.HasOpenSince(1) {
		t.Error("other requests are waited for than R1")
	}
	s.Crashed()
	if s.HasOpenSince(0) {
		t.Error("requests outlive their process")
	}
}

func TestEventsOfOtherFramesAreIgnored(t *testing.T) {
	for _, ev := range []cdp.Event{
		{Method: "Page.lifecycleEvent", Params: json.RawMessage(`{"frameId":"other","name":"load"}`)},
		{Method: "Page.screencastFrame", Params: json.RawMessage(`{"frameId":"main"}`)},
		{Method: "Page.lifecycleEvent", Params: json.RawMessage(`[`)},
		{Method: "Page.lifecycleEvent", Params: json.RawMessage(fmt.Sprintf(`{"frameId":"main","name":"%065536d"}`, 1))},
	} {
		if n, ok := page.ParseLoadEvent(ev, "main"); ok {
			t.Errorf("%s %.60s tells %.60v", ev.Method, ev.Params, n)
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, method := range []string{
		"Page.lifecycleEvent", "Page.frameRequestedNavigation", "Network.requestWillBeSent",
		"Network.loadingFailed",
	} {
		f.Add(method, []byte(`{"frameId":"main","loaderId":"L","name":"load","requestId":"R","disposition":"newTab"}`))
		f.Add(method, []byte(`{"frameId":7}`))
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		s := page.NewLoadState()
		ev := cdp.Event{Method: method, Params: params}
		if n, ok := page.ParseLoadEvent(ev, "main"); ok {
			s.Apply(n)
		}
		if traffic, ok := page.ParseRequestEvent(ev, "main"); ok {
			s.ApplyRequest(traffic)
		}
		if c := s.LoadCounts; c.Documents != 0 || c.Downloads != 0 || c.Navigations+c.SameDocument+c.NewTabs+c.Requests > 1 {
			t.Errorf("one event counts as %+v", c)
		}
	})
}

// run delivers a queue; the channel is closed when that has ended.
func run(f *page.EventQueue[int], gone <-chan struct{}) (out chan int, done chan struct{}) {
	out, done = make(chan int), make(chan struct{})
	go func() {
		defer close(done)
		f.Deliver(out, gone)
	}()
	return out, done
}

// running fails the test if delivery has ended by itself.
func running(t *testing.T, done <-chan struct{}) {
	t.Helper()
	synctest.Wait()
	select {
	case <-done:
		t.Error("the feed has ended")
	default:
	}
}

// over fails the test if delivery continues.
func over(t *testing.T, done <-chan struct{}) {
	t.Helper()
	synctest.Wait()
	select {
	case <-done:
	default:
		t.Fatal("the feed goes on")
	}
}

func TestASlowReaderGetsAllEventsInOrder(t *testing.T) {
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

func TestDeliveryEndsWhenTheReaderStops(t *testing.T) {
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

func TestDeliveryEndsWhenTheReaderIsGone(t *testing.T) {
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
