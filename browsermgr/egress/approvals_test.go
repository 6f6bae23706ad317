package egress_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/internal/test/check"
)

// person answers questions. Set its fields first.
type person struct {
	session bool
	err     error
	wait    chan bool // if set, the answer waits for it

	asked atomic.Int32
	mu    sync.Mutex
	last  string
}

func (p *person) ApproveHost(ctx context.Context, profile, host, why string) (bool, error) {
	p.asked.Add(1)
	p.mu.Lock()
	p.last = profile + " " + host + " " + why
	p.mu.Unlock()
	if p.wait != nil {
		select {
		case <-p.wait:
		case <-ctx.Done():
			return true, nil // too late to count
		}
	}
	return p.session, p.err
}

func openAsking(t *testing.T, p *person) *fixture {
	t.Helper()
	return open(t, func(g *egress.Proxy) {
		if p != nil {
			g.Approver = p
		}
		c := g.Config.(*config)
		c.ask = true
		c.set(policy.Rules{PrivateNetwork: policy.PrivateAllowed, AllowedHosts: []string{"known.test"}})
	})
}

func TestNewHostsAreAskedAboutOnce(t *testing.T) {
	p := &person{session: true, wait: make(chan bool)}
	f := openAsking(t, p)
	s := site(t, nil)
	f.names.set("new.test", addrs("127.0.0.1"))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			resp, err := f.client.Get("http://new.test:" + port(t, s) + "/x?token=abc")
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
			check.Equal(t, "status code", resp.StatusCode, http.StatusOK)
		})
	}
	until(t, "the question", func() bool { return p.asked.Load() == 1 })
	check.Equal(t, "lookups before anybody allowed it", f.names.count("new.test"), 0)
	close(p.wait)
	all.Wait()
	check.Equal(t, "times asked", p.asked.Load(), 1)
	check.Equal(t, "question", p.last,
		"work new.test a page wants to load http://new.test:"+port(t, s)+"/x?token=[hidden]")

	f.client.CloseIdleConnections()
	check.Must(t, check.Err(f.Listen(t.Context(), profile)))
	f.get(t, "http://new.test:"+port(t, s)+"/")
	check.Equal(t, "a new session of the browser: times asked in all", p.asked.Load(), 2)
}

func TestNoIsNoAndIsRemembered(t *testing.T) {
	p := &person{err: errors.New("refused by ada")}
	f := openAsking(t, p)
	for range 3 {
		status, rule, body := f.get(t, "http://new.test/")
		if status != http.StatusForbidden || rule != egress.RuleNotApproved || !strings.Contains(body, "refused by ada") {
			t.Errorf("got %d %q %q", status, rule, body)
		}
	}
	check.Equal(t, "times asked", p.asked.Load(), 1)
	if got := f.Refusals(profile); len(got) != 3 || got[0].Host != "new.test" {
		t.Errorf("got %+v", got)
	}
}

func TestQuestionsEndWhenNobodyWaitsAndAreFew(t *testing.T) {
	p := &person{wait: make(chan bool)}
	f := openAsking(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, host := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			check.Fails(t, f.AllowRequest(ctx, profile, "https://"+host+".test/"), context.Canceled)
		})
	}
	until(t, "the questions", func() bool { return p.asked.Load() == 4 })
	if _, _, status, rule := f.tunnel(t, "e.test:443"); status != http.StatusForbidden || rule != egress.RuleNotApproved {
		t.Errorf("a fifth question: got %d %q", status, rule)
	}
	cancel()
	all.Wait()
	close(p.wait)
	f.tunnel(t, "a.test:443")
	check.Equal(t, "an answer that came too late counted: times asked", p.asked.Load(), 5)
}

func TestNobodyIsAskedWithoutNeed(t *testing.T) {
	p := &person{}
	f := openAsking(t, p)
	s := site(t, nil)
	f.names.set("known.test", addrs("127.0.0.1"))
	if status, _, _ := f.get(t, "http://known.test:"+port(t, s)+"/"); status != http.StatusOK {
		t.Errorf("a host of the rules: got %d", status)
	}
	for range 2 {
		if _, _, status, _ := f.tunnel(t, "updates.chromium.invalid:443"); status != http.StatusBadGateway {
			t.Errorf("a name that cannot exist: got %d", status)
		}
	}
	for address, want := range map[string]string{
		"https://new.test/x": "", "file:///etc/passwd": `protocol "file:"`, "ftp://a.test/": `protocol "ftp:"`,
	} {
		check.Outcome(t, address, f.CheckWithoutDNS(address), want)
	}
	for _, address := range []string{"https://new.test/", "http://a.internal/"} {
		if err := f.Allow(t.Context(), profile, address); err != nil {
			t.Errorf("the document %s: got %v", address, err)
		}
	}
	if p.asked.Load() != 0 || f.names.count("new.test") != 0 || f.RefusalCount(profile) != 0 {
		t.Errorf("asked %d times, %d lookups, %d refusals", p.asked.Load(), f.names.count("new.test"),
			f.RefusalCount(profile))
	}
	f = openAsking(t, nil)
	if status, rule, _ := f.get(t, "http://new.test/"); status != http.StatusForbidden || rule != egress.RuleNotApproved {
		t.Errorf("with nobody to ask: got %d %q", status, rule)
	}
}

func TestConnectTargetsAreReadStrictly(t *testing.T) {
	for s, want := range map[string]string{
		"example.com:443": "example.com 443", "[::1]:80": "[::1] 80", "10.0.0.1:1": "10.0.0.1 1",
		"": "", ":443": "", "example.com": "", "example.com:": "", "example.com:0": "", "example.com:65536": "",
		"example.com:+1": "",
		"::1:80":         "", "[::1:80": "", "[]:80": "", "[a]:80": "", "a]:80": "", "[[::1]]:80": "", "a@b:80": "",
		"a/b:80": "",
		"a?b:80": "", "a#b:80": "", "a:1:2": "",
	} {
		got := ""
		if host, port, ok := egress.ConnectTarget(s); ok {
			got = host + " " + strconv.Itoa(int(port))
		}
		check.Equal(t, s, got, want)
	}
}

// The target parsed from a CONNECT line equals that of Go's own parser for host and port.
func FuzzConnectTarget(f *testing.F) {
	for _, s := range []string{"example.com:443", "[::1]:80", "a@b:1", "::1:80", "[fe80::1%25lo]:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, ok := egress.ConnectTarget(s)
		if !ok {
			return
		}
		h, p, err := net.SplitHostPort(s)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || uint16(n) != port || h != strings.Trim(host, "[]") {
			t.Fatalf("%q: got %q %d, Go reads %q %q", s, host, port, h, p)
		}
	})
}

// Whatever a request line contains, the Host sent to a server is the checked one.
func FuzzRequestLine(f *testing.F) {
	for _, s := range []string{
		"http://example.com/", "http://a@b/", "http:\\\\a\\@b/", "http://[::1]:80/", "http://0x7f.1/",
		"http://EXAMPLE.com.:8080?x#y", "https://a:443/", "/", "*",
		"http://ex%61mple.com/", "http://a:b@c:1/%00",
	} {
		f.Add(s)
	}
	p, err := policy.Compile(policy.Rules{})
	check.Must(f, err)
	f.Fuzz(func(t *testing.T, s string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("GET " + s + " HTTP/1.1\r\nHost: other.test\r\n\r\n")))
		if err != nil || !r.URL.IsAbs() || r.URL.Host == "" {
			return
		}
		target, err := p.CheckURL(r.RequestURI)
		if err != nil || target.Scheme == "about" {
			return
		}
		header := egress.HostHeader(target)
		u, err := url.Parse("http://" + header + "/")
		if err != nil || u.Hostname() != target.Host || u.User != nil {
			t.Fatalf("%q leads to %q, but its server is sent %q", s, target.Host, header)
		}
	})
}
