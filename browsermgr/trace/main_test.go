package trace_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/record"
	"clank/browsermgr/trace"
)

// shared is the browser of the whole test binary, launched when the first test wants it: fuzzing does without.
var (
	launchShared = sync.OnceValues(launch)
	launched     *chrome.Process
)

func shared(tb testing.TB) *chrome.Process {
	tb.Helper()
	browser, err := launchShared()
	if err != nil {
		tb.Fatal(err)
	}
	launched = browser
	return browser
}

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	defer func() {
		if launched != nil {
			_ = launched.Stop(context.Background())
		}
	}()
	return m.Run()
}

func launch() (*chrome.Process, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	exe, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		return nil, err
	}
	return chrome.Launch(ctx, chrome.Options{Executable: exe.Path, Headless: true, Timeout: 30 * time.Second})
}

// world is a connection with a recorder and a tracer, whose traces run in dir.
type world struct {
	browser  *page.Browser
	recorder *record.Recorder
	tracer   *trace.Tracer
	dir      string
}

// open connects to a browser; the test's end closes what was opened and checks that nothing is left of running traces.
func open(tb testing.TB, browser *chrome.Process) world {
	tb.Helper()
	w := world{recorder: record.New(), dir: tb.TempDir()}
	w.tracer = trace.New(w.dir, w.recorder, nil)
	w.browser = connect(tb, browser, page.Options{Observers: []page.Observer{w.recorder, w.tracer}})
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

func connect(tb testing.TB, browser *chrome.Process, opts page.Options) *page.Browser {
	tb.Helper()
	b, err := page.Connect(within(tb, 45*time.Second), browser.WebSocketURL, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

func openTab(tb testing.TB, b *page.Browser, url string) *page.Tab {
	tb.Helper()
	tab, err := b.NewTab(within(tb, 45*time.Second), page.TabOptions{URL: url})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
		defer cancel()
		_ = tab.Close(ctx)
	})
	return tab
}

// within is a context that ends before the test does.
func within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// site serves handlers by path; a string is a page.
func site(tb testing.TB, routes map[string]any) string {
	tb.Helper()
	mux := http.NewServeMux()
	for path, what := range routes {
		switch what := what.(type) {
		case string:
			mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprint(w, "<!doctype html><meta charset=utf-8><title>Test</title><link rel=icon href=data:,>"+what)
			})
		case func(http.ResponseWriter, *http.Request):
			mux.HandleFunc(path, what)
		default:
			tb.Fatalf("route %s is a %T", path, what)
		}
	}
	srv := httptest.NewServer(mux)
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

// eventually waits for a state that the browser brings about.
func eventually(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	ctx := within(tb, 45*time.Second)
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("not so in time: %s", what)
		}
	}
}

func wantContains(tb testing.TB, got string, want ...string) {
	tb.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			tb.Errorf("got\n%s\nwant it to contain %q", got, w)
		}
	}
}
