package browsertest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

// Head begins a page: a document in UTF-8 without an icon, so that a browser asks for nothing more.
const Head = "<!doctype html><meta charset=utf-8><title>Test</title><link rel=icon href=data:,>"

// Serve serves until the test ends, and then hangs up on who still waits.
func Serve(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	tb.Helper()
	srv := httptest.NewServer(h)
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// Routes serves handlers by pattern, see [http.ServeMux]. A string is a page to which [Head] is put. It returns the site's origin.
func Routes(tb testing.TB, routes map[string]any) string {
	tb.Helper()
	mux := http.NewServeMux()
	for path, what := range routes {
		switch what := what.(type) {
		case string:
			mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { HTML(w, Head+what) })
		case func(http.ResponseWriter, *http.Request):
			mux.HandleFunc(path, what)
		default:
			tb.Fatalf("route %s is a %T", path, what)
		}
	}
	return Serve(tb, mux.ServeHTTP).URL
}

// HTML answers with a page.
func HTML(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, text)
}

// LocalhostURL returns the server that a request came to under the name of another site: localhost.
func LocalhostURL(r *http.Request) string {
	_, port, _ := strings.Cut(r.Host, ":")
	return "http://localhost:" + port
}

// Within returns a context that ends after d, and with the test at the latest.
func Within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// Eventually waits for what another process brings about, up to a minute.
func Eventually(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	ctx := Within(tb, time.Minute)
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatalf("not within a minute: %s", what)
		}
	}
}

// WantEqual compares with go-cmp.
func WantEqual[T any](tb testing.TB, got, want T) {
	tb.Helper()
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("got %+v (-want +got)\n%s", got, d)
	}
}

// Page shows an address in a tab of a connection of its own, both for this test alone. The tab may be one in which an earlier test
// has looked at pages, which costs a third of a new one. Nothing of it is to be seen: it is in front, has no history, and what a
// connection sets ended with that one. Without an address the tab is a new one. Tests of a tab's own life, and of pages that go
// elsewhere by themselves, take [Tab].
func (s *Shared) Page(tb testing.TB, opts page.Options, url string) *page.Tab {
	tb.Helper()
	target := ""
	if url != "" {
		target = s.takeIdleTab()
	}
	b := s.Connect(tb, opts)
	tab := b.Tab(target)
	reused := tab != nil
	if !reused {
		tab = newTab(tb, b, page.TabOptions{URL: url})
	}
	tb.Cleanup(func() {
		if !s.keepIdleTab(b, tab) {
			closeTab(tb, tab)
		}
	})
	if !reused {
		return tab
	}
	ctx := Within(tb, Patience)
	check.Must(tb, tab.Activate(ctx))
	Navigate(tb, tab, url)
	if err := tab.MainFrame().Do(ctx, forgetHistory{}); err != nil { // the page is leaving already
		closeTab(tb, tab)
		tab = newTab(tb, b, page.TabOptions{URL: url})
	}
	return tab
}

// forgetHistory is Page.resetNavigationHistory of CDP.
type forgetHistory struct{}

func (forgetHistory) ProtoReq() string { return "Page.resetNavigationHistory" }

// takeIdleTab takes the tab that a test has left, if there is one.
func (s *Shared) takeIdleTab() (target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	target, s.idleTab = s.idleTab, ""
	return target
}

// keepIdleTab keeps a tab for a later test, unless its page stands still or has opened others, or one is kept already:
// each connection attaches to all tabs.
func (s *Shared) keepIdleTab(b *page.Browser, tab *page.Tab) bool {
	for _, other := range b.Tabs() {
		if other.Opener() == tab {
			return false
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if _, err := tab.Act(ctx, page.Action{Kind: actiontable.KindEvaluate, Fn: "0"}); err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idleTab != "" {
		return false
	}
	s.idleTab = tab.TargetID()
	return true
}
