package trace_test

import (
	"os"
	"testing"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/record"
	"clank/browsermgr/trace"
	"clank/internal/browsertest"
)

// browser is the one of the whole test binary.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// world is a connection with a recorder and a tracer, whose traces run in dir.
type world struct {
	browser  *page.Browser
	recorder *record.Recorder
	tracer   *trace.Tracer
	dir      string
}

// open connects to a browser; the test's end closes what was opened and checks that nothing is left of running traces.
func open(tb testing.TB, p *chrome.Process) world {
	tb.Helper()
	w := world{recorder: record.New(), dir: tb.TempDir()}
	w.tracer = trace.New(w.dir, w.recorder, nil)
	w.browser = browsertest.Connect(tb, p, page.Options{Observers: []page.Observer{w.recorder, w.tracer}})
	tb.Cleanup(func() {
		w.tracer.Close()
		w.wantNothingLeft(tb)
	})
	return w
}

func (w world) wantNothingLeft(tb testing.TB) {
	tb.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		tb.Errorf("%s is left of a trace", e.Name())
	}
}
