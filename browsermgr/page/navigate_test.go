package page_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
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
		"/": `<title>One</title><button onclick="document.title='Two'">Now</button><button onclick="fetch('/').then(() => document.title='Three')">Soon</button><a href=/next>Next</a>
			<button onclick="post('Four')">Posted</button><button onclick="delay('Five')">Delayed</button>
			<button onkeyup="post('Six')">Key</button><button onkeyup="delay('Seven')">Late key</button>
			<script>function delay(title) { setTimeout(() => { document.title = title; }); }
			function post(title) {
				const { port1, port2 } = new MessageChannel();
				port1.onmessage = () => { document.title = title; };
				port2.postMessage(0);
			}</script>`,
		"/next": `<title>Next</title>`,
	})
	tab := openTab(t, srv.URL)
	browsertest.WantEqual(t, tab.Title(), "One")
	for _, step := range []struct{ name, key, title string }{
		{"Now", "", "Two"},
		{"Soon", "", "Three"},
		{"Posted", "", "Four"},
		{"Delayed", "", "Five"},
		{"Key", "a", "Six"},
		{"Late key", "a", "Seven"},
		{"Next", "", "Next"},
	} {
		do := page.Action{Kind: actiontable.KindClick, Ref: refOf(t, tab, `"`+step.name+`"`)}
		if step.key != "" {
			do.Kind, do.Key = actiontable.KindPress, step.key
		}
		act(t, tab, do)
		if got := tab.Title(); got != step.title {
			t.Errorf("got title %q after %s, want %q", got, step.name, step.title)
		}
	}
}

func TestPageWithoutTitleHasNone(t *testing.T) {
	srv := site(t, map[string]string{"/": `<title>One</title>`, "/bare": `<p>no title</p>`})
	tab := openTab(t, srv.URL)
	browsertest.Navigate(t, tab, srv.URL+"/bare")
	browsertest.WantEqual(t, tab.Title(), "")
}

// A document reports its title itself, so that a browser that has just begun to draw it need not be queried. One that
// runs no scripts is queried.
func TestNewDocumentReportsItsTitle(t *testing.T) {
	var worlds atomic.Int32
	b := browser.Connect(t, page.Options{Options: cdp.Options{OnSent: func(method string, _ any) {
		if method == "Page.createIsolatedWorld" {
			worlds.Add(1)
		}
	}}})
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mute" {
			w.Header().Set("Content-Security-Policy", "sandbox")
		}
		browsertest.HTML(w, "<title>"+r.URL.Path+`</title><script>
			var clankReport = window.clankReport ?? (() => {});
			clankReport('=forged');
			addEventListener('load', () => { document.title += '!'; clankReport('=forged'); });
		</script><iframe srcdoc="<title>inner</title>"></iframe>`)
	})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: srv.URL})
	var wg sync.WaitGroup
	for _, tt := range []struct{ path, title string }{
		{"/one", "/one!"}, {"/two", "/two!"}, {"/mute", "/mute"}, {"/one", "/one!"},
	} {
		worlds.Store(0)
		browsertest.Navigate(t, tab, srv.URL+tt.path)
		if got := tab.Title(); got != tt.title {
			t.Errorf("got the title %q, want %q", got, tt.title)
		}
		for range 3 {
			wg.Go(func() { _, _, _ = tab.Describe(browsertest.Within(t, 30*time.Second), "e1") })
		}
		snapshot(t, tab, page.SnapshotOptions{})
		wg.Wait()
		if got := worlds.Load(); got != 0 {
			t.Errorf("%s: asked %d times for a world", tt.path, got)
		}
	}
	check.Must(t, check.Err(tab.Back(browsertest.Within(t, browsertest.Patience))))
	browsertest.WantEqual(t, tab.Title(), "/mute")
}

func TestNavigateInWords(t *testing.T) {
	tab := openTab(t, "")
	closed := site(t, nil)
	closed.Close()
	hangUp := browsertest.Serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	circle := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/", http.StatusFound)
	})
	download := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=a.bin")
		_, _ = w.Write([]byte("x"))
	})
	for url, want := range map[string]string{
		closed.URL:                  "refused the connection",
		hangUp.URL:                  "closed the connection without an answer",
		circle.URL:                  "redirects in a circle",
		download.URL:                "download",
		"http://no-such.invalid/":   "no such host no-such.invalid: check the spelling",
		"http://127.0.0.1:1/unsafe": "browsers refuse",
	} {
		res, err := tab.Navigate(t.Context(), url)
		check.Fails(t, err, nil, want)
		if url == download.URL {
			continue
		}
		snapshot(t, tab, page.SnapshotOptions{}) // Chromium has told about the target by then
		if !page.IsErrorPage(res.URL) || !page.IsErrorPage(tab.URL()) || res.Loading {
			t.Errorf("%s: got %+v, then %s; want the error page", url, res, tab.URL())
		}
	}
	if _, err := tab.Navigate(t.Context(), site(t, map[string]string{"/": "ok"}).URL); err != nil {
		t.Errorf("the tab does not recover: %v", err)
	}
}

func TestARequestedNavigationIsAwaited(t *testing.T) {
	release := make(chan struct{})
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		browsertest.HTML(w, "ok")
	})
	tab := openTab(t, srv.URL)
	check.Must(t, tab.MainFrame().Do(t.Context(), proto.RuntimeEvaluate{
		Expression: "void setTimeout(() => { location = '/slow' })",
	}))
	const briefly = 50 * time.Millisecond
	browsertest.Eventually(t, "it waits for the request", func() bool {
		begun := time.Now()
		check.Must(t, tab.AwaitRequested(t.Context(), briefly))
		return time.Since(begun) >= briefly
	})
	close(release)
	check.Must(t, tab.AwaitRequested(t.Context(), browsertest.Patience))
	browsertest.WantEqual(t, tab.URL(), srv.URL+"/slow")
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
	check.Fails(t, check.Err(tab.Navigate(ctx, srv.URL)), context.DeadlineExceeded)
	snapshot(t, tab, page.SnapshotOptions{})
	if _, err := tab.Navigate(t.Context(), site(t, map[string]string{"/": "ok"}).URL); err != nil {
		t.Errorf("the tab does not recover: %v", err)
	}
}

func TestTheCallerSaysHowLongANavigationMayTake(t *testing.T) {
	srv := browsertest.Serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := openTab(t, "").NavigateWithin(t.Context(), srv.URL, 400*time.Millisecond)
	check.Fails(t, err, context.DeadlineExceeded, "the server did not answer within 400ms")
	check.Lacks(t, err.Error(), "not done")
}

func TestAPartlyLoadedPageCanBeRead(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Half</title><h1>The first half</h1>"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	tab := openTab(t, "")
	res, err := tab.NavigateWithin(t.Context(), srv.URL, 2*time.Second)
	if err != nil || !res.Loading || !res.Navigated || res.Status != http.StatusOK {
		t.Errorf("got %+v, %v", res, err)
	}
	if got := snapshot(t, tab, page.SnapshotOptions{}).Text; !strings.Contains(got, "The first half") {
		t.Errorf("the page says %q", got)
	}
}

func TestHistory(t *testing.T) {
	srv := site(t, map[string]string{"/a": `<p>a</p><a href=#in>In</a>`, "/b": "<p>b"})
	tab := openTab(t, srv.URL+"/a")
	check.Fails(t, check.Err(tab.Forward(t.Context())), nil, "there is no page to go forward to")
	browsertest.Navigate(t, tab, srv.URL+"/b")
	if res := act(t, tab, page.Action{Kind: actiontable.KindBack}); res.URL != srv.URL+"/a" {
		t.Errorf("back: got %+v", res)
	}
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "paragraph: a")
	if res := act(t, tab, page.Action{Kind: actiontable.KindForward}); res.URL != srv.URL+"/b" {
		t.Errorf("forward: got %+v", res)
	}
	js(t, tab, "window.mark = 1")
	act(t, tab, page.Action{Kind: actiontable.KindReload})
	browsertest.WantJS(t, tab, "typeof mark", `"undefined"`)
}

func TestWaitEndsWhenTheConditionHolds(t *testing.T) {
	srv := site(t, map[string]string{
		"/": `<p id=p>Loading…</p><iframe srcdoc="<p id=q>frame</p>"></iframe><script>
			setTimeout(() => { p.textContent = 'All  DONE here'; window.ready = true; history.pushState(0, '', '/done?x=1'); p.id = 'fresh' }, 50)</script>`,
	})
	tests := map[string]page.Action{
		"text":      {Text: "all done"},
		"text gone": {TextGone: "loading"},
		"selector":  {Selector: "#fresh"},
		"url":       {URL: "**/done?x=*"},
		"fn":        {Fn: "() => window.ready"},
		"fn async":  {Fn: "async () => { await 1; return window.ready }"},
		"load":      {LoadState: "load"},
		"idle":      {LoadState: "networkidle"},
		"time":      {TimeMs: 100},
		"several": {
			TimeMs: 10, Text: "done", TextGone: "loading", URL: "**/done*", LoadState: "domcontentloaded",
			Fn: "true",
		},
		"in frame": {Text: "frame"},
	}
	tab := openTab(t, "")
	for name, a := range tests {
		t.Run(name, func(t *testing.T) {
			browsertest.Navigate(t, tab, srv.URL)
			a.Kind, a.TimeoutMs = actiontable.KindWait, 20000
			start := time.Now()
			act(t, tab, a)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestWaitSaysWhatItWaitedFor(t *testing.T) {
	tab := show(t, "<p>still here</p>")
	for want, a := range map[string]page.Action{
		`the text "never" did not appear`:                   {Text: "never"},
		`the text "still" did not go away within`:           {TextGone: "still"},
		`nothing that matches "#x" was visible`:             {Selector: "#x"},
		`the address did not become "http://nowhere.test/"`: {URL: "http://nowhere.test/"},
		"the JavaScript was not true":                       {Fn: "false"},
		`selector "][" is not a CSS sele`:                   {Selector: "]["},
		"boom":                                              {Fn: "() => { throw new Error('boom') }"},
		"this is not JavaScript: SyntaxError: a bracket":    {Fn: "return ((("},
	} {
		a.Kind = actiontable.KindWait
		t.Run(want, func(t *testing.T) {
			_ = refused(t, tab, a, want)
		})
	}
}

func TestWaitOutlivesNavigation(t *testing.T) {
	srv := site(t, map[string]string{
		"/":     `<script>setTimeout(() => location = '/next', 50)</script>`,
		"/next": `<p>Arrived</p>`,
	})
	for _, a := range []page.Action{{Text: "arrived"}, {Fn: "document.body?.textContent.includes('Arrived')"}} {
		tab := browsertest.Tab(t, browser.Connect(t, page.Options{}), page.TabOptions{URL: srv.URL})
		a.Kind = actiontable.KindWait
		act(t, tab, a)
	}
}

func TestWaitIsCancelledAtOnce(t *testing.T) {
	tab := show(t, `<p>x`)
	stop := errors.New("stopped by @ada")
	for name, a := range map[string]page.Action{
		"text": {Text: "never"}, "fn": {Fn: "false"}, "time": {TimeMs: 20000}, "url": {URL: "**/never"},
		"promise": {Kind: actiontable.KindEvaluate, Fn: "new Promise(() => {})"},
	} {
		if a.Kind == "" {
			a.Kind = actiontable.KindWait
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(100*time.Millisecond, func() { cancel(stop) })
		start := time.Now()
		_, err := tab.Act(ctx, a)
		if took := time.Since(start); !errors.Is(err, stop) || took > atOnce {
			t.Errorf("%s: got %v after %s, want the cause at once", name, err, took)
		}
		timer.Stop()
		start = time.Now()
		snapshot(t, tab, page.SnapshotOptions{})
		if took := time.Since(start); took > atOnce {
			t.Errorf("%s: the next call took %s", name, took)
		}
	}
}

func TestEvaluate(t *testing.T) {
	tab := show(t, `<button data-x=1>Go</button>`)
	for fn, want := range map[string]string{
		"1 + 1": "2", "() => document.title": `"Test"`, "return 5": "5", "const a = 2; return a * 3": "6",
		"async () => 7": "7",
		"undefined":     "", "null": "null", "({a: [1, 'b']})": `{"a":[1,"b"]}`, "document.querySelector('nope')": "null",
		"'eval' // comment": `"eval"`, "document.title;": `"Test"`, "() => 8; ": "8", "NaN": "null", "-0": "0", "return": "",
		"function () { return this === window }": "true", "typeof el": `"undefined"`,
	} {
		check.Equal(t, fn, js(t, tab, fn), want)
	}
	ref := refOf(t, tab, "Go")
	res := act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Ref: ref, Fn: "el => el.dataset.x"})
	if string(res.Value) != `"1"` {
		t.Errorf("got %s, want the element as argument", res.Value)
	}
	for _, fn := range []string{"el.dataset.x", "return el.dataset.x", "function (element) { return element.dataset.x }"} {
		for _, a := range []page.Action{{Ref: ref}, {Selector: "button"}} {
			a.Kind, a.Fn = actiontable.KindEvaluate, fn
			if res := act(t, tab, a); string(res.Value) != `"1"` {
				t.Errorf("%s: got %s, want the element as el", fn, res.Value)
			}
		}
	}
	for _, fn := range []string{"window", "10n", "Symbol('x')", "() => () => 1", "const a = {}; a.a = a; return a"} {
		check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindEvaluate, Fn: fn})),
			nil, "not JSON-serialisable")
	}
	for fn, want := range map[string]string{
		"x.y.z": "x is not defined", "(": "bracket or a value is missing at the end",
		"() => { throw new TypeError('mine') }": "mine",
	} {
		check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindEvaluate, Fn: fn})), nil, want)
	}
	js(t, tab, "document.body.appendChild(document.createElement('div')).attachShadow({mode: 'open'}).innerHTML = '<i "+
		"id=deep>deep</i>'")
	if res := act(t, tab, page.Action{Kind: actiontable.KindEvaluate, Selector: "#deep", Fn: "el.textContent"}); string(
		res.Value) != `"deep"` {
		t.Errorf("got %s, want the element of the shadow root", res.Value)
	}
	js(t, tab, "document.querySelector('button').remove()")
	check.Fails(t, check.Err(tab.Act(t.Context(), page.Action{Kind: actiontable.KindEvaluate, Ref: ref, Fn: "el => 1"})),
		nil, "Unknown ref")
}

func TestEndlessScriptIsTerminated(t *testing.T) {
	tab := show(t, `<p>Text</p>`)
	for _, a := range []page.Action{
		{Kind: actiontable.KindEvaluate, Fn: "window.runs = (window.runs || 0) + 1; for (;;);", TimeoutMs: 500},
		{Kind: actiontable.KindEvaluate, Fn: "(async () => { await 1; for (;;); })()", TimeoutMs: 1500},
		{Kind: actiontable.KindWait, Fn: "() => { for (;;); }", TimeoutMs: 500},
	} {
		start := time.Now()
		_, err := tab.Act(t.Context(), a)
		check.Fails(t, err, context.DeadlineExceeded)
		if a.Kind == actiontable.KindEvaluate {
			check.Fails(t, err, nil, "the JavaScript was stopped: it did not end within 1s")
		}
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%+v: took %s", a, took)
		}
		start = time.Now()
		check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, "Text")
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("%+v: the page was kept for %s", a, took)
		}
	}
	browsertest.WantJS(t, tab, "runs", "1")
}

func TestWaitGivesEachConditionItsLimit(t *testing.T) {
	tab := show(t, `<p id=p>One</p><script>turn = setInterval(() => p.textContent = p.textContent === 'One' ? 'Two' : 'One', 100)</script>`)
	act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "one", TextGone: "ONE", TimeoutMs: 15000})
	js(t, tab, "clearInterval(turn), p.textContent = 'Two'")
	_, err := tab.Act(t.Context(), page.Action{
		Kind: actiontable.KindWait, Text: "two", TextGone: "two", Fn: "false",
		TimeoutMs: 500,
	})
	check.Fails(t, err, nil, `wait: the text "two" did not go away within 500ms`)
}

func TestEvaluateUnderStrictPolicy(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; require-trusted-types-for 'script'")
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<button>Go</button>"))
	})
	tab := openTab(t, srv.URL)
	click(t, tab, refOf(t, tab, "Go"))
	browsertest.WantJS(t, tab, "return document.querySelectorAll('button').length", "1")
}
