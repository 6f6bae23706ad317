package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"clank/internal/test/llmtest"
	"clank/sessions"
)

// overheadTasks is how many tasks "make bench-overhead" measures.
var overheadTasks = flag.Int("overhead.tasks", 0, "measure what a step costs beside its model and Chromium, in so "+
	"many tasks")

const stepsOfTask = 12

// protocolWire notes when messages cross the connection to Chromium, and how many calls it owes an answer.
type protocolWire struct {
	mu    sync.Mutex
	ticks []wireMessage
	owed  int
}

// wireMessage is one message. Owed is the number of calls without an answer after it.
type wireMessage struct {
	at    time.Time
	owed  int
	event bool // Chromium told it of its own accord
}

func (w *protocolWire) sent(string) { w.record(1, false) }

// received records a message from Chromium. Answers begin with their id.
func (w *protocolWire) received(message []byte) {
	if bytes.HasPrefix(message, []byte(`{"id":`)) {
		w.record(-1, false)
		return
	}
	w.record(0, true)
}

func (w *protocolWire) record(owed int, event bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owed = max(0, w.owed+owed)
	w.ticks = append(w.ticks, wireMessage{time.Now(), w.owed, event})
}

// timeSpan is a stretch of time.
type timeSpan struct{ from, to time.Time }

// waits returns the stretches in which Chromium was waited for: while it owed an answer, and in acts also until an
// event after which nothing was owed.
func (w *protocolWire) waits(acts []timeSpan) []timeSpan {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []timeSpan
	for i := 1; i < len(w.ticks); i++ {
		before, now := w.ticks[i-1], w.ticks[i]
		inAct := slices.ContainsFunc(acts, func(a timeSpan) bool { return !before.at.Before(a.from) && !now.at.After(a.to) })
		if before.owed > 0 || now.event && inAct {
			all = append(all, timeSpan{before.at, now.at})
		}
	}
	return all
}

// subtract returns how much of s none of the others covers.
func (s timeSpan) subtract(others []timeSpan) time.Duration {
	others = slices.Clone(others)
	slices.SortFunc(others, func(a, b timeSpan) int { return a.from.Compare(b.from) })
	left, at := time.Duration(0), s.from
	for _, o := range others {
		if !o.to.After(at) {
			continue
		}
		if !o.from.Before(s.to) {
			break
		}
		if o.from.After(at) {
			left += o.from.Sub(at)
		}
		at = o.to
	}
	if s.to.After(at) {
		left += s.to.Sub(at)
	}
	return left
}

// countingPage returns the address of a page with a button that counts.
func countingPage(tb testing.TB) string {
	tb.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>counter</title><h1>Counter</h1><button onclick="out.textContent=++n">More</button><p id=out>0</p><script>let n=0</script>`)
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// clicks returns a model that opens the page and presses its button until it has done all its steps. It keeps no
// state, so that several tasks can share it.
func clicks(page string) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		done := 0
		for _, m := range req.Messages {
			for _, p := range m.Parts {
				if p.Result != nil {
					done++
				}
			}
		}
		switch {
		case done == 0:
			return openPage(page)(req)
		case done < stepsOfTask:
			return clickOn("button")(req)
		default:
			return llmtest.Say("counted")(req)
		}
	}
}

// TestOverheadOfAStep measures what a step costs beside its model and Chromium.
func TestOverheadOfAStep(t *testing.T) {
	if *overheadTasks == 0 {
		t.Skip("measures: make bench-overhead")
	}
	r := newServerFixture(t)
	w := &protocolWire{}
	r.protocolCalls.observer = w.sent
	clean := r.server.Browsers.Redact
	r.server.Browsers.Redact = func(message []byte) []byte {
		w.received(message)
		if clean != nil {
			return clean(message)
		}
		return message
	}
	r.updateSettings(map[string]any{
		"agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask": 30,
	})
	r.model.SetFallback(clicks(countingPage(t)))

	var ours []time.Duration
	for n := range *overheadTasks {
		if steps := r.measured(w); n > 0 { // the first one starts the browser
			ours = append(ours, steps...)
		}
	}
	fmt.Printf("overhead: median_ms=%.1f p95_ms=%.1f\n", percentileMillis(ours, 50), //nolint:forbidigo // as above
		percentileMillis(ours, 95))
}

// measured runs one task and returns, for each of its steps from the third on, the time in which neither the model
// nor Chromium was at work.
func (r *serverFixture) measured(w *protocolWire) []time.Duration {
	r.tb.Helper()
	first := len(r.model.Requests())
	var thinks []time.Time
	var acts []timeSpan
	rec, err := r.server.Sessions.Run(r.tb.Context(),
		sessions.Task{Prompt: "count", Origin: sessions.Origin{Kind: sessions.FromTerminal, Channel: "bench"}},
		func(ev sessions.Event) {
			if s := ev.Step; s != nil {
				switch {
				case s.Kind == sessions.StepThink && s.Phase == sessions.PhaseBegun:
					thinks = append(thinks, time.Now())
				case s.Kind == sessions.StepAct && s.Phase == sessions.PhaseBegun:
					acts = append(acts, timeSpan{from: time.Now(), to: time.Now().Add(time.Hour)})
				case s.Kind == sessions.StepAct:
					acts[len(acts)-1].to = time.Now()
				}
			}
		})
	if err != nil || rec.State != sessions.TaskDone || rec.Steps != stepsOfTask {
		r.tb.Fatalf("got %s after %d steps: %q, %v", rec.State, rec.Steps, rec.Reason, err)
	}
	others := w.waits(acts)
	for _, req := range r.model.Requests()[first:] {
		others = append(others, timeSpan{req.Received, req.Ended})
	}
	var all []time.Duration
	for i := 2; i+1 < len(thinks); i++ {
		all = append(all, timeSpan{thinks[i], thinks[i+1]}.subtract(others))
	}
	return all
}
