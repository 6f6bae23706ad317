package egress_test

import (
	"bufio"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
)

func TestConnectTargetsAreReadStrictly(t *testing.T) {
	for s, want := range map[string]string{
		"example.com:443": "example.com 443", "[::1]:80": "[::1] 80", "10.0.0.1:1": "10.0.0.1 1",
		"": "", ":443": "", "example.com": "", "example.com:": "", "example.com:0": "", "example.com:65536": "", "example.com:+1": "",
		"::1:80": "", "[::1:80": "", "[]:80": "", "[a]:80": "", "a]:80": "", "[[::1]]:80": "", "a@b:80": "", "a/b:80": "", "a?b:80": "", "a#b:80": "", "a:1:2": "",
	} {
		got := ""
		if host, port, ok := egress.ConnectTarget(s); ok {
			got = host + " " + strconv.Itoa(int(port))
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

// What is read from a CONNECT line is what Go's own reader of host and port finds there.
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

// Whatever a request line says, the Host that a server is sent is the one that was judged.
func FuzzRequestLine(f *testing.F) {
	for _, s := range []string{
		"http://example.com/", "http://a@b/", "http:\\\\a\\@b/", "http://[::1]:80/", "http://0x7f.1/", "http://EXAMPLE.com.:8080?x#y", "https://a:443/", "/", "*",
		"http://ex%61mple.com/", "http://a:b@c:1/%00",
	} {
		f.Add(s)
	}
	p, err := policy.Compile(policy.Rules{})
	if err != nil {
		f.Fatal(err)
	}
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
