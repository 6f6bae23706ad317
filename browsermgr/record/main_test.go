package record_test

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

// open connects a recorder and opens a tab; both are closed when the test ends.
func open(tb testing.TB, url string) (*record.Recorder, *page.Tab) {
	tb.Helper()
	r := record.New()
	return r, openTab(tb, connect(tb, shared(tb), page.Options{Observers: []page.Observer{r}}), url)
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

// run evaluates a function in the page.
func run(tb testing.TB, tab *page.Tab, fn string) string {
	tb.Helper()
	res, err := tab.Act(within(tb, 60*time.Second), page.Action{Kind: page.KindEvaluate, Fn: fn, TimeoutMs: 50_000})
	if err != nil {
		tb.Fatal(err)
	}
	return string(res.Value)
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

// find returns the first request whose address contains part, once cond holds for it.
func find(tb testing.TB, r *record.Recorder, tab *page.Tab, part string, cond func(record.Request) bool) record.Request {
	tb.Helper()
	var found record.Request
	eventually(tb, "a request for "+part, func() bool {
		for _, req := range r.Requests(tab, part, false) {
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

func wantContains(tb testing.TB, got string, want ...string) {
	tb.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			tb.Errorf("got\n%s\nwant it to contain %q", got, w)
		}
	}
}
