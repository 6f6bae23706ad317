package browsermgr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// external is a browser that the Manager did not start.
var external browsertest.Shared

// attachOnly writes a profile, as a person does with an editor.
func attachOnly(t *testing.T, m *browsermgr.Manager, entry string) {
	t.Helper()
	file := filepath.Join(m.Home, "browser", "profiles.json")
	check.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	check.Must(t, os.WriteFile(file, []byte(`{"profiles":{"ext":`+entry+`}}`), 0o600))
}

func alive(p *chrome.Process) bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

func TestAttachedBrowserIsLeftAlone(t *testing.T) {
	browser := external.Process(t)
	for name, entry := range map[string]string{
		"port": fmt.Sprintf(`{"cdpPort":%d,"attachOnly":true}`, browser.Port),
		"stale address": fmt.Sprintf(`{"cdpUrl":"ws://127.0.0.1:%d/devtools/browser/old","cdpPort":%d,"attachOnly":true}`,
			browser.Port, browser.Port),
	} {
		t.Run(name, func(t *testing.T) {
			m := manager(t, nil)
			attachOnly(t, m, entry)
			p := findProfile(t, m, "ext")
			eventually(t, "the browser answers before the first use", func() bool { return status(t, p).CDPReady })
			if s := status(t, p); !s.AttachOnly || s.PID != nil {
				t.Errorf("before the first use: %+v", s)
			}
			eventually(t, "the list has it as running", func() bool { return slices.Contains(running(t, m), "ext") })
			var uses sync.WaitGroup
			for range 3 {
				uses.Go(func() {
					u, err := p.Acquire(t.Context(), true)
					if err != nil {
						t.Error(err)
						return
					}
					u.Release()
				})
			}
			uses.Wait()
			tab, err := use(t, p).NewTab(t.Context(), page.TabOptions{})
			check.Must(t, err)
			if s := ready(t, p); s.ProbeError != "" {
				t.Errorf("in use: %+v", s)
			}
			if !stop(t, p) || !alive(browser) {
				t.Error("stopping must drop the connection, and only that")
			}
			u := use(t, p)
			if again := u.Browser.Tab(tab.TargetID()); again == nil || again.ID() == tab.ID() {
				t.Errorf("the tab after a reconnect: %v", again)
			} else if err := again.Close(t.Context()); err != nil {
				t.Error(err)
			}
			for range 2 {
				if !stop(t, p) {
					t.Error("stopping a browser that is not ours is always done")
				}
			}
		})
	}
}

// changer is an observer that emulates something, and records whether it could undo that.
type changer struct {
	browser atomic.Pointer[page.Browser]
	cleared atomic.Int32
	fails   error
}

func (c *changer) Attach(t *page.Tab, _ *frame.Frame) []proto.Request {
	c.browser.Store(t.Browser())
	return nil
}

func (*changer) Event(*page.Tab, *frame.Frame, cdp.Event) {}

func (c *changer) ResetAll(ctx context.Context) error {
	c.cleared.Add(1)
	return errors.Join(c.browser.Load().RootSession().Do(ctx, proto.BrowserGetVersion{}), c.fails)
}

func TestOverridesAreUndoneInABrowserThatKeepsRunning(t *testing.T) {
	browser := external.Process(t)
	for want, fails := range map[string]error{"": nil, "the page is frozen": errors.New("the page is frozen")} {
		c, log := &changer{fails: fails}, &strings.Builder{}
		m := manager(t, func(m *browsermgr.Manager) {
			m.NewObservers = func(string, bool) []page.Observer { return []page.Observer{c} }
			m.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		})
		attachOnly(t, m, fmt.Sprintf(`{"cdpPort":%d,"attachOnly":true}`, browser.Port))
		p := findProfile(t, m, "ext")
		check.Must(t, check.Err(use(t, p).NewTab(t.Context(), page.TabOptions{})))
		if c.cleared.Load() != 0 {
			t.Error("taken back though the browser is in use")
		}
		logged := func() bool { return strings.Contains(log.String(), "undo overrides in browser") }
		if !stop(t, p) || c.cleared.Load() != 1 || logged() != (want != "") || !strings.Contains(log.String(), want) {
			t.Errorf("failure %q: taken back %d times; log: %s", want, c.cleared.Load(), log)
		}
	}
}

func TestAttachFailureNamesTheProbeThatFailed(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		m.Config = func() profile.Config {
			return profile.Config{RemoteTimeout: 200 * time.Millisecond, RemoteHandshake: 200 * time.Millisecond}
		}
	})
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer silent.Close()
	attachOnly(t, m, fmt.Sprintf(`{"cdpUrl":"ws://127.0.0.1:%d?token=s3cr3t","attachOnly":true}`,
		silent.Addr().(*net.TCPAddr).Port))
	p := findProfile(t, m, "ext")
	_, err = p.Acquire(t.Context(), true)
	for _, want := range []string{"discovery at", "websocket at", "no answer in time", "tried 3 times"} {
		if err == nil || !errors.Is(err, browsermgr.ErrUnavailable) || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	r, err := p.Doctor(t.Context(), false)
	if c := findCheck(t, r, "attach-target"); err != nil || c.Status != chrome.CheckFail ||
		!strings.Contains(c.Summary, "no answer") {
		t.Errorf("the doctor: %+v, %v", c, err)
	}
}

func TestNoBrowserIsStartedInPlaceOfOneAtAnAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	check.Must(t, l.Close()) // a tunnel that is broken
	m := manager(t, nil)
	attachOnly(t, m, fmt.Sprintf(`{"cdpUrl":"http://%s"}`, l.Addr()))
	_, err = findProfile(t, m, "ext").Acquire(t.Context(), true)
	check.Fails(t, err, browsermgr.ErrUnavailable, l.Addr().String())
}

// nobodysList is an endpoint policy that refuses every address.
type nobodysList struct{}

func (nobodysList) AllowEndpoint(_ context.Context, u *url.URL) error {
	return fmt.Errorf("%s is on nobody's list", u.Hostname())
}

func (n nobodysList) AllowEndpointAddr(u *url.URL, _ netip.Addr) error {
	return n.AllowEndpoint(context.Background(), u)
}

func TestAddressIsCheckedAgainstThePolicy(t *testing.T) {
	m := manager(t, func(m *browsermgr.Manager) {
		m.Endpoints = nobodysList{}
	})
	check.Fails(t, check.Err(m.CreateProfile(t.Context(),
		browsermgr.CreateProfileOptions{Name: "x", CDPURL: "http://metadata.invalid"})), profile.ErrEndpointBlocked)
	attachOnly(t, m, `{"cdpUrl":"wss://metadata.invalid"}`)
	check.Fails(t, check.Err(findProfile(t, m, "ext").Acquire(t.Context(), true)), profile.ErrEndpointBlocked)
}

func TestPersonsBrowserKeepsWhatIsTheirs(t *testing.T) {
	browser := external.Process(t)
	m := manager(t, nil)
	create(t, m, browsermgr.CreateProfileOptions{
		Name: "ext", Driver: "existing-session",
		UserDataDir: browser.UserDataDir,
	})
	p := findProfile(t, m, "ext")
	if s := status(t, p); s.Running || s.CDPReady || s.Driver != "existing-session" || *s.CDPPort != browser.Port ||
		s.ProbeError != "" {
		t.Errorf("passive status: %+v", s)
	}
	u := use(t, p)
	if !u.Joined() || u.Local() {
		t.Error("it counts as ours")
	}
	theirs := u.Browser.Tabs()
	ours, err := u.NewTab(t.Context(), page.TabOptions{})
	check.Must(t, err)
	if !stop(t, p) || !alive(browser) {
		t.Error("stopping must drop the connection, and only that")
	}
	after := use(t, p).Browser
	if after.Tab(ours.TargetID()) != nil || len(after.Tabs()) != len(theirs) {
		t.Errorf("%d tabs after the stop, %d before ours", len(after.Tabs()), len(theirs))
	}
	if deleted, err := m.DeleteProfile(t.Context(), "ext"); err != nil || deleted {
		t.Errorf("deleted %t, %v", deleted, err)
	}
	if _, err := os.Stat(browser.UserDataDir); err != nil || !alive(browser) {
		t.Errorf("the person's data: %v", err)
	}
}

// asker returns a browser that asks its person before it accepts a connection.
func asker(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) (dir string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	dir = t.TempDir()
	port := srv.Listener.Addr().(*net.TCPAddr).Port
	check.Must(t, os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), fmt.Appendf(nil, "%d\n/devtools/browser/x", port),
		0o600))
	return dir, asked
}

func TestRefusedConsentIsNotAskedForAgain(t *testing.T) {
	dir, asked := asker(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	m := manager(t, nil)
	create(t, m, browsermgr.CreateProfileOptions{Name: "ext", Driver: "existing-session", UserDataDir: dir})
	p := findProfile(t, m, "ext")
	for range 3 {
		check.Fails(t, check.Err(p.Acquire(t.Context(), true)), browsermgr.ErrUnavailable, "Allow remote debugging?")
		status(t, p)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the person was asked %d times", n)
	}
	if err := p.Start(t.Context(), browsermgr.StartOptions{}); err == nil || asked.Load() != 2 {
		t.Errorf("a start on purpose: %v, asked %d times", err, asked.Load())
	}
}

// recorder is a proxy that records requests, and refuses hosts with "refused" in their name.
type recorder struct {
	url string

	mu    sync.Mutex
	asked []string
}

func recording(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{}
	forward := &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.asked = append(r.asked, q.Method+" "+q.Host+q.URL.Path)
		r.mu.Unlock()
		if strings.Contains(q.Host, "refused") || q.Method == http.MethodConnect {
			w.Header().Set("X-Clank-Refused", "host-blocked")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "refused by the rules")
			return
		}
		forward.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// has reports whether there was a request with that text.
func (r *recorder) has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.asked, func(s string) bool { return strings.Contains(s, text) })
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.asked, "\n")
}

// behind opens a Manager whose browsers use the proxy.
func behind(t *testing.T, r *recorder, args ...string) *browsermgr.Manager {
	t.Helper()
	return manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.Args = args })
		m.Gate = newGate("never", r.url)
	})
}

// calls returns how far a WebRTC call came in gathering its local candidates, and the candidates, with ICE servers at a
// port of this machine.
const calls = `
const found = [];
const pc = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:%[1]d'}, {urls: 'turn:127.0.0.1:%[1]d', username: 'a', credential: 'b'}]});
pc.onicecandidate = (e) => { if (e.candidate) found.push(e.candidate.candidate); };
pc.createDataChannel('x');
await pc.setLocalDescription(await pc.createOffer());
await new Promise((done) => { pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && done(); setTimeout(done, 8000); });
return [pc.iceGatheringState, ...found]`

// ways tries the ways out of a page: hints, requests, sockets, datagrams to a port of this machine.
const ways = `
for (const rel of ['dns-prefetch', 'preconnect', 'prefetch', 'prerender'])
  document.head.append(Object.assign(document.createElement('link'), {rel, href: 'http://' + rel + '.refused.example/'}));
document.head.append(Object.assign(document.createElement('script'),
  {type: 'speculationrules', textContent: '{"prerender":[{"urls":["http://speculation.refused.example/"]}]}'}));
const until = (name, ms, start) => new Promise((done) => { start(done); setTimeout(() => done(name + ': timeout'), ms); });
const out = (name) => "Promise.allSettled([fetch('http://" + name + ".refused.example/', {mode: 'no-cors'})," +
  "new Promise((done) => { const s = new WebSocket('ws://" + name + "-socket.refused.example/'); s.onerror = s.onclose = done; })]).then(() => postMessage('" + name + "'))";
const run = (name, address, options) => until(name, 10000, (done) => {
  const k = new Worker(address, options);
  k.onmessage = (e) => done(e.data);
  k.onerror = () => done(name + ': error');
});
const blob = (code) => URL.createObjectURL(new Blob([code], {type: 'text/javascript'}));
const nested = "new Worker(URL.createObjectURL(new Blob([" + JSON.stringify(out('nested')) + "]))).onmessage = (e) => postMessage(e.data)";
return (await Promise.all([
  run('blob', blob(out('blob'))), run('data', 'data:text/javascript,' + encodeURIComponent(out('data'))),
  run('module', blob(out('module')), {type: 'module'}), run('nested', blob(nested)),
  until('socket', 10000, (done) => { const s = new WebSocket('ws://socket.refused.example/'); s.onerror = s.onclose = () => done('socket'); }),
  until('transport', 15000, (done) => { new WebTransport('https://127.0.0.1:%[1]d').ready.then(() => done('transport: ready'), () => done('transport')); }),
  Promise.allSettled([fetch('http://fetch.refused.example/'), fetch('https://secure.refused.example/'),
    fetch('http://localhost:%[1]d/'), fetch('http://[::1]:%[1]d/')]).then(() => 'requests')])).join()`

// allWays is the result of ways when each was tried and has ended.
const allWays = "blob,data,module,nested,socket,transport,requests"

// datagrams counts the datagrams received at a port of this machine; call close before reading count.
func datagrams(t *testing.T) (port int, count func() int) {
	t.Helper()
	udp, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	check.Must(t, err)
	t.Cleanup(func() { _ = udp.Close() })
	n, read := 0, make(chan struct{})
	go func() {
		defer close(read)
		for buf := make([]byte, 2048); ; n++ {
			if _, _, err := udp.ReadFrom(buf); err != nil {
				return
			}
		}
	}()
	return udp.LocalAddr().(*net.UDPAddr).Port, func() int {
		_ = udp.Close()
		<-read
		return n
	}
}

// looked lists the names that Chromium looked up and the datagrams that it sent, by its own log.
func looked(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	check.Must(t, err)
	first, rest, _ := strings.Cut(string(data), "\n")
	var log struct {
		Constants struct {
			Types map[string]int `json:"logEventTypes"`
		} `json:"constants"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSuffix(first, ",")+"}"), &log); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	var found []string
	for _, name := range []string{
		"HOST_RESOLVER_SYSTEM_TASK", "HOST_RESOLVER_DNS_TASK", "DNS_TRANSACTION",
		"UDP_BYTES_SENT",
	} {
		id, known := log.Constants.Types[name]
		if !known {
			t.Errorf("this Chromium logs no %s", name)
		}
		if strings.Contains(rest, fmt.Sprintf(`"type":%d}`, id)) || strings.Contains(rest, fmt.Sprintf(`"type":%d,`, id)) {
			found = append(found, name)
		}
	}
	return found
}

func TestNothingBypassesTheProxy(t *testing.T) {
	port, count := datagrams(t)
	netlog := filepath.Join(t.TempDir(), "net.json")
	proxy := recording(t)
	m := behind(t, proxy, "--log-net-log="+netlog)
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	base := site(t)
	act(t, w, "navigate", map[string]any{"url": base + "/"})
	if !proxy.has("GET " + strings.TrimPrefix(base, "http://") + "/") {
		t.Errorf("a page on loopback did not come through the proxy:\n%s", proxy)
	}
	contains(t, act(t, w, "evaluate", map[string]any{"fn": fmt.Sprintf(calls, port)}), `result: ["complete"]`)
	contains(t, act(t, w, "evaluate", map[string]any{"fn": fmt.Sprintf(ways, port)}), allWays)
	for _, host := range []string{
		"fetch.refused", "secure.refused", " socket.refused", "localhost:", "[::1]:", " blob.refused", " data.refused",
		" module.refused", " nested.refused",
		"blob-socket.refused", "data-socket.refused", "module-socket.refused", "nested-socket.refused",
	} {
		if !proxy.has(host) {
			t.Errorf("%s did not come to the proxy:\n%s", host, proxy)
		}
	}
	apart := window(t, m, browsermgr.WindowOptions{Key: "apart", URL: base + "/two", Ephemeral: true})
	contains(t, act(t, apart, "evaluate", map[string]any{"fn": fmt.Sprintf(calls, port)}), `result: ["complete"]`)
	if !proxy.has("/two") {
		t.Errorf("a page of an ephemeral window did not come through the proxy:\n%s", proxy)
	}
	for _, host := range []string{"google", "gstatic", "gvt1"} {
		if proxy.has(host) {
			t.Errorf("Chromium asked for services of its maker:\n%s", proxy)
		}
	}
	check.Must(t, m.Close(context.Background()))
	if n := count(); n != 0 {
		t.Errorf("%d datagrams came around the proxy", n)
	}
	if got := looked(t, netlog); got != nil {
		t.Errorf("Chromium's log of the network has %q", got)
	}
}

// Without this test the one above could not tell a browser that obeys the proxy from one that tries nothing. Names
// resolve to this machine, so that nothing leaves it.
func TestDatagramsAreNoticedWithoutAProxy(t *testing.T) {
	port, count := datagrams(t)
	netlog := filepath.Join(t.TempDir(), "net.json")
	m := manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) {
			c.Args = []string{"--log-net-log=" + netlog, "--host-resolver-rules=MAP *.example 127.0.0.1"}
		})
	})
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site(t) + "/"})
	// Servers that never answer are not waited for.
	act(t, w, "evaluate", map[string]any{"fn": fmt.Sprintf(strings.Replace(calls, "8000", "500", 1), port)})
	check.Must(t, m.Close(context.Background()))
	if count() == 0 {
		t.Error("no datagram came")
	}
	if got := looked(t, netlog); !slices.Contains(got, "UDP_BYTES_SENT") {
		t.Errorf("Chromium's log of the network has %q, and no datagram", got)
	}
}

func TestFlagsThatBypassTheProxyAreRefused(t *testing.T) {
	m := behind(t, recording(t), "--lang=de", "--Proxy-Bypass-List=*")
	_, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
	check.Fails(t, err, chrome.ErrProxyBypass, "--Proxy-Bypass-List=*")
}

func TestFlagsThatOpenDevToolsAreRefusedWithAndWithoutAProxy(t *testing.T) {
	for _, flag := range []string{
		"--remote-allow-origins=*", "-remote-debugging-address=0.0.0.0",
		"--REMOTE-DEBUGGING-PORT=9222", "--remote-debugging-pipe", "--user-data-dir=/tmp/x",
	} {
		m := manager(t, func(m *browsermgr.Manager) {
			configure(m, func(c *profile.Config) { c.Args = []string{"--lang=de", flag} })
		})
		_, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
		check.Fails(t, err, chrome.ErrDevToolsExposed, flag)
	}
}

func TestDoctorReportsFlagsThatWeakenProtection(t *testing.T) {
	for flag, want := range map[string]chrome.CheckStatus{"--disable-web-security": chrome.CheckWarn, "--lang=de": ""} {
		m := manager(t, func(m *browsermgr.Manager) {
			configure(m, func(c *profile.Config) { c.Args = []string{flag} })
		})
		report, err := findProfile(t, m, "").Doctor(t.Context(), false)
		check.Must(t, err)
		var got chrome.CheckStatus
		for _, c := range report.Checks {
			if c.ID == "flags" {
				got = c.Status
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", flag, got, want)
		}
	}
}

func TestProxyAndObserversAreAskedForAtEachStart(t *testing.T) {
	proxy := recording(t)
	var asked []string
	made := 0
	ctx, giveUp := context.WithCancel(t.Context())
	g := newGate("never", "")
	g.listen = func(profile string) (string, error) {
		switch asked = append(asked, profile); len(asked) {
		case 1:
			return "", errors.New("no port is free")
		case 2:
			giveUp()
		}
		return proxy.url, nil
	}
	m := manager(t, func(m *browsermgr.Manager) {
		m.NewObservers = func(string, bool) []page.Observer { made++; return []page.Observer{} }
		m.Gate = g
	})
	p := findProfile(t, m, "")
	check.Fails(t, p.Start(t.Context(), browsermgr.StartOptions{}), browsermgr.ErrUnavailable, "no port is free")
	check.Fails(t, p.Start(ctx, browsermgr.StartOptions{}), context.Canceled)
	for n := range 2 {
		if got := g.endedCount(); got != n+1 {
			t.Errorf("%d listeners of browsers that ended were closed, want %d", got, n+1)
		}
		a, b := use(t, p), use(t, p)
		if made != n+3 || a.Browser != b.Browser || a.Observers == nil {
			t.Errorf("%d sets of observers for %d connections and two failures", made, n+1)
		}
		stop(t, p)
	}
	if want := []string{"clank", "clank", "clank", "clank"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
}
