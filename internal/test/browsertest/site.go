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

// Head is the beginning of a page: a UTF-8 document without an icon, so that the browser makes no further request.
const Head = "<!doctype html><meta charset=utf-8><title>Test</title><link rel=icon href=data:,>"

// Serve serves until the test ends, and then closes open connections.
func Serve(tb testing.TB, h http.HandlerFunc) *httptest.Server {
	tb.Helper()
	srv := httptest.NewServer(h)
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// Routes serves handlers by pattern, see [http.ServeMux]. A string is a page that follows [Head]. It returns the
// site's origin.
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

// LocalhostURL returns the address of the request's server under the host name localhost, which is another site.
func LocalhostURL(r *http.Request) string {
	_, port, _ := strings.Cut(r.Host, ":")
	return "http://localhost:" + port
}

// Within returns a context that ends after d, or with the test if that is earlier.
func Within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// Eventually waits up to a minute for a condition that another process causes.
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

// WantEqual compares values with go-cmp.
func WantEqual[T any](tb testing.TB, got, want T) {
	tb.Helper()
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("got %+v (-want +got)\n%s", got, d)
	}
}

// Page opens an address in a tab with a connection of its own, both for this test alone. The tab may be reused from
// an earlier test, which takes a third of the time of a new one; it is in front, has no history, and the settings of
// the earlier connection ended with it. Without an address the tab is new. Tests of a tab's life cycle, and of pages
// that navigate by themselves, use [Tab].
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
	if err := tab.MainFrame().Do(ctx, forgetHistory{}); err != nil { // the page is already navigating
		closeTab(tb, tab)
		tab = newTab(tb, b, page.TabOptions{URL: url})
	}
	return tab
}

// forgetHistory is CDP's Page.resetNavigationHistory.
type forgetHistory struct{}

func (forgetHistory) ProtoReq() string { return "Page.resetNavigationHistory" }

// takeIdleTab returns the tab left by another test, if there is one.
func (s *Shared) takeIdleTab() (target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	target, s.idleTab = s.idleTab, ""
	return target
}

// keepIdleTab keeps a tab for a later test, unless its page hangs, it has opened others, or a tab is kept already:
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
