package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/egress"
)

// serve accepts connections and hands them to do, each on a goroutine of its own; the end of the test waits for them.
func serve(t *testing.T, address string, do func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
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
		if got := conn.RemoteAddr().(*net.TCPAddr).AddrPort(); got != at {
			t.Errorf("%v: got %v, want %v", list, got, at)
		}
		conn.Close()
	}
}

func TestAnySaysWhyNothingAnswers(t *testing.T) {
	at := serve(t, "127.0.0.1:0", func(net.Conn) {})
	two := addrs("127.0.0.2", "127.0.0.3")
	if _, err := egress.DialAny(t.Context(), two, at.Port()); err == nil || !strings.Contains(err.Error(), "127.0.0.2") {
		t.Errorf("got %v, want the error of the first address", err)
	}
	if _, err := egress.DialAny(t.Context(), nil, 80); !errors.Is(err, egress.ErrNoAddress) {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := egress.DialAny(ended, two, at.Port()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func parse(t *testing.T, address string) *egress.Upstream {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	up, err := egress.ParseUpstream(u)
	if err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		got := "error"
		up, err := egress.ParseUpstream(u)
		if err == nil {
			got = fmt.Sprintf("%s names=%t forwards=%t", up, up.ResolvesNames(), up.ForwardsHTTP())
		} else {
			got += strings.Repeat(" with the password", strings.Count(err.Error(), "secret"))
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got, err := io.ReadAll(conn)
	if want := "[2001:db8::1]:443 Basic YWRhOnBhc3M="; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestUpstreamsThatRefuseFallSilentOrTalkNonsense(t *testing.T) {
	two := addrs("192.0.2.1", "192.0.2.2")
	for name, answer := range map[string]string{
		"refuse": "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", "nonsense": "hello\r\n", "nothing": "",
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
	if _, err := parse(t, "http://"+at.String()).Dial(ctx, "a", two, 443); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestUpstreamsOverTLSMustProveWhoTheyAre(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	up := parse(t, strings.Replace(s.URL, "http://", "https://", 1))
	if conn, err := up.DialProxy(t.Context()); err == nil {
		conn.Close()
		t.Error("a certificate that nobody vouches for was taken")
	}
}

// socks serves one request as a SOCKS5 server of RFC 1928 and 1929, and says what it was asked for.
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
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		conn.Close()
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", scheme, got, err, want)
		}
	}
}
