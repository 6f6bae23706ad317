package egress

import (
	"net"
	"strconv"
	"strings"
	"testing"
)

func TestConnectTargetsAreReadStrictly(t *testing.T) {
	for s, want := range map[string]string{
		"example.com:443": "example.com 443", "[::1]:80": "[::1] 80", "10.0.0.1:1": "10.0.0.1 1",
		"": "", ":443": "", "example.com": "", "example.com:": "", "example.com:0": "", "example.com:65536": "", "example.com:+1": "",
		"::1:80": "", "[::1:80": "", "[]:80": "", "[a]:80": "", "a@b:80": "", "a/b:80": "", "a?b:80": "", "a#b:80": "", "a:1:2": "",
	} {
		got := ""
		if host, port, ok := connectTarget(s); ok {
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
		host, port, ok := connectTarget(s)
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
