package policy_test

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/egress/policy"
	"clank/internal/test/check"
)

// spelling is a spelling of an address, the host in it, and the rule that refuses it: ok for none. The host of an
// unparsable one is empty.
type spelling struct{ url, host, rule string }

const (
	ok        = ""
	private   = policy.RulePrivate
	metadata  = policy.RuleMetadata
	localName = policy.RuleLocalName
	malformed = policy.RuleMalformed
)

// label63 has the maximum length of a label.
var label63 = strings.Repeat("x", 63)

// spellings is the table of addresses: every known way to bypass a check that parses them less carefully.
var spellings = slices.Concat(
	// Plain ones, one of each entry of the registries, and the neighbours of the entries.
	asWritten(private, "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
		"127.0.0.0", "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.255.255", "172.16.0.0", "172.31.255.255",
		"192.0.0.1", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.0.0", "192.168.255.255",
		"192.175.48.1", "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.0", "239.255.255.250",
		"240.0.0.1", "255.255.255.255", "::", "::1", "::2", "100::1", "100:0:0:1::1", "1fff::1", "2001:2::1",
		"2001:10::1", "2001:20::1", "2001:1ff:ffff::1", "2001:db8::1", "2620:4f:8000::1", "3fff::1", "4000::1",
		"5f00::1", "fc00::1", "fd00::1", "fe80::1", "fec0::1", "ff02::1"),
	asWritten(ok, "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
		"128.0.0.0", "168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
		"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1",
		"2001:4860:4860::8888", "2606:4700::1111"),
	asWritten(metadata, "100.100.100.200", "168.63.129.16", "169.254.169.254", "169.254.170.2", "192.0.0.192",
		"fd00:ec2::254", "fd20:ce::254"),
	// IPv4 in fewer parts, and in other bases.
	spelled(private, "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F000001", "0x7F.1",
		"0x7f.0x0.0x0.0x1", "0x0000000007f.0.0.1", "017700000001", "0177.0.0.1", "0177.0x0.0.01", "00000177.0.0.1",
		"127.0.0.1.", "2130706433.", "0x7f.1."),
	spelled(private, "127.0.255.255", "127.65535"),
	spelled(private, "10.0.0.1", "10.1", "167772161", "012.0.0.1"),
	spelled(private, "192.168.1.1", "192.168.257", "3232235777"),
	spelled(ok, "8.8.8.8", "8.8.2056", "134744072", "0x08080808", "010.010.010.010"),
	spelled(private, "0.0.0.0", "0", "0x", "0x.0x.0x.0x", "00"),
	spelled(metadata, "169.254.169.254", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376"),
	spelled(private, "255.255.255.255", "4294967295"),
	spelled(malformed, "", "4294967296", "18446744073709551617", "340282366920938463463374607431768211457",
		"0x100000000", "0x10000000000000000", "08.8.8.8", "127.0.0.09", "256.0.0.1", "127.0.0.256", "127.0.65536",
		"127.16777216",
		"425.510.425.510", "1.2.3.4.5", "127.0.0.1.0", "127..0.1", ".127.0.0.1", "127.0.0.1..", "+127.0.0.1",
		"127.0.0.+1", "1_0.0.0.1", "0b1111111.0.0.1", "0o177.0.0.1", "foo.0x7f", "foo.1"),
	spelled(ok, "0x7f.0.0.0x1g", "0x7f.0.0.0x1g"),               // a name: its last part is no number
	spelled(ok, "0xfffffffffffffffffg", "0xfffffffffffffffffg"), // likewise
	spelled(private, "192.168.0.1", "0300.0250.0.1"),
	spelled(ok, "-1", "-1"),                   // a name
	spelled(ok, "127.0.0.1e0", "127.0.0.1e0"), // a name
	// Names of the greatest length, and longer ones.
	spelled(ok, "az.example", "az.example"),
	spelled(ok, label63+".example", label63+".example"),
	spelled(ok, label63+"."+label63+"."+label63+"."+label63[2:], label63+"."+label63+"."+label63+"."+label63[2:]),
	spelled(malformed, "", label63+"x.example", label63+"."+label63+"."+label63+"."+label63[1:]),
	// Letters and dots that become digits and dots.
	spelled(private, "127.0.0.1", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "%30%78%37%66.1",
		"%32%31%33%30%37%30%36%34%33%33", "127.0.0.1%2e", "１２７.０.０.１", "１２７．０．０．１", "127。0。0。1", "127｡0｡0｡1",
		"127.0.0.1。", "０x７f.1", "０Ｘ７Ｆ.1", "①②⑦.⓪.⓪.①", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "¹²⁷.⁰.⁰.¹", "₁₂₇.₀.₀.₁", "127\u00ad.0.0.1",
		"12\u200b7.0.0.1", "127.0.0.1\u2060", "127.0.0.1\ufeff", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
		"127%E3%80%820%E3%80%820%E3%80%821"),
	spelled(malformed, "", "127.0.0.1%00", "127.0.0.1%00.example.com", "127.0.0.1%20", "127.0.0.1%2f.example.com",
		"127.0.0.1%23.example.com", "127.0.0.1%3a80", "127.0.0.1%", "127.0.0.1%3", "%2531.0.0.1", // decoded once only
		"㉑㉚.0.0.1", "%ff.0.0.1", // the first is 2130.0.0.1
		"١٢٧.٠.٠.١"), // Arabic digits are not mapped; the name breaks the rules of direction
	spelled(metadata, "169.254.169.254", "①⑥⑨.②⑤④.①⑥⑨.②⑤④"),
	spelled(ok, "8.8.8.8", "⑧.⑧.⑧.⑧"),
	spelled(ok, "xn--e4bcp.xn--d4b.xn--d4b.xn--e4b", "१२७.०.०.१"),
	// IPv6 spellings, and IPv4 in IPv6.
	spelled(private, "::1", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0.0.0.1]", "[0::1]"),
	spelled(malformed, "", "[::1].]", "[::1", "::1", "::1]", "[[::1]]", "[::1]x", "[::1].example.com", "[:]", "[:::1]",
		"[1::2::3]", "[127.0.0.1]", "[::00001]", "[::g]", "[::1%25lo]", "[fe80::1%25eth0]", "[fe80::1%eth0]",
		"[2001:4860:4860::8888%251]", "[]", "%5b::1%5d", "[%3a%3a1]", "[::１]", "[::ffff:127.1]", "[::ffff:0x7f.0.0.1]",
		"[::ffff:0177.0.0.1]", "[::ffff:127.0.0.1.]", "[::ffff:256.0.0.1]"),
	spelled(private, "::7f00:1", "[::127.0.0.1]"),
	spelled(private, "::808:808", "[::8.8.8.8]"),
	asWritten(private, "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0.0.0.0", "64:ff9b:1:7f00:0:100::",
		"2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:808:808::1", "2001::1", "2001:0:4136:e378:8000:63bf:80ff:fffe",
		"2001:0:808:808::f7f7:f7f7"),
	spelled(private, "::ffff:127.0.0.1", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]", "[0:0:0:0:0:ffff:127.0.0.1]"),
	asWritten(metadata, "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2606:4700::5efe:a9fe:a9fe"),
	spelled(metadata, "::ffff:169.254.169.254", "[::ffff:a9fe:a9fe]"),
	asWritten(ok, "::ffff:8.8.8.8"),
	spelled(private, "::ffff:0:7f00:1", "[::ffff:0:127.0.0.1]"),
	spelled(private, "::ffff:0:808:808", "[::ffff:0:8.8.8.8]"),
	spelled(private, "64:ff9b::7f00:1", "[64:ff9b::127.0.0.1]"),
	spelled(private, "64:ff9b::a01:203", "[64:ff9b::10.1.2.3]"),
	spelled(private, "64:ff9b::a00:1", "[0064:ff9b:0::0a00:0001]"),
	spelled(ok, "64:ff9b::808:808", "[64:ff9b::8.8.8.8]"),
	spelled(private, "64:ff9b::1:808:808", "[64:ff9b:0:0:0:1:808:808]"),
	spelled(private, "64:ff9b:1::a00:1", "[64:ff9b:1::10.0.0.1]"),
	spelled(private, "64:ff9b:1::808:808", "[64:ff9b:1::8.8.8.8]"),
	spelled(private, "2606:4700::5efe:7f00:1", "[2606:4700::5efe:127.0.0.1]"),
	spelled(private, "2606:4700::200:5efe:a00:1", "[2606:4700::200:5efe:10.0.0.1]"),
	spelled(ok, "2606:4700::200:5efe:808:808", "[2606:4700::200:5efe:8.8.8.8]"),
	// What stands around the host.
	urls(private, "127.0.0.1", "HTTP://127.0.0.1/", "hTTps://127.0.0.1", "ws://127.0.0.1/", "http:127.0.0.1",
		"http:/127.0.0.1", "http:///127.0.0.1", "http://////127.0.0.1", `http:\\127.0.0.1\`, `http:/\127.0.0.1`,
		`http://127.0.0.1\@example.com/`, `http://127.0.0.1\.example.com/`, " http://127.0.0.1/ ",
		"\x01\x1fhttp://127.0.0.1/", "ht\ntp://127.\t0.0.1/", "http:/\n/127.0.0.1/"),
	urls(private, "::1", "wss://[::1]/"),
	urls(ok, "example.com", `http://example.com\@127.0.0.1/`),
	spelled(private, "127.0.0.1", "example.com@127.0.0.1", "a@b@127.0.0.1", "example.com:80@127.0.0.1", "@127.0.0.1",
		":@127.0.0.1", "127.0.0.1?@example.com", "127.0.0.1#@example.com", "127.0.0.1:80", "127.0.0.1:",
		"127.0.0.1:00080"),
	spelled(ok, "example.com", "127.0.0.1@example.com", "example.com#@127.0.0.1", "example.com/@127.0.0.1",
		"127.0.0.1;@example.com"),
	spelled(malformed, "", "example.com%40127.0.0.1", "127.0.0.1:65536", "127.0.0.1:80:80", "127.0.0.1:+80",
		"127.0.0.1:８０", "[::1]80", "127.0.0 .1", "127.0.0.1\x00", "127.0.0.1\u00a0", "127.0.0.1|", "127.0.0.1^",
		"<127.0.0.1>", ".", "..", "%", ":80", "@"),
	spelled(private, "::1", "[::1]:80"),
	spelled(ok, "127.0.0.1.example.com", "127.0.0.1\r\n.example.com"),
	urls(malformed, "", "//127.0.0.1/", "127.0.0.1", "127.0.0.1:80", "http:", "http://"),
	// Names.
	asWritten(localName, "localhost", "a.localhost", "localhost.localdomain", "printer.local",
		"metadata.google.internal", "db.corp.internal"),
	spelled(localName, "localhost", "LOCALHOST", "localhost.", "localhost:3000", "ｌｏｃａｌｈｏｓｔ", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc%61lhost",
		"loc\u00adalhost", "localhoſt"),
	spelled(malformed, "", "localhost..", "xn--", "xn--a"),
	spelled(localName, "a.b.localhost", "a.b.LocalHost."),
	spelled(localName, "printer.local", "printer。local"),
	spelled(localName, "metadata.google.internal", "METADATA.google.internal."),
	asWritten(ok, "notlocalhost", "localhost.example.com", "mylocal", "r3---sn-x.example.com", "a_b.example.com"),
	spelled(ok, "example.com", "EXAMPLE.com.", "ex%41mple.com"),
	spelled(ok, "xn--fa-hia.de", "faß.de"),
	spelled(ok, "xn--bcher-kva.example", "bücher.example"),
	spelled(ok, "127.0.0.1.nip.io", "127.0.0.1.nip.io"), // its address is judged when it is resolved
)

// urls are URLs in which a browser finds the host.
func urls(rule, host string, list ...string) []spelling {
	var all []spelling
	for _, url := range list {
		all = append(all, spelling{url, host, rule})
	}
	return all
}

// spelled are spellings of a host between http:// and a slash.
func spelled(rule, host string, list ...string) []spelling {
	var all []spelling
	for _, s := range list {
		all = append(all, spelling{"http://" + s + "/", host, rule})
	}
	return all
}

// asWritten are hosts in the form in which they are checked, without the brackets of IPv6.
func asWritten(rule string, hosts ...string) []spelling {
	var all []spelling
	for _, host := range hosts {
		written := host
		if strings.Contains(host, ":") {
			written = "[" + host + "]"
		}
		all = append(all, spelling{"http://" + written + "/", host, rule})
	}
	return all
}

func TestSpellingsAreJudgedByTheHostThatABrowserFindsInThem(t *testing.T) {
	if got, want := len(spellings), 200; got < want {
		t.Fatalf("the table has %d spellings, want %d or more", got, want)
	}
	p := compile(t, policy.Rules{})
	seen := map[string]bool{}
	for _, s := range spellings {
		if seen[s.url] {
			t.Errorf("%q is in the table twice", s.url)
		}
		seen[s.url] = true
		target, err := p.CheckURL(s.url)
		host, rule := target.Host, ""
		if err != nil {
			refusal, isRefusal := errors.AsType[*policy.Refusal](err)
			if !isRefusal {
				t.Fatalf("%q: got an error of type %T", s.url, err)
			}
			if host, rule = refusal.Host, refusal.Rule; rule == malformed {
				host = ""
			}
		}
		if host != s.host || rule != s.rule {
			t.Errorf("%q: got %q %q, want %q %q (%v)", s.url, host, rule, s.host, s.rule, err)
		}
		if _, err := p.CheckEnteredURL(s.url); err == nil && s.rule != ok {
			t.Errorf("%q may be given", s.url)
		}
	}
}

// compile compiles rules that are known to be valid.
func compile(tb testing.TB, rules policy.Rules) *policy.Policy {
	tb.Helper()
	p, err := policy.Compile(rules)
	check.Must(tb, err)
	return p
}

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
	for _, s := range []string{
		"example.com", "*.example.com", "10.1", "[::1]:80", "fd00::1", "localhost:3000", "*",
		"bücher.example", "a.*.b", "x:0",
	} {
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
		for _, host := range []string{
			"127.0.0.1", "::1", "localhost", "a.localhost", "10.0.0.1", "x.local",
			"169.254.169.254",
		} {
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
		check.Must(b, err)
		check.Must(b, p.CheckIP(t, addr))
	}
}
