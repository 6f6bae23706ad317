package page_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/internal/test/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

// begin is a function of a page: it starts a worker and returns its first message, or "timeout".
const begin = `<script>
begin = (address, options) => new Promise((done) => {
	const worker = new Worker(address, options);
	worker.onmessage = (e) => done(e.data);
	worker.onerror = (e) => done('error ' + e.message);
	setTimeout(() => done('timeout'), 10000);
})
</script>`

// workers serves pages that start workers. Each script reports its name once it has fetched the address of that name.
func workers(t *testing.T) (origin string, asked chan string) {
	t.Helper()
	asked = make(chan string, 100)
	script := func(text string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(text))
		}
	}
	asks := func(name string) string {
		return fmt.Sprintf("fetch('/asked?%[1]s').then((r) => r.text()).then((text) => postMessage('%[1]s ' + text))", name)
	}
	over := make(chan struct{})
	never := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}
	origin = browsertest.Routes(t, map[string]any{
		"/{$}":    begin,
		"/framed": begin + `<script>onmessage = () => begin('/url.js').then((text) => parent.postMessage(text, '*'))</script>`,
		"/url.js": script(asks("url")),
		"/module.js": script("import name from '/name.js'; " +
			"fetch('/asked?' + name).then((r) => r.text()).then((text) => postMessage(name + ' ' + text))"),
		"/name.js": script("export default 'module'"),
		"/outer.js": script("const inner = new Worker('/inner.js'); inner.onmessage = (e) => postMessage('outer of ' " +
			"+ e.data)"),
		"/inner.js": script(asks("inner")),
		"/never.js": never,
		"/never":    never,
		"/asked": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			asked <- r.URL.RawQuery
			_, _ = w.Write([]byte("arrived"))
		},
	})
	t.Cleanup(func() { close(over) }) // before the server waits for its handlers: Chromium asks again on a new connection
	return origin, asked
}

func TestDedicatedWorkersRun(t *testing.T) {
	origin, asked := workers(t)
	ask := "fetch('" + origin + "/asked?%[1]s').then((r) => r.text()).then((text) => postMessage('%[1]s ' + text))"
	// A frame begins its worker when it is told to: Chromium loses one that a frame begins while it is being loaded now
	// and then, also when nobody is attached.
	load := func(what string) string {
		return `new Promise((done) => {
			f = Object.assign(document.createElement('iframe'), {` + what + `, onload: () => done('loaded')});
			document.body.append(f);
		})`
	}
	tell := `new Promise((done) => {
		onmessage = (e) => done(e.data);
		f.contentWindow.postMessage('begin', '*');
		setTimeout(() => done('timeout'), 10000);
	})`
	inner := `new Promise((done) => {
		new f.contentWindow.Worker('/url.js').onmessage = (e) => done(e.data);
		setTimeout(() => done('timeout'), 10000);
	})`
	far := "http://localhost" + origin[len("http://127.0.0.1"):]
	tab := openTab(t, "")
	for name, c := range map[string]struct{ before, fn, asked, want string }{
		"url":    {"'loaded'", "begin('/url.js')", "url", "url arrived"},
		"module": {"'loaded'", "begin('/module.js', {type: 'module'})", "module", "module arrived"},
		"blob": {
			"'loaded'", "begin(URL.createObjectURL(new Blob([`" + fmt.Sprintf(ask, "blob") + "`])))",
			"blob", "blob arrived",
		},
		"data": {"'loaded'", "begin('data:text/javascript,' + encodeURIComponent(`" +
			fmt.Sprintf(ask, "data") + "`))", "data", "data arrived"},
		"nested":               {"'loaded'", "begin('/outer.js')", "inner", "outer of inner arrived"},
		"in a frame":           {load("src: '/framed'"), tell, "url", "url arrived"},
		"in a frame from afar": {load("src: '" + far + "/framed'"), tell, "url", "url arrived"},
		"in a frame by srcdoc": {load("srcdoc: '<p>Inner'"), inner, "url", "url arrived"},
	} {
		t.Run(name, func(t *testing.T) {
			browsertest.Navigate(t, tab, origin+"/")
			browsertest.WantJS(t, tab, c.before, `"loaded"`)
			browsertest.WantEqual(t, jsString(t, tab, c.fn), c.want)
			select {
			case got := <-asked:
				if got != c.asked {
					t.Errorf("the server was asked for %q, want %q", got, c.asked)
				}
			default:
				t.Error("the server was asked for nothing")
			}
		})
	}
}

func TestWorkersThatExistedBeforeTheConnectionContinue(t *testing.T) {
	origin, _ := workers(t)
	tab := openTab(t, origin+"/")
	browsertest.WantJS(t, tab, "worker = new Worker(URL.createObjectURL(new Blob(['onmessage = () => "+
		"postMessage(1)']))), begin('/url.js')",
		`"url arrived"`)
	other := browser.Connect(t, page.Options{}).Tab(tab.TargetID())
	if other == nil {
		t.Fatal("the second connection does not know the tab")
	}
	for _, c := range []*page.Tab{tab, other} {
		answer := `new Promise((done) => { worker.onmessage = () => done('message'); worker.postMessage(1); setTimeout(() => done('timeout'), 10000); })`
		browsertest.WantJS(t, c, answer, `"message"`)
		browsertest.WantJS(t, c, "begin('/outer.js')", `"outer of inner arrived"`)
	}
}

func TestWorkletsRun(t *testing.T) {
	tab := openTab(t, browsertest.Routes(t, map[string]any{"/{$}": "<p>Worklets"}))
	got := jsString(t, tab, `new Promise(async (done) => {
		setTimeout(() => done('timeout'), 10000);
		const audio = new OfflineAudioContext(1, 128, 44100);
		const code = "registerProcessor('quiet', class extends AudioWorkletProcessor {" +
			"constructor() { super(); this.port.postMessage('message'); } process() { return false; } })";
		await audio.audioWorklet.addModule(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})));
		new AudioWorkletNode(audio, 'quiet').port.onmessage = (e) => done(e.data);
		audio.startRendering();
	})`)
	if got != "message" {
		t.Errorf("an audio worklet: %s", got)
	}
}

// network records the requests reported in the sessions of a tab's frames and workers.
type network struct {
	mu   sync.Mutex
	ids  map[string]string // addresses by the protocol's id of the request
	told []string          // addresses of requests that have ended
}

func (*network) Attach(*page.Tab, *frame.Frame) []proto.Request { return nil }

func (n *network) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
		Request   struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if t == nil || f == nil || !ev.Decode(&p) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch ev.Method {
	case "Network.requestWillBeSent":
		n.ids[p.RequestID] = p.Request.URL
	case "Network.loadingFinished":
		n.told = append(n.told, n.ids[p.RequestID])
	}
}

func (n *network) has(url string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.told, url)
}

func TestRequestsOfWorkersAreReported(t *testing.T) {
	origin, _ := workers(t)
	told := &network{ids: map[string]string{}}
	tab := browser.Page(t, page.Options{Observers: []page.Observer{told}}, origin+"/")
	for _, fn := range []string{"begin('/module.js', {type: 'module'})", "begin('/outer.js')"} {
		if got := jsString(t, tab, fn); !strings.HasSuffix(got, " arrived") {
			t.Errorf("%s: %s", fn, got)
		}
	}
	for _, path := range []string{"/module.js", "/name.js", "/asked?module", "/outer.js", "/inner.js", "/asked?inner"} {
		browsertest.Eventually(t, path+" to be told", func() bool { return told.has(origin + path) })
	}
}

func TestWorkersDelayNoAction(t *testing.T) {
	origin, _ := workers(t)
	b := browser.Connect(t, page.Options{})
	for name, fn := range map[string]string{
		"runs":          "begin('/url.js')",
		"has no script": "begin('/missing.js')",
		"never begins": "new Promise((done) => { const w = new Worker('/never.js'); setTimeout(() => { w.terminate(); " +
			"done('over'); }, 100); })",
		"ends at once":   "(() => { new Worker('/url.js').terminate(); return 'over'; })()",
		"goes on asking": "begin(URL.createObjectURL(new Blob([`postMessage('asks'); fetch('" + origin + "/never')`])))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := browsertest.Tab(t, b, page.TabOptions{URL: origin + "/"})
			if got := jsString(t, tab, fn); got == "timeout" {
				t.Error(got)
			}
			start := time.Now()
			act(t, tab, page.Action{Kind: actiontable.KindWait, LoadState: "networkidle", TimeoutMs: 10000})
			if took := time.Since(start); took > atOnce {
				t.Errorf("the network was idle after %s", took)
			}
		})
	}
}
