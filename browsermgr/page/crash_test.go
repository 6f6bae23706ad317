package page_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/coder/websocket"
)

func TestEndlessLoopIsAbandonedAndStopped(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	began := make(chan struct{}, 2)
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/began" {
			began <- struct{}{}
		}
		browsertest.HTML(w, `<script>
			function loop() { const tell = new XMLHttpRequest(); tell.open("GET", "/began", false); tell.send(); for (;;); }
			</script><button onclick="loop()">Loop</button><p>Text</p>`)
	})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	ref := refOf(t, tab, "Loop")
	stop := errors.New("stopped by @ada")
	const limit = 60 * time.Second // which must not be what ends them
	for name, call := range map[string]func(context.Context) error{
		"click": func(ctx context.Context) error {
			_, err := tab.Act(ctx, page.Action{Kind: actiontable.KindClick, Ref: ref, TimeoutMs: int(limit.Milliseconds())})
			return err
		},
		"evaluate": func(ctx context.Context) error {
			_, err := tab.Act(ctx, page.Action{
				Kind: actiontable.KindEvaluate, Fn: "loop()",
				TimeoutMs: int(limit.Milliseconds()),
			})
			return err
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		left := make(chan error, 1)
		go func() { left <- call(ctx) }()
		select {
		case <-began:
		case <-browsertest.Within(t, browsertest.Patience).Done():
			t.Fatalf("%s: the loop has not begun", name)
		}
		cancel(stop)
		select {
		case err := <-left:
			if !errors.Is(err, stop) {
				t.Errorf("%s: got %v, want the cause", name, err)
			}
		case <-browsertest.Within(t, browsertest.Patience).Done():
			t.Fatalf("%s: it is not left", name)
		}
		check.Must(t, tab.Stop(browsertest.Within(t, browsertest.Patience)))
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Text")
	}
}

func TestClickThatLoopsIsNamedAndEnded(t *testing.T) {
	tab := show(t, `<button onclick="for (;;);">Loop</button><button onclick="setTimeout(() => { for (;;); }, 0)">Later</button><p>Text</p>`)
	for _, name := range []string{"Loop", "Later"} {
		_ = refused(t, tab, page.Action{Kind: actiontable.KindClick, Ref: refOf(t, tab, name)}, "does not answer", "busy")
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Text")
	}
}

func TestLoopingTabBlocksNoOther(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	srv := site(t, map[string]string{
		"/":   `<button onclick="for (;;);">Loop</button>`,
		"/ok": "<title>Fine</title><p>Text",
	})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	ref := refOf(t, tab, "Loop")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = tab.Act(ctx, page.Action{Kind: actiontable.KindClick, Ref: ref}) })
	defer wg.Wait()
	defer cancel()
	other := browsertest.Tab(t, b, page.TabOptions{URL: foreign(srv) + "/ok"})
	check.Contains(t, snapshot(t, other, page.SnapshotOptions{}).Text, "Text")
	if got := len(b.Tabs()); got < 2 {
		t.Errorf("got %d tabs", got)
	}
	waiting, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	check.Fails(t, check.Err(tab.Snapshot(waiting, page.SnapshotOptions{})), context.DeadlineExceeded)
	// Somebody else connects meanwhile.
	start := time.Now()
	second := browser.Connect(t, page.Options{})
	if took := time.Since(start); took > 10*time.Second || len(second.Tabs()) < 2 {
		t.Errorf("a second connection took %s and sees %d tabs", took, len(second.Tabs()))
	}
	check.Must(t, tab.Stop(t.Context()))
}

func TestStopOfAnIdleTabHarmsNothing(t *testing.T) {
	tab := show(t, `<button onclick="window.ok=1">Go</button>`)
	ref := refOf(t, tab, "Go")
	for range 3 {
		check.Must(t, tab.Stop(t.Context()))
		click(t, tab, ref)
	}
	browsertest.WantJS(t, tab, "ok", "1")
}

func TestCrashedTabIsReportedAndRevived(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	srv := site(t, map[string]string{"/": `<button>Go</button>`})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	other := browsertest.Tab(t, b, page.TabOptions{URL: foreign(srv)})
	snapshot(t, tab, page.SnapshotOptions{})
	events, stop := b.Events()
	defer stop()
	failed := make(chan error, 1)
	go func() {
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindWait, Text: "never", TimeoutMs: 30000})
		failed <- err
	}()
	crash(t, tab)
	select {
	case err := <-failed:
		check.Fails(t, err, page.ErrTabCrashed)
	case <-time.After(20 * time.Second):
		t.Fatal("the wait outlived the page")
	}
	for ev := range events {
		if ev.Kind == page.TabCrashed && ev.Tab == tab {
			break
		}
	}
	check.Fails(t, check.Err(tab.Snapshot(t.Context(), page.SnapshotOptions{})), page.ErrTabCrashed)
	snapshot(t, other, page.SnapshotOptions{})
	if _, err := tab.Navigate(t.Context(), srv.URL); err != nil {
		t.Fatalf("the tab does not come back: %v", err)
	}
	click(t, tab, refOf(t, tab, "Go"))
}

// crash crashes the renderer of a tab over a separate connection.
func crash(t *testing.T, tab *page.Tab) {
	t.Helper()
	ws, resp, err := websocket.Dial(t.Context(), strings.Split(browser.Process(t).WebSocketURL, "/devtools/")[0]+
		"/devtools/page/"+tab.TargetID(), nil)
	check.Must(t, err)
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	defer func() { _ = ws.CloseNow() }()
	check.Must(t, ws.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"Page.crash"}`)))
	browsertest.Eventually(t, "the tab is gone", func() bool { return tab.Err() != nil })
}

func TestLostBrowserFailsEverythingAtOnce(t *testing.T) {
	own := browsertest.Launch(t)
	b := browsertest.Connect(t, own, page.Options{})
	events, stop := b.Events()
	defer stop()
	tab := browsertest.Tab(t, b, page.TabOptions{})
	failed := make(chan error, 1)
	go func() {
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindWait, Text: "never", TimeoutMs: 30000})
		failed <- err
	}()
	browsertest.Eventually(t, "the tab is known", func() bool { return len(b.Tabs()) > 0 })
	browsertest.Kill(t, own)
	select {
	case err := <-failed:
		check.Fails(t, err, page.ErrBrowserGone)
	case <-time.After(20 * time.Second):
		t.Fatal("the wait outlived the browser")
	}
	<-b.Done()
	<-tab.Done()
	for range events { // ends
	}
	if !errors.Is(b.Err(), page.ErrBrowserGone) || !errors.Is(tab.Err(), page.ErrBrowserGone) {
		t.Errorf("got %v and %v, want a lost browser", b.Err(), tab.Err())
	}
	check.Fails(t, check.Err(b.NewTab(t.Context(), page.TabOptions{})), page.ErrBrowserGone)
}

func TestClosedTabSaysSo(t *testing.T) {
	tab := show(t, `<p>x`)
	check.Must(t, tab.Close(t.Context()))
	if err := tab.Close(t.Context()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	check.Fails(t, check.Err(tab.Snapshot(t.Context(), page.SnapshotOptions{})), page.ErrTabGone)
	check.Fails(t, check.Err(tab.Navigate(t.Context(), "http://localhost:1")), page.ErrTabGone)
}

func TestPageClosingItself(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	tab := browsertest.Tab(t, b,
		page.TabOptions{URL: site(t, map[string]string{"/": `<button onclick="window.close()">Close</button>`}).URL})
	js(t, tab, "void window.open(location.href)")
	var popup *page.Tab
	browsertest.Eventually(t, "the popup is there", func() bool {
		for _, other := range b.Tabs() {
			if other.Opener() == tab {
				popup = other
			}
		}
		return popup != nil && strings.HasPrefix(popup.URL(), "http")
	})
	ref := refOf(t, popup, "Close")
	_, err := popup.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
	if err != nil && !errors.Is(err, page.ErrTabGone) {
		t.Errorf("got %v", err)
	}
	browsertest.Eventually(t, "the popup is gone", func() bool { return popup.Err() != nil })
}

func TestConnectToSomethingElse(t *testing.T) {
	silent := browsertest.Serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	plain := browsertest.Serve(t, http.NotFound)
	garbage := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.CloseNow() }()
		_ = ws.Write(r.Context(), websocket.MessageText, []byte(`{"id":"x"} not json`))
		_, _, _ = ws.Read(r.Context()) // until it hangs up
	})
	for name, srv := range map[string]*httptest.Server{"silent": silent, "plain": plain, "garbage": garbage} {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		start := time.Now()
		_, err := page.Connect(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/?token=secret", page.Options{})
		cancel()
		if took := time.Since(start); err == nil || took > 10*time.Second || strings.Contains(err.Error(), "token=secret") {
			t.Errorf("%s: got %v after %s", name, err, took)
		}
	}
}

func TestContextsAreIsolated(t *testing.T) {
	b := browser.Connect(t, page.Options{})
	srv := site(t, map[string]string{"/": `<p>x`})
	id, err := b.NewContext(t.Context(), "")
	check.Must(t, err)
	normal := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	js(t, normal, "void (document.cookie = 'who=normal')")
	hidden, err := b.NewTab(t.Context(), page.TabOptions{URL: srv.URL, ContextID: id})
	check.Must(t, err)
	if got := js(t, hidden, "document.cookie"); got != `""` || hidden.ContextID() != id {
		t.Errorf("got cookie %s in context %s, want none in %s", got, hidden.ContextID(), id)
	}
	check.Must(t, b.CloseContext(t.Context(), id))
	<-hidden.Done()
	if normal.Err() != nil {
		t.Error("the other context's tab is gone too")
	}
}
