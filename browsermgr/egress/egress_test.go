package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/internal/test/check"
)

const testTimeout = 20 * time.Second

// config is an [egress.Config] whose rules a test may change while the proxy is open.
type config struct {
	now      atomic.Pointer[policy.Rules]
	ask      bool
	upstream func() *url.URL // nil: there is none
	secret   string          // what is not to be told
}

func (c *config) set(now policy.Rules) { c.now.Store(&now) }
func (c *config) Rules() policy.Rules  { return *c.now.Load() }
func (c *config) AskUnlisted() bool    { return c.ask }

func (c *config) Upstream(string) *url.URL {
	if c.upstream == nil {
		return nil
	}
	return c.upstream()
}

func (c *config) Redact(text string) string {
	if c.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, c.secret, "[secret shop]")
}

// fixture is an open proxy with one listener.
type fixture struct {
	*egress.Proxy
	config config
	names  *nameserver
	proxy  *url.URL
	client *http.Client
}

const profile = "work"

// open opens a proxy whose rules allow loopback addresses as literals and the names in allowed.
func open(tb testing.TB, change func(*egress.Proxy), allowed ...string) *fixture {
	tb.Helper()
	f := &fixture{names: newNameserver(tb)}
	f.config.set(policy.Rules{AllowedHosts: append([]string{"127.0.0.1", "127.0.0.7", "::1"}, allowed...)})
	f.Proxy = &egress.Proxy{Config: &f.config, Resolver: f.names.resolver}
	if change != nil {
		change(f.Proxy)
	}
	check.Must(tb, f.Open(tb.Context()))
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	address, err := f.Listen(tb.Context(), profile)
	check.Must(tb, err)
	if f.proxy, err = url.Parse(address); err != nil {
		tb.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(f.proxy), DisableCompression: true}
	tb.Cleanup(transport.CloseIdleConnections)
	f.client = &http.Client{Transport: transport, Timeout: testTimeout}
	return f
}

// site returns a server that reports its requests.
func site(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	if handler == nil {
		handler = func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %s", r.Method, r.Host, r.RequestURI)
		}
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

func port(t *testing.T, s *httptest.Server) string {
	t.Helper()
	return s.Listener.Addr().String()[len("127.0.0.1:"):]
}

// unused returns an address of this machine at which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	s := site(t, nil)
	s.Close()
	return s.Listener.Addr().String()
}

// get fetches through the proxy and returns status, rule and body.
func (f *fixture) get(t *testing.T, address string) (status int, rule, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	check.Must(t, err)
	resp, err := f.client.Do(req)
	check.Must(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	check.Must(t, err)
	return resp.StatusCode, resp.Header.Get("X-Clank-Refused"), string(b)
}

// say sends text to the proxy and returns what it receives until the end.
func (f *fixture) say(t *testing.T, text string) string {
	t.Helper()
	conn := f.dial(t)
	check.Must(t, check.Err(io.WriteString(conn, text)))
	b, err := io.ReadAll(conn)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatal(err)
	}
	return string(b)
}

func (f *fixture) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", f.proxy.Host)
	check.Must(t, err)
	conn.SetDeadline(time.Now().Add(testTimeout))
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// tunnel sends CONNECT and returns the connection, the status, and the rule that refused it.
func (f *fixture) tunnel(t *testing.T, target string) (conn net.Conn, in *bufio.Reader, status int, rule string) {
	t.Helper()
	conn = f.dial(t)
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	in = bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	check.Must(t, err)
	return conn, in, resp.StatusCode, resp.Header.Get("X-Clank-Refused")
}

// mustEnd fails the test unless a connection ends before its deadline without further data.
func mustEnd(t *testing.T, in *bufio.Reader) {
	t.Helper()
	if _, err := in.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection stays open: %v", err)
	}
}

// until polls for a condition that another goroutine makes true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(testTimeout)
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("waited for: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func TestForwardsRequestsInAbsoluteForm(t *testing.T) {
	f := open(t, nil, "shop.test")
	s := site(t, nil)
	f.names.set("shop.test", addrs("127.0.0.1"))
	status, _, got := f.get(t, "http://shop.test:"+port(t, s)+"/a%2Fb?q=1;2")
	if want := "GET shop.test:" + port(t, s) + " /a%2Fb?q=1;2"; status != http.StatusOK || got != want {
		t.Errorf("got %d %q, want 200 %q", status, got, want)
	}
}

func TestRefusesPrivateAddressesWithASentence(t *testing.T) {
	f := open(t, nil)
	f.names.set("evil.test", addrs("192.168.7.7"))
	f.names.set("mixed.test", addrs("93.184.216.34", "10.0.0.1"))
	f.names.set("six.test", addrs("2606:2800:220:1::1", "fd00::1"))
	for address, want := range map[string]string{
		"http://10.1.2.3/<script>x":   policy.RulePrivate,
		"http://0x0a.1.2.3/":          policy.RulePrivate,
		"http://169.254.169.254/meta": policy.RuleMetadata,
		"http://localhost/":           policy.RuleLocalName,
		"http://evil.test/":           policy.RulePrivate,
		"http://mixed.test/":          policy.RulePrivate,
		"http://six.test/":            policy.RulePrivate,
	} {
		resp, err := f.client.Get(address)
		check.Must(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if rule := resp.Header.Get("X-Clank-Refused"); resp.StatusCode != http.StatusForbidden || rule != want || err != nil {
			t.Errorf("%s: got %d %q, want 403 %q", address, resp.StatusCode, rule, want)
		}
		if !bytes.Contains(body, []byte("<p>")) || bytes.Contains(body, []byte("<script")) {
			t.Errorf("%s: got page %q", address, body)
		}
		if got := resp.Header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") {
			t.Errorf("%s: got policy %q", address, got)
		}
	}
	check.Equal(t, "refusals", f.RefusalCount(profile), 7)
}

func TestRefusesTunnelsLikewise(t *testing.T) {
	f := open(t, nil)
	f.names.set("evil.test", addrs("192.168.7.7"))
	for _, target := range []string{"10.1.2.3:443", "[::ffff:10.0.0.1]:443", "evil.test:443", "[fd00::1]:80"} {
		if _, _, status, rule := f.tunnel(t, target); status != http.StatusForbidden || rule != policy.RulePrivate {
			t.Errorf("%s: got %d %q, want 403", target, status, rule)
		}
	}
	got := f.Refusals(profile)
	if len(got) != 4 || got[2].URL != "evil.test:443" || got[2].Host != "evil.test" || got[2].Address != "192.168.7.7" ||
		got[2].Profile != profile {
		t.Errorf("got %+v", got)
	}
}

// A name that resolves differently at the second lookup (DNS rebinding) gets no connection to the second address: the
// checked address is dialed.
func TestRebindingReachesNothing(t *testing.T) {
	var hits atomic.Int32
	canary := site(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	l, err := net.Listen("tcp4", "127.0.0.2:"+port(t, canary))
	if err != nil && runtime.GOOS != "linux" {
		t.Skip("no second loopback address here")
	}
	check.Must(t, err)
	bait := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "bait")
	})}
	go bait.Serve(l)
	defer bait.Close()
	f := open(t, nil)
	f.config.set(policy.Rules{PrivateNetwork: policy.PrivateAllowed, BlockedHosts: []string{"127.0.0.1"}})
	for i := range 5 {
		good, bad := fmt.Sprintf("good%d.test", i), fmt.Sprintf("bad%d.test", i)
		f.names.set(good, addrs("127.0.0.2"), addrs("127.0.0.1"))
		f.names.set(bad, addrs("127.0.0.1"), addrs("127.0.0.2"))
		if status, _, body := f.get(t, "http://"+good+":"+port(t, canary)+"/"); status != http.StatusOK || body != "bait" {
			t.Errorf("got %d %q", status, body)
		}
		if status, rule, _ := f.get(t, "http://"+bad+":"+port(t, canary)+"/"); status != http.StatusForbidden ||
			rule != policy.RuleBlocked {
			t.Errorf("got %d %q", status, rule)
		}
		if _, _, status, _ := f.tunnel(t, good+":"+port(t, canary)); status != http.StatusOK {
			t.Errorf("got %d", status)
		}
	}
	check.Equal(t, "times the canary was reached", hits.Load(), 0)
}

func TestReachesBothFamilies(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here")
	}
	s := httptest.NewUnstartedServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) }))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	f := open(t, nil, "both.test")
	f.names.set("both.test", addrs("127.0.0.1", "::1")) // nothing listens on the first
	_, p, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"both.test:" + p, "[::1]:" + p} {
		if status, _, body := f.get(t, "http://"+host+"/"); status != http.StatusOK || body != host {
			t.Errorf("got %d %q, want 200 %q", status, body, host)
		}
	}
}

func TestRefusesItselfAndOtherListeners(t *testing.T) {
	f := open(t, nil)
	other, err := f.Listen(t.Context(), "other")
	check.Must(t, err)
	f.config.set(policy.Rules{PrivateNetwork: policy.PrivateAllowed})
	for _, host := range []string{
		f.proxy.Host, strings.TrimPrefix(other, "http://"),
		strings.Replace(f.proxy.Host, "127.0.0.1", "0.0.0.0", 1),
	} {
		if status, rule, _ := f.get(t, "http://"+host+"/"); status != http.StatusForbidden || rule != policy.RuleOwnListener {
			t.Errorf("%s: got %d %q", host, status, rule)
		}
		if _, _, status, rule := f.tunnel(t, host); status != http.StatusForbidden || rule != policy.RuleOwnListener {
			t.Errorf("%s: got %d %q", host, status, rule)
		}
	}
	for range 2 {
		f.StopListening("other")
	}
	if status, rule, _ := f.get(t, other); status != http.StatusBadGateway || rule != "" {
		t.Errorf("got %d %q from a listener that was closed, want %d", status, rule, http.StatusBadGateway)
	}
	for range 20 { // as for a browser that does not start
		_, err := f.Listen(t.Context(), "other")
		check.Must(t, err)
		f.StopListening("other")
	}
	again, err := f.Listen(t.Context(), "other")
	check.Must(t, err)
	if status, rule, _ := f.get(t, again); status != http.StatusForbidden || rule != policy.RuleOwnListener {
		t.Errorf("%s: got %d %q", again, status, rule)
	}
}

func TestSaysNothingToWhoeverTakesItForAServer(t *testing.T) {
	f := open(t, nil)
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: " + f.proxy.Host + "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"POST /x HTTP/1.0\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
		"CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n",
		"CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n",
		"CONNECT a@b:1 HTTP/1.1\r\nHost: a\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		if got := f.say(t, text); got != "" && !strings.HasPrefix(got, "HTTP/1.1 400 ") {
			t.Errorf("%q was answered: %q", text, got)
		}
	}
	check.Equal(t, "origin form was answered", f.say(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "")
}

func TestClosesConnectionsThatARuleForbidsFromNowOn(t *testing.T) {
	f := open(t, nil)
	s := site(t, nil)
	conn, in, status, _ := f.tunnel(t, "127.0.0.1:"+port(t, s))
	if status != http.StatusOK {
		t.Fatalf("got %d", status)
	}
	f.config.set(policy.Rules{})
	mustEnd(t, in)
	conn.Close()
	if status, rule, _ := f.get(t, s.URL); status != http.StatusForbidden || rule != policy.RulePrivate {
		t.Errorf("got %d %q", status, rule)
	}
}

func TestRulesThatCannotBeReadRefuseEverything(t *testing.T) {
	f := open(t, nil)
	f.config.set(policy.Rules{PrivateNetwork: policy.PrivateAllowed, AllowedHosts: []string{"a b"}})
	if status, rule, _ := f.get(t, site(t, nil).URL); status != http.StatusForbidden || rule != egress.RuleUnreadable {
		t.Errorf("got %d %q", status, rule)
	}
	check.Fails(t, f.Allow(t.Context(), profile, "https://example.com/"), nil, "cannot be read", `"a b"`)
}

func TestAllowJudgesAddressesOfDocuments(t *testing.T) {
	f := open(t, nil)
	f.names.set("evil.test", addrs("10.0.0.1"))
	f.names.set("good.test", addrs("93.184.216.34"))
	for address, want := range map[string]string{
		"about:blank": "", "http://good.test/": "", "http://nowhere.test/": "", "http://127.0.0.1:5/": "",
		"http://evil.test/": "leads to 10.0.0.1", "http://[::ffff:10.0.0.1]/": "which is 10.0.0.1",
		"file:///etc/passwd": "only http and https", "http://a.internal/": "Allowed hosts",
	} {
		check.Outcome(t, address, f.Allow(t.Context(), profile, address), want)
	}
	check.Fails(t, f.AllowRequest(t.Context(), profile, "http://nowhere.test/"),
		nil, "look up nowhere.test", "no such host")
	check.Must(t, f.AllowRequest(t.Context(), profile, "wss://good.test/"))
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	check.Fails(t, f.Allow(ended, profile, "http://slow.test/"), context.DeadlineExceeded)
}

func TestWatchersLearnOfRefusedDocumentsOfTheirTab(t *testing.T) {
	for _, host := range []string{"10.0.0.1", "[::ffff:a00:1]"} { // the second as browsers write [::ffff:10.0.0.1]
		f := open(t, nil)
		secret := "http://" + host + "/secret?token=x"
		s := site(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, secret, http.StatusFound) })
		mine, theirs := f.Watch(profile, "T1"), f.Watch(profile, "T2")
		if status, _, _ := f.get(t, s.URL); status != http.StatusForbidden {
			t.Fatalf("the redirect was followed: %d", status)
		}
		go f.AttributeRefusal(profile, "T1", secret, true)
		check.Fails(t, mine(t.Context()), nil, "10.0.0.1")
		check.Must(t, theirs(t.Context()))
		got := f.Refusals(profile)
		if len(got) != 1 || got[0].Tab != "T1" || !got[0].Document || strings.Contains(got[0].URL, "token=x") {
			t.Errorf("got %+v", got)
		}
	}
}

func TestListenKeepsItsAddressAndCloseEndsIt(t *testing.T) {
	g := &egress.Proxy{}
	check.Must(t, g.Open(t.Context()))
	first, err := g.Listen(t.Context(), "a")
	check.Must(t, err)
	again, err := g.Listen(t.Context(), "a")
	if err != nil || again != first {
		t.Errorf("got %q, %v; want %q", again, err, first)
	}
	if other, err := g.Listen(t.Context(), "b"); err != nil || other == first {
		t.Errorf("profiles share the listener %q (%v)", other, err)
	}
	for range 2 {
		check.Must(t, g.Close(t.Context()))
	}
	check.Fails(t, check.Err(net.Dial("tcp", strings.TrimPrefix(first, "http://"))), nil, "refused")
	check.Fails(t, check.Err(g.Listen(t.Context(), "a")), nil, "proxy is closed")
	check.Fails(t, g.Allow(t.Context(), "a", "https://example.com/"), nil, "proxy is closed")
}

func TestAddressesThatTheMachineGetsLaterArePrivate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Pointer[policy.Machine]
		now.Store(&policy.Machine{})
		g := &egress.Proxy{Machine: func() policy.Machine { return *now.Load() }}
		check.Must(t, g.Open(t.Context()))
		check.Must(t, g.AllowRequest(t.Context(), profile, "http://203.0.114.7:9200/"))
		now.Store(&policy.Machine{Interfaces: []netip.Prefix{netip.MustParsePrefix("203.0.114.7/32")}})
		<-time.After(10 * time.Second) // of the bubble's clock
		check.Fails(t, g.AllowRequest(t.Context(), profile, "http://203.0.114.7:9200/"), nil, "this machine")
		check.Must(t, g.Close(t.Context()))
	})
}

func TestTheSystemTellsWhereItsMachineIs(t *testing.T) {
	m := egress.ReadMachine()
	if !slices.ContainsFunc(m.Interfaces, func(p netip.Prefix) bool { return p.Addr().IsLoopback() }) {
		t.Errorf("got %+v, without loopback", m)
	}
}
