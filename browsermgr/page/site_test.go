package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
)

// site serves pages by path. Paths that are not given are 404.
func site(t testing.TB, pages map[string]string) *httptest.Server {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		html, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}))
}

func serve(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// show opens a tab with one page.
func show(t testing.TB, html string) *page.Tab {
	t.Helper()
	return openTab(t, site(t, map[string]string{"/": "<!doctype html><meta charset=utf-8><title>Test</title>" + html}).URL)
}

func snapshot(t testing.TB, tab *page.Tab, opts page.SnapshotOptions) page.Snapshot {
	t.Helper()
	snap, err := tab.Snapshot(within(t, 10*time.Second), opts)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// refOf finds the ref of the first line that contains text.
func refOf(t testing.TB, tab *page.Tab, text string) string {
	t.Helper()
	snap := snapshot(t, tab, page.SnapshotOptions{})
	for line := range strings.Lines(snap.Text) {
		if !strings.Contains(line, text) {
			continue
		}
		if _, rest, ok := strings.Cut(line, "[ref="); ok {
			ref, _, _ := strings.Cut(rest, "]")
			return ref
		}
	}
	t.Fatalf("no ref for %q in\n%s", text, snap.Text)
	return ""
}

func act(t testing.TB, tab *page.Tab, a page.Action) page.Result {
	t.Helper()
	res, err := tab.Act(within(t, 15*time.Second), a)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func click(t testing.TB, tab *page.Tab, ref string) page.Result {
	t.Helper()
	return act(t, tab, page.Action{Kind: page.KindClick, Ref: ref})
}

// js evaluates an expression in the page and returns its JSON.
func js(t testing.TB, tab *page.Tab, expression string) string {
	t.Helper()
	return string(act(t, tab, page.Action{Kind: page.KindEvaluate, Fn: expression}).Value)
}

func jsString(t testing.TB, tab *page.Tab, expression string) string {
	t.Helper()
	var s string
	if err := json.Unmarshal([]byte(js(t, tab, expression)), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func wantContains(t testing.TB, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("got\n%s\nwant it to contain %q", got, w)
		}
	}
}

func wantError(t testing.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one that contains %q", want)
	}
	wantContains(t, err.Error(), want...)
}
