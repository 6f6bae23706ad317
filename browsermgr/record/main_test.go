package record_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// browser is the one for all tests of the package.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// open connects a recorder and opens a tab; both are closed when the test ends.
func open(tb testing.TB, url string) (*record.Recorder, *page.Tab) {
	tb.Helper()
	r := new(record.Store).NewRecorder()
	return r, browsertest.Tab(tb, browser.Connect(tb, page.Options{Observers: []page.Observer{r}}),
		page.TabOptions{URL: url})
}

// run evaluates a function in the page.
func run(tb testing.TB, tab *page.Tab, fn string) string {
	tb.Helper()
	res, err := tab.Act(browsertest.Within(tb, 60*time.Second),
		page.Action{Kind: actiontable.KindEvaluate, Fn: fn, TimeoutMs: 50_000})
	check.Must(tb, err)
	return string(res.Value)
}

// find returns the first request whose URL contains part, once cond holds for it.
func find(tb testing.TB, r *record.Recorder, tab *page.Tab, part string,
	cond func(record.Request) bool,
) record.Request {
	tb.Helper()
	var found record.Request
	browsertest.Eventually(tb, "a request for "+part, func() bool {
		for _, req := range r.Requests(tab, part, false).Entries {
			if cond(req) {
				found = req
				return true
			}
		}
		return false
	})
	return found
}

func answered(req record.Request) bool { return req.OK != nil }

// traceFixture is a connection with a recorder and a tracer, whose traces run in dir.
type traceFixture struct {
	browser  *page.Browser
	recorder *record.Recorder
	tracer   *record.Tracer
	dir      string
}

// openTraced connects to a browser; when the test ends the connection is closed, and no files of running traces may be
// left.
func openTraced(tb testing.TB, p *chrome.Process) traceFixture {
	tb.Helper()
	w := traceFixture{recorder: new(record.Store).NewRecorder(), dir: tb.TempDir()}
	w.tracer = record.NewTracer(w.dir, w.recorder, nil)
	w.browser = browsertest.Connect(tb, p, page.Options{Observers: []page.Observer{w.recorder, w.tracer}})
	tb.Cleanup(func() {
		check.Must(tb, w.tracer.Close())
		w.wantNothingLeft(tb)
	})
	return w
}

func (w traceFixture) wantNothingLeft(tb testing.TB) {
	tb.Helper()
	entries, err := os.ReadDir(w.dir)
	check.Must(tb, err)
	for _, e := range entries {
		tb.Errorf("%s is left of a trace", e.Name())
	}
}

// quietAndRecorded runs a benchmark without and with a recorder.
func quietAndRecorded(b *testing.B, html string, run func(b *testing.B, tab *page.Tab)) {
	b.Helper()
	for _, recorded := range []bool{false, true} {
		name := map[bool]string{false: "quiet", true: "recorded"}[recorded]
		b.Run(name, func(b *testing.B) {
			var opts page.Options
			if recorded {
				opts.Observers = []page.Observer{new(record.Store).NewRecorder()}
			}
			run(b, browsertest.Tab(b, browser.Connect(b, opts),
				page.TabOptions{URL: browsertest.Routes(b, map[string]any{"/": html})}))
		})
	}
}

func BenchmarkClick(b *testing.B) {
	quietAndRecorded(b, `<button onclick="this.textContent++">0</button>`, func(b *testing.B, tab *page.Tab) {
		b.Helper()
		for b.Loop() {
			check.Must(b, check.Err(tab.Act(b.Context(), page.Action{Kind: actiontable.KindClick, Selector: "button"})))
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	quietAndRecorded(b, strings.Repeat(`<p>Row <a href=/x>Open</a><button>Edit</button>`, 2500),
		func(b *testing.B, tab *page.Tab) {
			b.Helper()
			for b.Loop() {
				check.Must(b, check.Err(tab.Snapshot(b.Context(), page.SnapshotOptions{})))
			}
		})
}

func BenchmarkNavigate(b *testing.B) {
	quietAndRecorded(b, `<p>quiet`, func(b *testing.B, tab *page.Tab) {
		b.Helper()
		url := tab.URL()
		for b.Loop() {
			check.Must(b, check.Err(tab.Navigate(b.Context(), url)))
		}
	})
}
