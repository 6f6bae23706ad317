package emulate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/emulate"
	"clank/browsermgr/page/frame"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// browser is the one for all tests of the package.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// connect opens a connection with its own Emulator, which ends with the test.
func connect(tb testing.TB) (*page.Browser, *emulate.Emulator) {
	tb.Helper()
	state := emulate.New(nil)
	return browser.Connect(tb, page.Options{Observers: []page.Observer{state}}), state
}

// isolated makes a browser context that is closed when the test ends.
func isolated(tb testing.TB, b *page.Browser) string {
	tb.Helper()
	id, err := b.NewContext(browsertest.Within(tb, browsertest.Patience), "")
	check.Must(tb, err)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		_ = b.CloseContext(ctx, id)
	})
	return id
}

// open opens a tab in its own context.
func open(tb testing.TB, url string) (*page.Tab, *emulate.Emulator) {
	tb.Helper()
	b, state := connect(tb)
	return openIn(tb, b, isolated(tb, b), url), state
}

func openIn(tb testing.TB, b *page.Browser, contextID, url string) *page.Tab {
	tb.Helper()
	tab, err := b.NewTab(browsertest.Within(tb, browsertest.Patience), page.TabOptions{URL: url, ContextID: contextID})
	check.Must(tb, err)
	return tab
}

// site serves the same page at each path, with a frame of another site at /framed.
func site(tb testing.TB) *httptest.Server {
	tb.Helper()
	return browsertest.Serve(tb, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		body := "<title>Test</title><pre>" + r.URL.Path + "</pre>"
		if r.URL.Path == "/framed" {
			body = `<iframe allow=geolocation src="` + browsertest.LocalhostURL(r) + `/inner"></iframe>`
		}
		browsertest.HTML(w, `<!doctype html><meta name=viewport content="width=device-width">`+body)
	})
}

// inFrame evaluates an expression in the out-of-process frame, once there is one.
func inFrame(tb testing.TB, tab *page.Tab, expression string) string {
	tb.Helper()
	ctx := browsertest.Within(tb, browsertest.Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if frames := tab.Frames(); len(frames) > 1 {
			res, err := cdp.Ask[frame.EvaluateResult[json.RawMessage]](ctx, frames[1].Session, proto.RuntimeEvaluate{
				Expression: "location.pathname === '/inner' && " + expression, ReturnByValue: true, AwaitPromise: true,
			})
			if err == nil && res.Exception == nil && string(res.Result.Value) != "false" {
				return string(res.Result.Value)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tb.Fatal("no frame of another process")
		}
	}
}

func wantJS(tb testing.TB, tab *page.Tab, expression, want string) {
	tb.Helper()
	check.Equal(tb, expression, browsertest.JS(tb, tab, expression), want)
}

func TestNewWorkersAreInTheSameWorldAsTheirPage(t *testing.T) {
	srv := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			browsertest.HTML(w, browsertest.Head+"<p>Page")
		case "/login":
			if user, _, ok := r.BasicAuth(); !ok || user != "ada" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
			}
		default:
			fmt.Fprint(w, r.Header.Get("X-One"))
		}
	})
	tab, state := open(t, srv.URL+"/")
	ctx := browsertest.Within(t, 30*time.Second)
	// A new worker fetches an address and says what became of it; an inner one of its own does the same.
	asks := func(path string) string {
		return fmt.Sprintf(`new Promise((done) => {
			const code = "fetch('%s%s').then(async (r) => r.status + ' ' + await r.text(), () => 'offline').then(postMessage)";
			const outer = "new Worker(URL.createObjectURL(new Blob([" + JSON.stringify(code) + "]))).onmessage = (e) => postMessage(e.data)";
			const told = [code, outer].map((text) => new Promise((done) => {
				new Worker(URL.createObjectURL(new Blob([text]))).onmessage = (e) => done(e.data);
			}));
			Promise.all(told).then((all) => done(all.join()));
			setTimeout(() => done('timeout'), 10000);
		})`, srv.URL, path)
	}
	wantJS(t, tab, asks("/header"), `"200 ,200 "`)
	check.Must(t, state.SetHeaders(ctx, tab, emulate.Headers{Values: map[string]string{"X-One": "1"}}))
	wantJS(t, tab, asks("/header"), `"200 1,200 1"`)
	check.Must(t, state.SetHeaders(ctx, tab, emulate.Headers{}))
	check.Must(t, state.SetCredentials(ctx, tab, &emulate.Credentials{Username: "ada", Password: "x"}))
	wantJS(t, tab, asks("/login"), `"200 ,200 "`)
	check.Must(t, state.SetCredentials(ctx, tab, nil))
	check.Must(t, state.SetOffline(ctx, tab, true))
	wantJS(t, tab, asks("/header"), `"offline,offline"`)
	check.Must(t, state.SetOffline(ctx, tab, false))
	wantJS(t, tab, asks("/header"), `"200 ,200 "`)
}
