package record_test

import (
	"os"
	"testing"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
)

// traceBrowser is the one of the whole test binary.
var traceBrowser browsertest.Shared

func testMainTrace(m *testing.M) { os.Exit(traceBrowser.Run(m)) }

// traceFixture is a connection with a recorder and a tracer, whose traces run in dir.
type traceFixture struct {
	browser  *page.Browser
	recorder *record.Recorder
	tracer   *record.Tracer
	dir      string
}

// openTraced connects to a browser; the test's end closes what was opened and checks that nothing is left of running traces.
func openTraced(tb testing.TB, p *chrome.Process) traceFixture {
	tb.Helper()
	w := traceFixture{recorder: record.NewRecorder(), dir: tb.TempDir()}
	w.tracer = record.NewTracer(w.dir, w.recorder, nil)
	w.browser = browsertest.Connect(tb, p, page.Options{Observers: []page.Observer{w.recorder, w.tracer}})
	tb.Cleanup(func() {
		w.tracer.Close()
		w.wantNothingLeft(tb)
	})
	return w
}

func (w traceFixture) wantNothingLeft(tb testing.TB) {
	tb.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		tb.Errorf("%s is left of a trace", e.Name())
	}
}
