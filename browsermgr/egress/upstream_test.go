package egress_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
)

// onward is an upstream proxy that notes what it is asked for, and sends everything to one server.
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
		g.Upstream = func(string) *url.URL {
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
	if got := o.all(); got != want {
		t.Errorf("the upstream was asked for\n%s\nwant\n%s", got, want)
	}
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
		f.rules.set(policy.Rules{})
		if status, _, _ := f.get(t, "http://"+host+"/"); status != http.StatusForbidden {
			t.Errorf("%s: got %d", host, status)
		}
	}
	want := "GET http://nowhere.test/x \nCONNECT nowhere.test:443 "
	if got := o.all(); got != want {
		t.Errorf("the upstream was asked for\n%s\nwant\n%s", got, want)
	}
}

func TestAnUpstreamThatIsThisProgramIsRefused(t *testing.T) {
	var own string
	f := openBehind(t, func() string { return "http://" + own })
	s := site(t, nil)
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0"} {
		own = host + ":" + f.proxy.Port()
		if status, _, body := f.get(t, s.URL); status != http.StatusBadGateway || !strings.Contains(body, "listener of this program") {
			t.Errorf("%s: got %d %q", host, status, body)
		}
	}
	f = openBehind(t, func() string { return "ftp://127.0.0.1:1" })
	if status, _, _ := f.get(t, s.URL); status != http.StatusBadGateway {
		t.Errorf("one that cannot be read lets through: got %d", status)
	}
}
