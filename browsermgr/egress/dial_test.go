package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/internal/test/check"
)

// serve accepts connections and passes them to do, each on its own goroutine; when the test ends it waits for them.
func serve(t *testing.T, address string, do func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", address)
	check.Must(t, err)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(testTimeout))
				do(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		work.Wait()
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func TestAnyTriesTheAddressesUntilOneAnswers(t *testing.T) {
	at := serve(t, "127.0.0.1:0", func(net.Conn) {})
	for _, list := range [][]string{
		{"127.0.0.1"},
		{"127.0.0.2", "127.0.0.3", "127.0.0.1"},
		{"::1", "127.0.0.2", "127.0.0.1"},
		{"127.0.0.2", "::1", "127.0.0.1", "::1"},
	} {
		conn, err := egress.DialAny(t.Context(), addrs(list...), at.Port())
		if err != nil {
			t.Errorf("%v: %v", list, err)
			continue
		}
		check.Equal(t, fmt.Sprint(list), conn.RemoteAddr().(*net.TCPAddr).AddrPort(), at)
		conn.Close()
	}
}

func TestAnySaysWhyNothingAnswers(t *testing.T) {
	at := serve(t, "127.0.0.1:0", func(net.Conn) {})
	two := addrs("127.0.0.2", "127.0.0.3")
	check.Fails(t, check.Err(egress.DialAny(t.Context(), two, at.Port())), nil, "127.0.0.2")
	check.Fails(t, check.Err(egress.DialAny(t.Context(), nil, 80)), egress.ErrNoAddress)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, check.Err(egress.DialAny(ended, two, at.Port())), context.Canceled)
}

func parse(tb testing.TB, address string) *egress.Upstream {
	tb.Helper()
	u, err := url.Parse(address)
	check.Must(tb, err)
	up, err := egress.ParseUpstream(u)
	check.Must(tb, err)
	return up
}

func TestParseUpstream(t *testing.T) {
	for address, want := range map[string]string{
		"http://proxy.test":                           "http://proxy.test:80 names=false forwards=false",
		"HTTPS://ada:secret@proxy.test":               "https://proxy.test:443 names=false forwards=false",
		"http://proxy.test:3128/?resolve=upstream":    "http://proxy.test:3128 names=true forwards=true",
		"socks5://[::1]":                              "socks5://[::1]:1080 names=false forwards=false",
		"socks5h://proxy.test:9":                      "socks5://proxy.test:9 names=true forwards=false",
		"ftp://ada:secret@proxy.test":                 "error",
		"http://":                                     "error",
		"http://ada:secret@proxy.test?resolve=nobody": "error",
	} {
		u, err := url.Parse(address)
		check.Must(t, err)
		got := "error"
		up, err := egress.ParseUpstream(u)
		if err == nil {
			got = fmt.Sprintf("%s names=%t forwards=%t", up, up.ResolvesNames(), up.ForwardsHTTP())
		} else {
			got += strings.Repeat(" with the password", strings.Count(err.Error(), "secret"))
		}
		check.Equal(t, address, got, want)
	}
}

func TestTunnelsThroughHTTPKeepWhatTheServerSaysFirst(t *testing.T) {
	at := serve(t, "127.0.0.1:0", func(c net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n\r\n%s %s", req.RequestURI, req.Header.Get("Proxy-Authorization"))
	})
	up := parse(t, "http://ada:pass@"+at.String())
	conn, err := up.Dial(t.Context(), "shop.test", addrs("2001:db8::1"), 443)
	check.Must(t, err)
	defer conn.Close()
	got, err := io.ReadAll(conn)
	if want := "[2001:db8::1]:443 Basic YWRhOnBhc3M="; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestUpstreamsThatRefuseFallSilentOrTalkNonsense(t *testing.T) {
	two := addrs("192.0.2.1", "192.0.2.2")
	for name, answer := range map[string]string{
		"refuse": "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "nonsense": "hello\r\n",
		"nothing": "",
		"endless": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10),
	} {
		at := serve(t, "127.0.0.1:0", func(c net.Conn) {
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, answer)
		})
		if conn, err := parse(t, "http://ada:secret@"+at.String()).Dial(t.Context(), "a", two, 443); err == nil {
			conn.Close()
			t.Errorf("%s: got a connection", name)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error repeats the password: %v", name, err)
		}
	}
	heard := make(chan bool)
	at := serve(t, "127.0.0.1:0", func(c net.Conn) {
		http.ReadRequest(bufio.NewReader(c))
		close(heard)
		io.Copy(io.Discard, c)
	})
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-heard
		cancel(cause)
	}()
	check.Fails(t, check.Err(parse(t, "http://"+at.String()).Dial(ctx, "a", two, 443)), cause)
}

// spoken returns a connection whose peer sent this and closed it.
type spoken struct {
	net.Conn
	io.Reader
}

func (s spoken) Read(p []byte) (int, error)  { return s.Reader.Read(p) }
func (s spoken) Write(p []byte) (int, error) { return len(p), nil }

func FuzzAnAnswerToConnectIsATunnelOrAnError(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\n\r\nhello")
	f.Add("HTTP/1.0 200 \nContent-Length: 3\n\nhello")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	f.Add("HTTP/1.1 407 \x1b[2J\u202e\r\n\r\n")
	f.Add("HTTP/1.1 200 OK\r\n\x1b[2J" + strings.Repeat("x", 1500) + "\r\n\r\n")
	up := parse(f, "http://ada:secret@proxy.test")
	f.Fuzz(func(t *testing.T, said string) {
		conn, err := up.Ask(spoken{Reader: strings.NewReader(said)}, "shop.test:443")
		if err != nil {
			if text := err.Error(); len(text) > 1000 ||
				strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("the error has %d bytes: %q", len(text), text)
			}
			return
		}
		rest, err := io.ReadAll(conn)
		before, cut := strings.CutSuffix(said, string(rest))
		if err != nil || !cut || !strings.HasSuffix(before, "\n") {
			t.Errorf("after %q the tunnel begins with %q, %v", before, rest, err)
		}
		if status := strings.Fields(before); len(status) < 2 || status[1][0] != '2' {
			t.Errorf("it is a tunnel after %q", before)
		}
	})
}

func TestUpstreamsOverTLSMustProveWhoTheyAre(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	up := parse(t, strings.Replace(s.URL, "http://", "https://", 1))
	check.Fails(t, check.Err(up.DialProxy(t.Context())), nil, "upstream proxy https://", "unknown authority")
}

// socks serves one request as a SOCKS5 server (RFC 1928, RFC 1929), and returns the requested address.
func socks(c net.Conn) {
	buf := make([]byte, 300)
	read := func(n int) []byte {
		io.ReadFull(c, buf[:n])
		return append([]byte(nil), buf[:n]...)
	}
	read(int(read(2)[1]))
	c.Write([]byte{5, 2})
	user := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	c.Write([]byte{1, 0})
	var host string
	switch read(4)[3] {
	case 1:
		host = netip.AddrFrom4([4]byte(read(4))).String()
	case 3:
		host = string(read(int(read(1)[0])))
	}
	p := read(2)
	c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	fmt.Fprintf(c, "%s %d %s %s", host, int(p[0])<<8|int(p[1]), user, password)
}

func TestSOCKSGetsTheAddressOrTheName(t *testing.T) {
	for scheme, want := range map[string]string{"socks5": "192.0.2.1 443 ada pass", "socks5h": "shop.test 443 ada pass"} {
		at := serve(t, "127.0.0.1:0", socks)
		conn, err := parse(t, scheme+"://ada:pass@"+at.String()).Dial(t.Context(), "shop.test", addrs("192.0.2.1"), 443)
		check.Must(t, err)
		got, err := io.ReadAll(conn)
		conn.Close()
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", scheme, got, err, want)
		}
	}
}

// onward is an upstream proxy that records requests, and connects everything to one server.
type onward struct {
	*httptest.Server
	to string

	mu    sync.Mutex
	asked []string
}

func newOnward(t *testing.T, to string) *onward {
	t.Helper()
	o := &onward{to: to}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

func (o *onward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked = append(o.asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
	o.mu.Unlock()
	if r.Method != http.MethodConnect {
		io.WriteString(w, "forwarded")
		return
	}
	server, err := net.Dial("tcp", o.to)
	if err != nil {
		return
	}
	defer server.Close()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	var both sync.WaitGroup
	both.Go(func() {
		io.Copy(server, client)
		server.Close()
	})
	io.Copy(client, server)
	client.Close()
	both.Wait()
}

func (o *onward) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.asked, "\n")
}

func openBehind(t *testing.T, upstream func() string, allowed ...string) *fixture {
	t.Helper()
	return open(t, func(g *egress.Proxy) {
		g.Config.(*config).upstream = func() *url.URL {
			u, err := url.Parse(upstream())
			if err != nil {
				t.Error(err)
			}
			return u
		}
	}, append(allowed, "shop.test")...)
}

func TestUpstreamGetsTheJudgedAddress(t *testing.T) {
	s := site(t, nil)
	o := newOnward(t, s.Listener.Addr().String())
	f := openBehind(t, func() string { return "http://ada:pass@" + o.Listener.Addr().String() })
	f.names.set("shop.test", addrs("127.0.0.7"))
	f.names.set("evil.test", addrs("10.0.0.1"))
	if status, _, body := f.get(t, "http://shop.test/x"); status != http.StatusOK || body != "GET shop.test /x" {
		t.Errorf("got %d %q", status, body)
	}
	if _, _, status, _ := f.tunnel(t, "shop.test:443"); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	for _, host := range []string{"evil.test", "10.0.0.1"} {
		if _, _, status, rule := f.tunnel(t, host+":443"); status != http.StatusForbidden || rule != policy.RulePrivate {
			t.Errorf("%s: got %d %q", host, status, rule)
		}
	}
	if status, _, _ := f.get(t, "http://nowhere.test/"); status != http.StatusBadGateway {
		t.Errorf("a name that means nothing here: got %d", status)
	}
	want := "CONNECT 127.0.0.7:80 Basic YWRhOnBhc3M=\nCONNECT 127.0.0.7:443 Basic YWRhOnBhc3M="
	check.Equal(t, "the upstream was asked for", o.all(), want)
}

func TestUpstreamThatResolvesGetsNames(t *testing.T) {
	s := site(t, nil)
	o := newOnward(t, s.Listener.Addr().String())
	f := openBehind(t, func() string { return "http://" + o.Listener.Addr().String() + "?resolve=upstream" })
	f.names.set("evil.test", addrs("10.0.0.1"))
	if status, _, body := f.get(t, "http://nowhere.test/x"); status != http.StatusOK || body != "forwarded" {
		t.Errorf("got %d %q", status, body)
	}
	if _, _, status, _ := f.tunnel(t, "nowhere.test:443"); status != http.StatusOK {
		t.Errorf("got %d", status)
	}
	for _, host := range []string{"evil.test", "10.0.0.1", "[::1]", "0x0a000001", "localhost"} {
		f.config.set(policy.Rules{})
		if status, _, _ := f.get(t, "http://"+host+"/"); status != http.StatusForbidden {
			t.Errorf("%s: got %d", host, status)
		}
	}
	want := "GET http://nowhere.test/x \nCONNECT nowhere.test:443 "
	check.Equal(t, "the upstream was asked for", o.all(), want)
}

func TestAnUpstreamThatIsThisProgramIsRefused(t *testing.T) {
	var own string
	f := openBehind(t, func() string { return "http://" + own })
	s := site(t, nil)
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0"} {
		own = host + ":" + f.proxy.Port()
		if status, _, body := f.get(t, s.URL); status != http.StatusBadGateway ||
			!strings.Contains(body, "listener of this program") {
			t.Errorf("%s: got %d %q", host, status, body)
		}
	}
	f = openBehind(t, func() string { return "ftp://127.0.0.1:1" })
	if status, _, _ := f.get(t, s.URL); status != http.StatusBadGateway {
		t.Errorf("one that cannot be read lets through: got %d", status)
	}
}

// connectDialer dials with CONNECT through the proxy at that host:port.
func connectDialer(proxy string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxy)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
		resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
		if err != nil || resp.StatusCode != http.StatusOK {
			conn.Close()
			return nil, fmt.Errorf("connect: %v %w", resp, err)
		}
		return conn, nil
	}
}

const bulk = 64 << 20

// bench is a server with a direct dialer and one through the proxy.
type bench struct {
	address         string
	direct, proxied *http.Client
}

func newBench(b *testing.B, secure, tunnel, fresh bool) bench {
	b.Helper()
	piece := make([]byte, 64<<10)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/bulk" {
			io.WriteString(w, "hello")
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(bulk))
		for range bulk / len(piece) {
			w.Write(piece)
		}
	})
	s := httptest.NewUnstartedServer(handler)
	start := s.Start
	if secure {
		start = s.StartTLS
	}
	start()
	b.Cleanup(s.Close)
	u := open(b, nil).proxy
	client := func() (*http.Client, *http.Transport) {
		t := &http.Transport{
			DisableCompression: true, DisableKeepAlives: fresh,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		}
		b.Cleanup(t.CloseIdleConnections)
		return &http.Client{Transport: t}, t
	}
	direct, _ := client()
	proxied, transport := client()
	if tunnel && !secure {
		transport.DialContext = connectDialer(u.Host)
	} else {
		transport.Proxy = http.ProxyURL(u)
	}
	return bench{s.URL, direct, proxied}
}

func fetch(b *testing.B, c *http.Client, address string) time.Duration {
	b.Helper()
	began := time.Now()
	resp, err := c.Get(address)
	check.Must(b, err)
	if _, err := io.Copy(discard{}, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		b.Fatal(resp.Status, err)
	}
	resp.Body.Close()
	return time.Since(began)
}

// discard reads in pieces of io.Copy's size; io.Discard would use smaller ones.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// compare fetches alternately directly and through the proxy, and reports both, so that other load on the machine
// affects both alike.
func compare(b *testing.B, s bench, path string) {
	b.Helper()
	var direct, proxied []time.Duration
	fetch(b, s.direct, s.address+path)
	fetch(b, s.proxied, s.address+path)
	for b.Loop() {
		direct = append(direct, fetch(b, s.direct, s.address+path))
		proxied = append(proxied, fetch(b, s.proxied, s.address+path))
	}
	d, p := median(direct), median(proxied)
	if path == "/bulk" {
		// The best of each side is what the way can carry; the medians have in them what else the machine does.
		b.ReportMetric(bulk/direct[0].Seconds()/1e6, "direct-MB/s")
		b.ReportMetric(bulk/proxied[0].Seconds()/1e6, "proxy-MB/s")
		b.ReportMetric(direct[0].Seconds()/proxied[0].Seconds(), "ratio")
		b.ReportMetric(d.Seconds()/p.Seconds(), "median-ratio")
		return
	}
	b.ReportMetric(float64(d.Nanoseconds())/1e3, "direct-µs")
	b.ReportMetric(float64(p.Nanoseconds())/1e3, "proxy-µs")
	b.ReportMetric(float64((p-d).Nanoseconds())/1e3, "added-µs")
}

func BenchmarkDirectAndThroughProxy(b *testing.B) {
	for _, c := range []struct {
		name                  string
		secure, tunnel, fresh bool
		path                  string
	}{
		{"small/kept", false, false, false, "/"},
		{"small/new", false, false, true, "/"},
		{"small/tunnel-new", false, true, true, "/"},
		{"small/tls-kept", true, true, false, "/"},
		{"small/tls-new", true, true, true, "/"},
		{"bulk/plain", false, false, false, "/bulk"},
		{"bulk/tunnel", false, true, false, "/bulk"},
		{"bulk/tls", true, true, false, "/bulk"},
	} {
		b.Run(c.name, func(b *testing.B) { compare(b, newBench(b, c.secure, c.tunnel, c.fresh), c.path) })
	}
}
