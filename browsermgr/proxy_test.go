package browsermgr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
)

// recorder is a proxy that notes what it is asked for. Hosts with "refused" in their name it refuses.
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

// has reports whether something with that text was asked for.
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

// behind opens a Manager whose browsers go through the proxy.
func behind(t *testing.T, r *recorder, args ...string) *browsermgr.Manager {
	t.Helper()
	return manager(t, func(m *browsermgr.Manager) {
		configure(m, func(c *profile.Config) { c.Args = args })
		m.Proxy = func(context.Context, string) (string, error) { return r.url, nil }
	})
}

// calls returns how far a call came to gather what it would offer of this machine, and that, with servers at a port of it.
const calls = `
const found = [];
const pc = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:%[1]d'}, {urls: 'turn:127.0.0.1:%[1]d', username: 'a', credential: 'b'}]});
pc.onicecandidate = (e) => { if (e.candidate) found.push(e.candidate.candidate); };
pc.createDataChannel('x');
await pc.setLocalDescription(await pc.createOffer());
await new Promise((done) => { pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && done(); setTimeout(done, 8000); });
return [pc.iceGatheringState, ...found]`

// ways tries the ways out of a page: hints, requests, sockets, datagrams at a port of this machine.
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

// allWays is what ways returns when each of them was tried and came to an end.
const allWays = "blob,data,module,nested,socket,transport,requests"

// datagrams counts those that come to a port of this machine; close is called before count is read.
func datagrams(t *testing.T) (port int, count func() int) {
	t.Helper()
	udp, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	browsertest.Must(t, err)
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

// looked lists what Chromium's own log says of names that it looked up, and of datagrams that it sent.
func looked(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	browsertest.Must(t, err)
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
	for _, name := range []string{"HOST_RESOLVER_SYSTEM_TASK", "HOST_RESOLVER_DNS_TASK", "DNS_TRANSACTION", "UDP_BYTES_SENT"} {
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

func TestNothingGoesAroundTheProxy(t *testing.T) {
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
		"fetch.refused", "secure.refused", " socket.refused", "localhost:", "[::1]:", " blob.refused", " data.refused", " module.refused", " nested.refused",
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
	browsertest.Must(t, m.Close(context.Background()))
	if n := count(); n != 0 {
		t.Errorf("%d datagrams came around the proxy", n)
	}
	if got := looked(t, netlog); got != nil {
		t.Errorf("Chromium's log of the network has %q", got)
	}
}

// Without it the test above could not tell a browser that keeps to the proxy from one that tries nothing. Names lead to this machine, so
// that nothing leaves it.
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
	browsertest.Must(t, m.Close(context.Background()))
	if count() == 0 {
		t.Error("no datagram came")
	}
	if got := looked(t, netlog); !slices.Contains(got, "UDP_BYTES_SENT") {
		t.Errorf("Chromium's log of the network has %q, and no datagram", got)
	}
}

func TestFlagsThatLeadAroundTheProxyAreRefused(t *testing.T) {
	m := behind(t, recording(t), "--lang=de", "--Proxy-Bypass-List=*")
	_, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
	if !errors.Is(err, chrome.ErrProxyBypass) || !strings.Contains(err.Error(), "--Proxy-Bypass-List=*") {
		t.Errorf("got %v", err)
	}
}

func TestFlagsThatOpenDevToolsAreRefusedWithAndWithoutAProxy(t *testing.T) {
	for _, flag := range []string{"--remote-allow-origins=*", "-remote-debugging-address=0.0.0.0", "--REMOTE-DEBUGGING-PORT=9222", "--remote-debugging-pipe", "--user-data-dir=/tmp/x"} {
		m := manager(t, func(m *browsermgr.Manager) {
			configure(m, func(c *profile.Config) { c.Args = []string{"--lang=de", flag} })
		})
		_, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "a"})
		if !errors.Is(err, chrome.ErrDevToolsExposed) || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: got %v", flag, err)
		}
	}
}

func TestDoctorTellsOfFlagsThatTakeAProtectionFromPages(t *testing.T) {
	for flag, want := range map[string]chrome.CheckStatus{"--disable-web-security": chrome.CheckWarn, "--lang=de": ""} {
		m := manager(t, func(m *browsermgr.Manager) {
			configure(m, func(c *profile.Config) { c.Args = []string{flag} })
		})
		report, err := findProfile(t, m, "").Doctor(t.Context(), false)
		browsertest.Must(t, err)
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
	m := manager(t, func(m *browsermgr.Manager) {
		m.NewObservers = func(bool) []page.Observer { made++; return []page.Observer{} }
		m.Proxy = func(_ context.Context, profile string) (string, error) {
			asked = append(asked, profile)
			if len(asked) == 1 {
				return "", errors.New("no port is free")
			}
			return proxy.url, nil
		}
	})
	p := findProfile(t, m, "")
	if err := p.Start(t.Context(), browsermgr.StartOptions{}); !errors.Is(err, browsermgr.ErrUnavailable) || !strings.Contains(err.Error(), "no port is free") {
		t.Errorf("a browser without its proxy: %v", err)
	}
	for n := range 2 {
		a, b := use(t, p), use(t, p)
		if made != n+2 || a.Browser != b.Browser || a.Observers == nil {
			t.Errorf("%d sets of observers for %d connections and a failure", made, n+1)
		}
		stop(t, p)
	}
	if want := []string{"clank", "clank", "clank"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
}
