package page_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

func TestNavigateReportsStatusAndTitle(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/away":
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("<title>T " + r.URL.Path + "</title><p>x"))
	})
	tab := openTab(t, "")
	tests := []struct {
		path, url string
		status    int
	}{{"/", "/", 200}, {"/missing", "/missing", 404}, {"/away", "/", 200}, {"/#x", "/#x", 0}}
	for _, tt := range tests {
		res, err := tab.Navigate(t.Context(), srv.URL+tt.path)
		if err != nil || res.URL != srv.URL+tt.url || res.Status != tt.status || !res.Navigated {
			t.Errorf("%s: got %+v, %v; want status %d at %s", tt.path, res, err, tt.status, tt.url)
		}
	}
	browsertest.WantEqual(t, tab.Title(), "T /")
}

func TestTitleFollowsWhatActionsDoToIt(t *testing.T) {
	srv := site(t, map[string]string{
		"/":     `<title>One</title><button onclick="document.title='Two'">Now</button><button onclick="fetch('/').then(() => document.title='Three')">Soon</button><a href=/next>Next</a>`,
		"/next": `<title>Next</title>`,
	})
	tab := openTab(t, srv.URL)
	browsertest.WantEqual(t, tab.Title(), "One")
	for _, step := range []struct{ click, title string }{{"Now", "Two"}, {"Soon", "Three"}, {"Next", "Next"}} {
		click(t, tab, refOf(t, tab, `"`+step.click+`"`))
		if got := tab.Title(); got != step.title {
			t.Errorf("got title %q after %s, want %q", got, step.click, step.title)
		}
	}
}

func TestPageWithoutTitleHasNone(t *testing.T) {
	srv := site(t, map[string]string{"/": `<title>One</title>`, "/bare": `<p>no title</p>`})
	tab := openTab(t, srv.URL)
	browsertest.Navigate(t, tab, srv.URL+"/bare")
	browsertest.WantEqual(t, tab.Title(), "")
}

func TestNewDocumentIsMadeReadyOnce(t *testing.T) {
	var worlds atomic.Int32
	b := browser.Connect(t, page.Options{OnSent: func(method string) {
		if method == "Page.createIsolatedWorld" {
			worlds.Add(1)
		}
	}})
	srv := site(t, map[string]string{"/": "<title>One</title>", "/next": "<title>Two</title>"})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	var wg sync.WaitGroup
	for _, path := range []string{"/?again", "/next"} {
		worlds.Store(0)
		browsertest.Navigate(t, tab, srv.URL+path)
		for range 3 {
			wg.Go(func() { _, _, _ = tab.Describe(browsertest.Within(t, 30*time.Second), "e1") })
		}
		snapshot(t, tab, page.SnapshotOptions{})
		wg.Wait()
		if got := worlds.Load(); got != 1 {
			t.Errorf("%s: got %d worlds for one document", path, got)
		}
	}
}

func TestNavigateInWords(t *testing.T) {
	tab := openTab(t, "")
	closed := site(t, nil)
	closed.Close()
	hangUp := browsertest.Serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	circle := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })
	download := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=a.bin")
		_, _ = w.Write([]byte("x"))
	})
	tests := map[string]string{
		closed.URL:                  "refused the connection",
		hangUp.URL:                  "closed the connection without an answer",
		circle.URL:                  "redirects in a circle",
		download.URL:                "download",
		"http://no-such.invalid/":   "no such host no-such.invalid: check the spelling",
		"http://127.0.0.1:1/unsafe": "browsers refuse",
	}
	for url, want := range tests {
		_, err := tab.Navigate(t.Context(), url)
		wantError(t, err, want)
	}
	if _, err := tab.Navigate(t.Context(), site(t, map[string]string{"/": "ok"}).URL); err != nil {
		t.Errorf("the tab does not recover: %v", err)
	}
}

func TestNavigateToASilentServerEnds(t *testing.T) {
	srv := browsertest.Serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tab := openTab(t, "")
	stop := errors.New("stopped by @ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(stop) })
	start := time.Now()
	_, err := tab.Navigate(ctx, srv.URL)
	if took := time.Since(start); !errors.Is(err, stop) || took > atOnce {
		t.Errorf("got %v after %s, want the cause at once", err, took)
	}
	ctx, cancelTime := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancelTime()
	browsertest.WantError(t, browsertest.Err(tab.Navigate(ctx, srv.URL)), context.DeadlineExceeded)
	snapshot(t, tab, page.SnapshotOptions{})
	if _, err := tab.Navigate(t.Context(), site(t, map[string]string{"/": "ok"}).URL); err != nil {
		t.Errorf("the tab does not recover: %v", err)
	}
}

func TestTheCallerSaysHowLongANavigationMayTake(t *testing.T) {
	srv := browsertest.Serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := openTab(t, "").NavigateWithin(t.Context(), srv.URL, 400*time.Millisecond)
	wantError(t, err, "the server did not answer within 400ms")
}

func TestHistory(t *testing.T) {
	srv := site(t, map[string]string{"/a": `<p>a</p><a href=#in>In</a>`, "/b": "<p>b"})
	tab := openTab(t, srv.URL+"/a")
	if _, err := tab.Forward(t.Context()); err == nil {
		t.Error("forward at the end: got no error")
	}
	browsertest.Navigate(t, tab, srv.URL+"/b")
	if res := act(t, tab, page.Action{Kind: actiontable.KindBack}); res.URL != srv.URL+"/a" {
		t.Errorf("back: got %+v", res)
	}
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "paragraph: a")
	if res := act(t, tab, page.Action{Kind: actiontable.KindForward}); res.URL != srv.URL+"/b" {
		t.Errorf("forward: got %+v", res)
	}
	js(t, tab, "window.mark = 1")
	act(t, tab, page.Action{Kind: actiontable.KindReload})
	browsertest.WantJS(t, tab, "typeof mark", `"undefined"`)
}
