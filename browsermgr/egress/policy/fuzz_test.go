package policy_test

import (
	"net/netip"
	"net/url"
	"strconv"
	"testing"

	"clank/browsermgr/egress/policy"
)

func FuzzAddress(f *testing.F) {
	for _, s := range spellings {
		f.Add(s.url)
	}
	for _, s := range generated(200) {
		f.Add(s)
	}
	p := compile(f, policy.Rules{})
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := p.CheckURL(raw)
		if err != nil {
			if text := err.Error(); text == "" || len(text) > 1000 {
				t.Errorf("%q: the refusal has %d bytes", raw, len(text))
			}
			if _, err := p.CheckEnteredURL(raw); err == nil {
				t.Errorf("%q may be given, but not be reached", raw)
			}
			return
		}
		if target.Scheme == "about" {
			return
		}
		if addr, err := netip.ParseAddr(target.Host); err == nil && (notPublic(addr) || addr != target.Literal) {
			t.Errorf("%q: reached %s", raw, addr)
		}
		// What was understood is understood again in the same way, by everybody.
		authority := netJoin(target)
		again, err := p.CheckEnteredURL("https://" + authority + "/")
		if err != nil || again.Host != target.Host || again.Port != target.Port || again.Literal != target.Literal {
			t.Errorf("%q: read as %+v, and then as %+v, %v", raw, target, again, err)
		}
		// Where Go's reader finds a host, it is this one.
		u, err := url.Parse(raw)
		if err != nil || u.Hostname() == "" {
			return
		}
		if other, err := p.CheckHostPort(u.Hostname(), target.Port); err == nil && other.Host != target.Host {
			t.Errorf("%q: got %s, net/url goes to %s", raw, target.Host, other.Host)
		}
		if _, err := p.CheckEnteredURL(raw); err == nil {
			if other, err := p.CheckHostPort(u.Hostname(), target.Port); err != nil || other.Host != target.Host {
				t.Errorf("%q may be given, but net/url goes to %s, %v", raw, other.Host, err)
			}
		}
	})
}

func netJoin(t policy.Target) string {
	host := t.Host
	if t.Literal.Is6() {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(t.Port))
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{"example.com", "*.example.com", "10.1", "[::1]:80", "fd00::1", "localhost:3000", "*", "bücher.example", "a.*.b", "x:0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		// A bad entry is an error and never allows anything; a sound one never allows more than itself.
		p, err := policy.Compile(policy.Rules{AllowedHosts: []string{entry}})
		if err != nil {
			return
		}
		blocked, err := policy.Compile(policy.Rules{PrivateNetwork: policy.PrivateAllowed, BlockedHosts: []string{entry}})
		if err != nil {
			return
		}
		for _, host := range []string{"127.0.0.1", "::1", "localhost", "a.localhost", "10.0.0.1", "x.local", "169.254.169.254"} {
			_, allowed := p.CheckHostPort(host, 80)
			_, refused := blocked.CheckHostPort(host, 80)
			if (allowed == nil) != (refused != nil) {
				t.Errorf("%q: allowing %s gives %v, blocking it gives %v", entry, host, allowed, refused)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	p := compile(b, policy.Rules{HostAllowlist: []string{"*.example.com"}, BlockedHosts: []string{"ads.example.com"}})
	addr := netip.MustParseAddr("93.184.215.14")
	b.ReportAllocs()
	for b.Loop() {
		t, err := p.CheckHostPort("www.example.com", 443)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.CheckIP(t, addr); err != nil {
			b.Fatal(err)
		}
	}
}
