package browsermgr_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/emulate"
	"clank/browsermgr/profile"
	"clank/internal/test/check"
)

// gate refuses addresses with a word in them, and records which tabs requested them.
type gate struct {
	word   string
	listen func(profile string) (proxy string, err error)

	mu     sync.Mutex
	judged []string
	blamed []string // "profile address document"
	ended  []string // profiles whose listeners were closed
	told   chan struct{}
}

// newGate returns a gate with a proxy for browsers, "" for none.
func newGate(word, proxy string) *gate {
	listen := func(string) (string, error) { return proxy, nil }
	return &gate{word: word, listen: listen, told: make(chan struct{}, 100)}
}

func (g *gate) Listen(_ context.Context, profile string) (string, error) { return g.listen(profile) }

func (g *gate) StopListening(profile string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = append(g.ended, profile)
}

// endedCount returns how many listeners were closed.
func (g *gate) endedCount() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.ended)
}

func (g *gate) ExplainDocument(_, _, _ string, _ time.Time) error { return nil }

func (g *gate) RefusalCount(string) uint64 { return 3 }

func (g *gate) AllowRequest(_ context.Context, _, address string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.judged = append(g.judged, address)
	if strings.Contains(address, g.word) {
		return errors.New(address + " is refused")
	}
	return nil
}

func (g *gate) AttributeRefusal(profile, target, address string, document bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	what := profile + " " + address
	if document {
		what += " document"
	}
	if target == "" {
		what += " of nobody"
	}
	g.blamed = append(g.blamed, what)
	g.told <- struct{}{}
}

func (g *gate) Watch(_, _ string) func(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.blamed)
	return func(context.Context) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, what := range g.blamed[before:] {
			if strings.HasSuffix(what, " document") {
				return errors.New(what + " is refused: ask the operator")
			}
		}
		return nil
	}
}

// asked reports whether a request for the address was checked.
func (g *gate) asked(address string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.judged, address)
}

func (g *gate) blame() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.blamed, "\n")
}

func TestStatusSaysWhatGuardsThePages(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		letOthersIn(m)
		m.Gate = newGate("never", recording(t).url)
	})
	p := findProfile(t, m, "")
	guarded := func(p *browsermgr.Profile, mode string) profile.GuardStatus {
		t.Helper()
		s := status(t, p).Guard
		if s.Mode != mode || s.Refusals != 3 || (s.Note != "") != (mode != profile.GuardProxy) {
			t.Errorf("%s: got %+v, want %s", p.Name(), s, mode)
		}
		return s
	}
	guarded(p, profile.GuardProxy)
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	guarded(p, profile.GuardProxy)
	found, err := p.Doctor(t.Context(), false)
	check.Must(t, err)
	for _, c := range found.Checks {
		if c.ID == "policy" && c.Status != "pass" {
			t.Errorf("doctor: %+v", c)
		}
	}
	create(t, m, browsermgr.CreateProfileOptions{Name: "remote", CDPURL: guestAddress(t, p)})
	remote := findProfile(t, m, "remote")
	check.Must(t, remote.Start(t.Context(), browsermgr.StartOptions{}))
	if s := guarded(remote, profile.GuardBestEffort); !strings.Contains(s.Note, "WebSockets") {
		t.Errorf("note %q", s.Note)
	}
	plain := manager(t, func(m *browsermgr.Manager) { m.FirstPort, m.LastPort = 18940, 18949 })
	if s := status(t, findProfile(t, plain, "")).Guard; s.Mode != profile.GuardOff {
		t.Errorf("without a guard: %+v", s)
	}
}

func TestFlagsThatLeadAroundTheProxyAreSaidWhereEverythingMayBeReached(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		g := newGate("never", "")
		g.listen = func(string) (string, error) { return "", errors.New("not to be asked") }
		m.Gate = g
		m.Config = func() profile.Config {
			yes := true
			return profile.Config{Headless: &yes, NoSandbox: true, Args: []string{"--no-proxy-server"}, AllowProxyBypass: true}
		}
	})
	p := findProfile(t, m, "")
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	if s := status(t, p).Guard; s.Mode != profile.GuardOff || !strings.Contains(s.Note, "--no-proxy-server") {
		t.Errorf("got %+v", s)
	}
}

func TestTheTabOfARefusedRequestIsReported(t *testing.T) {
	g := newGate("never", recording(t).url)
	m := manager(t, func(m *browsermgr.Manager) { m.Gate = g })
	base := site(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: base + "/"})
	act(t, w, "evaluate", map[string]any{
		"fn": `await Promise.allSettled([fetch('http://plain.refused.example/x'), fetch('https://tunnel.example/y'),
  new Promise((done) => { const s = new WebSocket('ws://socket.example/z'); s.onerror = done; })]);
const asks = (address) => "fetch('" + address + "').catch(() => 0).then(() => postMessage(1))";
const blob = (code) => URL.createObjectURL(new Blob([code]));
const worker = (address) => new Promise((done) => { new Worker(address).onmessage = done; });
await worker(blob(asks('http://worker.refused.example/w')));
await worker('data:text/javascript,' + encodeURIComponent(asks('https://tunnel.example/data')));
await worker(blob("new Worker(URL.createObjectURL(new Blob([" + JSON.stringify(asks('http://nested.refused.example/n')) + "]))).onmessage = () => postMessage(1)"))`,
	})
	for _, want := range []string{
		"clank http://plain.refused.example/x", "clank https://tunnel.example/y", "clank ws://socket.example/z",
		"clank http://worker.refused.example/w", "clank https://tunnel.example/data", "clank http://nested.refused.example/n",
	} {
		eventually(t, want+" to be told", func() bool { return strings.Contains(g.blame(), want) })
	}
	if got := g.blame(); strings.Contains(got, "document") || strings.Contains(got, base) ||
		strings.Contains(got, "nobody") {
		t.Errorf("told:\n%s", got)
	}
	for _, address := range []string{"http://plain.refused.example/doc", "https://tunnel.example/doc"} {
		check.Fails(t, check.Err(w.Act(t.Context(), "navigate", map[string]any{"url": address})),
			browsermgr.ErrNavigationBlocked, address+" document is refused: ask the operator")
	}
	act(t, w, "navigate", map[string]any{"url": base + "/"})
	notes := act(t, w, "evaluate",
		map[string]any{"fn": `const f = document.createElement('iframe'); f.src = 'http://frame.refused.example/';
  await new Promise((done) => { f.onload = done; document.body.append(f); })`})
	contains(t, notes, "refused: clank http://frame.refused.example/ document")
	contains(t, act(t, w, "navigate", map[string]any{"url": base + "/parted"}),
		"refused: clank http://frame.refused.example/part document")
	if url, title, _ := state(t, w); url != base+"/parted" || title != "Parted" {
		t.Errorf("a page with a refused frame: got %s %q", url, title)
	}
}

// elsewhere returns a second Manager attached to the browser of a first one, as if it ran on another machine.
func elsewhere(t *testing.T, adjust func(m *browsermgr.Manager)) *browsermgr.Manager {
	t.Helper()
	host := manager(t, letOthersIn)
	p := findProfile(t, host, "")
	check.Must(t, p.Start(t.Context(), browsermgr.StartOptions{}))
	address := guestAddress(t, p)
	m := manager(t, func(m *browsermgr.Manager) {
		m.FirstPort, m.LastPort, m.Profile = 18940, 18949, "far"
		adjust(m)
	})
	create(t, m, browsermgr.CreateProfileOptions{Name: "there", CDPURL: address})
	return m
}

func TestRequestsOfABrowserWeDidNotStartAreChecked(t *testing.T) {
	reached := make(chan string, 100)
	script := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, q *http.Request) {
			reached <- q.URL.Path
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(text))
		}
	}
	// asks is what a worker does: a harmless request, and one that is to be refused; it says what came of them.
	asks := func(name, tell string) string {
		return fmt.Sprintf(`Promise.allSettled([fetch('/open/%[1]s'), fetch('/secret/%[1]s')])
			.then((all) => %[2]s(all.map((r) => r.status).join()))`, name, tell)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		reached <- q.URL.Path
		switch {
		case strings.HasPrefix(q.URL.Path, "/hop"):
			http.Redirect(w, q, "/secret"+q.URL.Path, http.StatusFound)
		case q.URL.Path == "/login":
			if user, _, ok := q.BasicAuth(); !ok || user != "ada" {
				w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
				w.WriteHeader(http.StatusUnauthorized)
			}
		}
		_, _ = w.Write([]byte("<!doctype html><title>" + q.URL.Path + "</title>"))
	})
	mux.Handle("/worker.js", script(asks("worker", "postMessage")))
	mux.Handle("/module.js", script("import '/open/part.js'; "+asks("module", "postMessage")))
	mux.Handle("/open/part.js", script(""))
	mux.Handle("/outer.js", script("new Worker('/inner.js').onmessage = (e) => postMessage(e.data)"))
	mux.Handle("/inner.js", script(asks("inner", "postMessage")))
	mux.Handle("/shared.js", script("onconnect = (e) => "+asks("shared", "e.ports[0].postMessage")))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g := newGate("/secret", "")
	world := emulate.New(nil)
	world.RequestsIntercepted = true
	m := elsewhere(t, func(m *browsermgr.Manager) {
		m.Gate = g
		m.NewObservers = func(string, bool) []page.Observer { return []page.Observer{world} }
	})
	w := window(t, m, browsermgr.WindowOptions{Key: "a", Profile: "there", URL: server.URL + "/"})
	for _, path := range []string{"/secret", "/hop"} {
		check.Fails(t, check.Err(w.Act(t.Context(), "navigate", map[string]any{"url": server.URL + path})),
			browsermgr.ErrNavigationBlocked)
	}
	if url, _, _ := state(t, w); url != server.URL+"/" {
		t.Errorf("the page that was there has gone to %s", url)
	}
	use := use(t, findProfile(t, m, "there"))
	tab := use.Browser.Tabs()[len(use.Browser.Tabs())-1]
	check.Must(t, world.SetCredentials(t.Context(), tab, &emulate.Credentials{Username: "ada", Password: "x"}))
	tries := `
const told = {};
const once = (name, start) => new Promise((done, fail) => {
	setTimeout(() => fail(new Error(name + ': timeout')), 10000);
	start((what) => { told[name] = what; done(); }, fail);
});
const frame = (name, how) => once(name, (done) => {
	const f = Object.assign(document.createElement('iframe'), how);
	f.onload = () => done('loaded');
	document.body.append(f);
});
const worker = (name, k, port = k) => once(name, (done, fail) => { port.onmessage = (e) => done(e.data); k.onerror = (e) => fail(name + ': ' + e.message); });
const refusedScript = (name, make) => once(name, (done) => { make().onerror = () => done('error'); });
const fetched = (path) => fetch(path).then(() => 'fulfilled', () => 'rejected').then((what) => { told[path] = what; });
await fetched('/open/fetch'); await fetched('/secret/fetch'); await fetched('/hop/fetch');
told.beacons = [navigator.sendBeacon('/open/beacon'), navigator.sendBeacon('/secret/beacon')].join();
await once('image', (done) => { const i = new Image(); i.onload = () => done('loaded'); i.onerror = () => done('error'); i.src = '/secret/image'; });
await frame('open frame', {src: '/open/frame'});
const f = document.createElement('iframe'); f.src = '/secret/frame'; document.body.append(f);
await worker('worker', new Worker('/worker.js'));
await worker('module', new Worker('/module.js', {type: 'module'}));
await worker('nested', new Worker('/outer.js'));
const code = "fetch('" + origin + "/open/blob').then(() => fetch('" + origin + "/secret/blob')).then(() => postMessage('fulfilled'), () => postMessage('rejected'))";
await worker('blob', new Worker(URL.createObjectURL(new Blob([code]))));
await worker('data', new Worker('data:text/javascript,' + encodeURIComponent("fetch('" + origin + "/open/data', {mode: 'no-cors'})" +
	".then(() => fetch('" + origin + "/secret/data', {mode: 'no-cors'})).then(() => postMessage('fulfilled'), () => postMessage('rejected'))")));
await refusedScript('refused script', () => new Worker('/secret/worker.js'));
const shared = new SharedWorker('/shared.js');
await worker('shared', shared, shared.port);
await frame('early', {sandbox: '', srcdoc: '<noscript><img src=' + origin + '/open/early><img src=' + origin + '/secret/early></noscript>'});
told.login = (await fetch('/login')).status;
return told`
	notes := act(t, w, "evaluate", map[string]any{"fn": tries})
	for _, want := range []string{
		`"/open/fetch":"fulfilled"`, `"/secret/fetch":"rejected"`, `"/hop/fetch":"rejected"`, `"beacons":"true,true"`,
		`"image":"error"`,
		`"open frame":"loaded"`, `"worker":"fulfilled,rejected"`, `"module":"fulfilled,rejected"`,
		`"nested":"fulfilled,rejected"`,
		`"blob":"rejected"`, `"data":"rejected"`, `"refused script":"error"`, `"shared":"fulfilled,rejected"`,
		`"early":"loaded"`, `"login":200`,
	} {
		contains(t, notes, want)
	}
	check.Must(t, world.SetCredentials(t.Context(), tab, nil))
	contains(t, act(t, w, "evaluate",
		map[string]any{"fn": `window.open('/secret/popup'); return await fetch('/secret/after').then(() => 1, () => 0)`}),
		"result: 0")
	eventually(t, "the popup to be judged", func() bool { return strings.Contains(g.blame(), "/secret/popup document") })
	for _, path := range []string{
		"fetch", "beacon", "image", "frame", "worker", "module", "inner", "blob", "data",
		"worker.js", "shared", "early", "popup", "after",
	} {
		eventually(t, "/secret/"+path+" to be judged", func() bool { return g.asked(server.URL + "/secret/" + path) })
	}
	server.Close()
	close(reached)
	arrived := map[string]bool{}
	for path := range reached {
		arrived[path] = true
		if strings.HasPrefix(path, "/secret") {
			t.Errorf("%s was reached", path)
		}
	}
	for _, name := range []string{
		"fetch", "beacon", "frame", "worker", "module", "part.js", "inner", "blob", "data",
		"shared", "early",
	} {
		if !arrived["/open/"+name] {
			t.Errorf("/open/%s, which is harmless, was not reached", name)
		}
	}
}
