package policy_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"clank/browsermgr/egress/policy"
	"clank/internal/test/check"

	"code.dny.dev/ssrf"
)

// judged returns the rule that refuses a URL; "" for none. Names resolve to the address, if one is given.
func judged(t *testing.T, p *policy.Policy, url, resolved string) string {
	t.Helper()
	target, err := p.CheckURL(url)
	if err == nil && resolved != "" {
		err = p.CheckIP(target, netip.MustParseAddr(resolved))
	}
	return ruleOf(t, err)
}

func ruleOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	refusal, isRefusal := errors.AsType[*policy.Refusal](err)
	if !isRefusal {
		t.Fatalf("got an error of type %T: %v", err, err)
	}
	return refusal.Rule
}

// ask is a check of a policy: a URL, the addresses of its host, and the rule that refuses it.
type ask struct{ url, resolved, want string }

func wantRules(t *testing.T, rules policy.Rules, asks []ask) {
	t.Helper()
	p := compile(t, rules)
	for _, a := range asks {
		check.Equal(t, fmt.Sprintf("%s at %q", a.url, a.resolved), judged(t, p, a.url, a.resolved), a.want)
	}
}

// here is a machine with public addresses, its networks, a router outside them, and a tunnel whose prefix is too wide.
var here = policy.Machine{
	Interfaces: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.168.1.2/24"),
		netip.MustParsePrefix("203.0.114.7/24"), netip.MustParsePrefix("2606:4700:1:2::7/64"),
		netip.MustParsePrefix("11.1.2.3/1"),
	},
	Gateways: []netip.Addr{netip.MustParseAddr("198.51.99.1")},
}

func TestRulesMeanWhatTheContractSays(t *testing.T) {
	for name, tt := range map[string]struct {
		rules policy.Rules
		asks  []ask
	}{
		"nothing set": {policy.Rules{}, []ask{
			{"https://example.com/", "93.184.215.14", ""},
			{"https://example.com/", "10.0.0.1", policy.RulePrivate},
			{"https://example.com/", "::ffff:10.0.0.1", policy.RulePrivate},
			{"https://example.com/", "64:ff9b::a9fe:a9fe", policy.RuleMetadata},
			{"https://example.com/", "fe80::1%eth0", policy.RulePrivate},
			{"https://intranet/", "192.168.1.4", policy.RulePrivate},
			{"https://93.184.215.14/", "", ""},
			{"https://10.0.0.1/", "", policy.RulePrivate},
			{"https://localhost/", "", policy.RuleLocalName},
		}},
		// CVE-2026-43527: what nobody had configured was allowed, the operator's network too. The later answer, to
		// allow listed names only, was taken back.
		"nothing set, and the operator's network": {policy.Rules{}, []ask{
			{"http://192.168.0.1/", "", policy.RulePrivate},
			{"http://router.example/", "192.168.0.1", policy.RulePrivate},
			{"http://localhost:8080/", "", policy.RuleLocalName},
			{"http://169.254.169.254/latest/meta-data/", "", policy.RuleMetadata},
		}},
		// Redirects were judged by where they began. Each hop is a request, and judged like any other.
		"hops of a redirect": {policy.Rules{HostAllowlist: []string{"*.example"}}, []ask{
			{"https://start.example/", "93.184.215.14", ""},
			{"http://10.0.0.1/", "", policy.RuleNotOnList},
			{"https://other.test/", "", policy.RuleNotOnList},
			{"file:///etc/passwd", "", policy.RuleScheme},
			{"http://inside.example/", "10.0.0.1", policy.RulePrivate},
		}},
		"true": {policy.Rules{PrivateNetwork: policy.PrivateAllowed}, []ask{
			{"http://localhost/", "127.0.0.1", ""},
			{"http://10.0.0.1/", "", ""},
			{"http://metadata.google.internal/", "169.254.169.254", ""},
			{"file:///etc/passwd", "", policy.RuleScheme},
			{"http://127.0.0.256/", "", policy.RuleMalformed},
		}},
		"false": {policy.Rules{
			PrivateNetwork: policy.PrivateStrict,
			AllowedHosts:   []string{"a.example", "*.b.example", "nas"},
		}, []ask{
			{"https://example.com/", "", policy.RuleStrict},
			{"https://93.184.215.14/", "", ""},
			{"https://10.0.0.1/", "", policy.RulePrivate},
			{"https://a.example/", "93.184.215.14", ""},
			{"https://x.b.example/", "93.184.215.14", ""},
			{"https://b.example/", "", policy.RuleStrict},
			{"https://nas/", "10.0.0.9", ""},
		}},
		"false, and a list": {policy.Rules{PrivateNetwork: policy.PrivateStrict, HostAllowlist: []string{"a.example"}}, []ask{
			{"https://a.example/", "93.184.215.14", ""},
			{"https://a.example/", "10.0.0.1", policy.RulePrivate},
			{"https://c.example/", "", policy.RuleNotOnList},
		}},
		"allowed hosts": {policy.Rules{AllowedHosts: []string{
			"Localhost:3000", "*.LOCAL.", "10.1", "[::1]:8080", "fd00::7",
			"bücher.example", "*",
		}}, []ask{
			{"http://localhost:3000/", "127.0.0.1", ""},
			{"http://localhost:3001/", "", policy.RuleLocalName},
			{"http://a.localhost:3000/", "", policy.RuleLocalName},
			{"http://127.0.0.1:3000/", "", policy.RulePrivate},
			{"http://printer.local/", "192.168.1.7", ""},
			{"http://a.b.local:631/", "169.254.3.4", ""},
			{"http://local/", "", policy.RuleLocalName},
			{"http://10.0.0.1/", "", ""},
			{"http://[::ffff:10.0.0.1]/", "", ""},
			{"http://[64:ff9b::10.0.0.1]/", "", policy.RulePrivate},
			{"http://evil.example/", "10.0.0.1", policy.RulePrivate},
			{"http://[::1]:8080/", "", ""},
			{"http://[::1]/", "", policy.RulePrivate},
			{"http://[fd00:0::7]/", "", ""},
			{"http://xn--bcher-kva.example/", "10.0.0.3", ""},
		}},
		// Whoever owns a name below an allowed one lets it lead where they like, such as by a record that was forgotten.
		"names do not stand for this machine": {
			policy.Rules{AllowedHosts: []string{
				"*.example", "dev.test", "127.0.0.1:3000", "metadata.google.internal",
				"localhost", "203.0.114.7:80",
			}, Machine: here}, []ask{
				{"http://a.example/", "10.0.0.1", ""},
				{"http://a.example/", "192.168.1.1", ""},
				{"http://a.example/", "fd00::7", ""},
				{"http://a.example/", "203.0.114.99", ""},
				{"http://a.example/", "127.0.0.1", policy.RulePrivate},
				{"http://a.example/", "127.9.9.9", policy.RulePrivate},
				{"http://a.example/", "::1", policy.RulePrivate},
				{"http://a.example/", "0.0.0.0", policy.RulePrivate},
				{"http://a.example/", "64:ff9b::127.0.0.1", policy.RulePrivate},
				{"http://a.example/", "169.254.169.254", policy.RuleMetadata},
				{"http://a.example/", "fd00:ec2::254", policy.RuleMetadata},
				{"http://a.example/", "192.168.1.2", policy.RulePrivate},
				{"http://metadata.google.internal/", "169.254.169.254", policy.RuleMetadata},
				{"http://dev.test:3000/", "127.0.0.1", ""},
				{"http://dev.test:3001/", "127.0.0.1", policy.RulePrivate},
				{"http://dev.test/", "203.0.114.7", ""},
				{"http://dev.test:81/", "203.0.114.7", policy.RulePrivate},
				{"http://localhost/", "127.0.0.1", ""},
				{"http://localhost/", "::1", ""},
				{"http://localhost/", "192.168.1.2", policy.RulePrivate},
				{"http://127.0.0.1:3000/", "", ""},
			},
		},
		"the machine and its networks": {policy.Rules{AllowedHosts: []string{"203.0.114.8"}, Machine: here}, []ask{
			{"http://203.0.114.7/", "", policy.RulePrivate},
			{"http://page.test:9200/", "203.0.114.7", policy.RulePrivate},
			{"http://page.test/", "203.0.114.99", policy.RulePrivate},
			{"http://page.test/", "::ffff:203.0.114.99", policy.RulePrivate},
			{"http://page.test/", "203.0.115.1", ""},
			{"http://203.0.114.8/", "", ""},
			{"http://page.test/", "2606:4700:1:2::1", policy.RulePrivate},
			{"http://page.test/", "2606:4700:1:3::1", ""},
			{"http://page.test/", "198.51.99.1", policy.RulePrivate},
			{"http://page.test/", "198.51.99.2", ""},
			{"http://page.test/", "11.1.2.3", policy.RulePrivate},
			{"http://page.test/", "11.1.2.4", ""},
		}},
		"the machine, and everything allowed": {policy.Rules{PrivateNetwork: policy.PrivateAllowed, Machine: here}, []ask{
			{"http://203.0.114.7/", "", ""},
			{"http://page.test/", "203.0.114.99", ""},
		}},
		"made-up addresses of a tunnel": {
			policy.Rules{
				AllowBenchmark: true,
				Machine:        policy.Machine{Interfaces: []netip.Prefix{netip.MustParsePrefix("198.18.0.1/15")}},
			}, []ask{
				{"http://page.test/", "198.18.0.7", ""},
				{"http://page.test/", "198.18.0.1", policy.RulePrivate},
			},
		},
		"the only hosts": {policy.Rules{HostAllowlist: []string{"*.example.com", "example.org:443", "10.0.0.1"}}, []ask{
			{"https://www.example.com/", "93.184.215.14", ""},
			{"https://www.example.com/", "127.0.0.1", policy.RulePrivate},
			{"https://example.com/", "", policy.RuleNotOnList},
			{"https://notexample.com/", "", policy.RuleNotOnList},
			{"https://www.example.com.evil.example/", "", policy.RuleNotOnList},
			{"https://example.org/", "", ""},
			{"http://example.org/", "", policy.RuleNotOnList},
			{"http://10.0.0.1/", "", policy.RulePrivate},
			{"http://8.8.8.8/", "", policy.RuleNotOnList},
		}},
		"a list of nothing but *": {policy.Rules{HostAllowlist: []string{"*"}}, []ask{
			{"https://example.com/", "", ""},
		}},
		"both lists": {policy.Rules{HostAllowlist: []string{"a.example"}, AllowedHosts: []string{"b.example"}}, []ask{
			{"https://b.example/", "", policy.RuleNotOnList},
		}},
		"blocked hosts": {policy.Rules{
			PrivateNetwork: policy.PrivateAllowed, AllowedHosts: []string{"a.example"},
			BlockedHosts: []string{"a.example", "*.ads.example", "10.0.0.5", "b.example:80"},
		}, []ask{
			{"https://a.example/", "", policy.RuleBlocked},
			{"https://x.ads.example/", "", policy.RuleBlocked},
			{"https://ads.example/", "", ""},
			{"https://c.example/", "10.0.0.5", policy.RuleBlocked},
			{"https://c.example/", "64:ff9b::a00:5", policy.RuleBlocked},
			{"http://0xa000005/", "", policy.RuleBlocked},
			{"http://b.example/", "", policy.RuleBlocked},
			{"https://b.example/", "", ""},
		}},
		"benchmark range": {policy.Rules{AllowBenchmark: true}, []ask{
			{"https://example.com/", "198.18.0.7", ""},
			{"https://example.com/", "198.20.0.7", ""},
			{"https://example.com/", "10.0.0.7", policy.RulePrivate},
			{"https://example.com/", "2001:2::1", policy.RulePrivate},
		}},
		"unique local range": {policy.Rules{AllowULA: true}, []ask{
			{"https://example.com/", "fc00::7", ""},
			{"https://example.com/", "fe80::7", policy.RulePrivate},
			{"https://example.com/", "fd00:ec2::254", policy.RuleMetadata},
			{"https://example.com/", "198.18.0.7", policy.RulePrivate},
		}},
		"ports": {policy.Rules{
			Ports:        []policy.PortRange{{First: 1, Last: 79}, {First: 8000, Last: 8999}},
			AllowedHosts: []string{"a.example", "b.example:8080"},
		}, []ask{
			{"http://example.com:79/", "", policy.RulePort},
			{"http://example.com:80/", "", ""},
			{"http://example.com:8999/", "", policy.RulePort},
			{"http://example.com:9000/", "", ""},
			{"http://a.example:8080/", "", policy.RulePort},
			{"http://b.example:8080/", "10.0.0.1", ""},
			{"http://example.com:0/", "", policy.RulePort},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			wantRules(t, tt.rules, tt.asks)
		})
	}
}

func TestOurOwnListenersAreNeverReached(t *testing.T) {
	var asks []ask
	for _, url := range []string{
		"http://127.0.0.1:8080/", "http://127.9.9.9:8080/", "http://0:8080/", "http://[::]:8080/", "http://[::1]:8080/",
		"http://[::ffff:127.0.0.1]:8080/", "http://[64:ff9b::127.0.0.1]:8080/", "http://192.168.1.2:9090/",
	} {
		asks = append(asks, ask{url, "", policy.RuleOwnListener})
	}
	for _, url := range []string{"http://192.168.1.2:8080/", "http://192.168.1.3:9090/", "http://127.0.0.1:8081/"} {
		asks = append(asks, ask{url, "", ""})
	}
	wantRules(t, policy.Rules{
		PrivateNetwork: policy.PrivateAllowed, Own: []netip.AddrPort{netip.MustParseAddrPort("0.0.0.0:7000")}, Machine: here,
	}, []ask{
		{"http://203.0.114.7:7000/", "", policy.RuleOwnListener},
		{"http://[::1]:7000/", "", policy.RuleOwnListener},
		{"http://203.0.114.8:7000/", "", ""},
	})
	wantRules(t, policy.Rules{
		PrivateNetwork: policy.PrivateAllowed, AllowedHosts: []string{"localhost", "127.0.0.1", "*.example"},
		Own: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("192.168.1.2:9090")},
	}, append(asks, ask{"ws://localhost:8080/", "::1", policy.RuleOwnListener},
		ask{"http://rebound.example:8080/", "127.0.0.1", policy.RuleOwnListener}))
}

func TestEntriesThatNobodyCanMeanAreNamed(t *testing.T) {
	for _, bad := range []string{
		"https://example.com/", "example.com/x", "*.*.example", "a.*.example", "*example.com", "exa mple.com", "a..b",
		"1.2.3.4.5", "*.10.0.0.1", "10.0.0.0/8",
		"host:port", "host:0", "host:70000", "[::1", "fe80::1%eth0", "user@host", "*.:80",
	} {
		for list, rules := range map[string]policy.Rules{
			"allowedHostnames":  {AllowedHosts: []string{"fine.example", bad}},
			"hostnameAllowlist": {HostAllowlist: []string{bad}}, "blockedHostnames": {BlockedHosts: []string{bad}},
		} {
			_, err := policy.Compile(rules)
			if err == nil || !strings.HasPrefix(err.Error(), list) || !strings.Contains(err.Error(), bad) {
				t.Errorf("%s %q: got %v, want it named", list, bad, err)
			}
		}
	}
	for want, rules := range map[string]policy.Rules{
		"list the only hosts in hostnameAllowlist": {BlockedHosts: []string{"*"}},
		"ports: 9-8 is upside down":                {Ports: []policy.PortRange{{First: 9, Last: 8}}},
		"private network: unknown mode 7":          {PrivateNetwork: 7},
	} {
		check.Fails(t, check.Err(policy.Compile(rules)), nil, want)
	}
}

func TestOnlyWebAddressesAreOpened(t *testing.T) {
	p := compile(t, policy.Rules{PrivateNetwork: policy.PrivateAllowed})
	for url, want := range map[string]string{
		"about:blank": "", "ABOUT:blank": "", "http://a.example": "", "wss://a.example": "",
		"about:blank#x": policy.RuleScheme, "about:srcdoc": policy.RuleScheme, "about:config": policy.RuleScheme,
		"file:///etc/passwd": policy.RuleScheme,
		"data:text/html,x":   policy.RuleScheme, "javascript:alert(1)": policy.RuleScheme,
		"java\nscript:alert(1)":        policy.RuleScheme,
		"view-source:http://a.example": policy.RuleScheme, "blob:http://a.example/1": policy.RuleScheme,
		"filesystem:http://a.example/": policy.RuleScheme,
		"ftp://a.example":              policy.RuleScheme, "chrome://version": policy.RuleScheme,
		"devtools://x":          policy.RuleScheme,
		"unix:/run/x":           policy.RuleScheme,
		"chrome-extension://x/": policy.RuleScheme, "": policy.RuleMalformed, "example.com": policy.RuleMalformed,
		"1http://a.example":   policy.RuleMalformed,
		"a0+-.z9://a.example": policy.RuleScheme, "a~b://a.example": policy.RuleMalformed, "a:": policy.RuleScheme,
		"+a:x": policy.RuleMalformed,
	} {
		check.Equal(t, url, judged(t, p, url, ""), want)
	}
	for _, url := range []string{"ws://a.example/", "wss://a.example/"} {
		if _, err := p.CheckEnteredURL(url); ruleOf(t, err) != policy.RuleScheme {
			t.Errorf("%q was given: got %v", url, err)
		}
	}
}

func TestGivenAddressesCarryNoSecrets(t *testing.T) {
	p := compile(t, policy.Rules{})
	const secret = "hunter2"
	for _, url := range []string{
		"https://u:hunter2@a.example/", "https://hunter2@a.example/", "https://a.example/?token=hunter2",
		"https://a.example/x?a=1&API_KEY=hunter2#x",
		"https://a.example/?pass%77ord=hunter2", "https://a.example/?X-Amz-Signature=hunter2",
		"https://a.example/?client-secret=hunter2",
	} {
		_, err := p.CheckEnteredURL(url)
		if got := ruleOf(t, err); got != policy.RuleCredentials {
			t.Errorf("%s: got %q", url, got)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("the refusal shows the secret: %v", err)
		}
		check.Equal(t, url+" in a page", judged(t, p, url, ""), "")
	}
	for _, url := range []string{
		"https://a.example/", "https://a.example/?q=token", "https://a.example/?token=",
		"https://a.example/?key=1&tokens=3&page=2", "https://a.example/token=1", "https://a.example/#token=1",
	} {
		if _, err := p.CheckEnteredURL(url); err != nil {
			t.Errorf("%s: got %v", url, err)
		}
	}
	// What cannot be read is not repeated with its secrets either.
	if _, err := p.CheckEnteredURL("http://u:hunter2@[bad/?token=hunter2"); ruleOf(t, err) != policy.RuleMalformed ||
		strings.Contains(err.Error(), secret) {
		t.Errorf("got %v", err)
	}
}

func TestConnectIsJudgedLikeAddresses(t *testing.T) {
	p := compile(t, policy.Rules{})
	for host, want := range map[string]string{
		"example.com": "", "EXAMPLE.com.": "", "8.8.8.8": "", "2606:4700::1111": "", "[2606:4700::1111]": "",
		"127.1": policy.RulePrivate, "::1": policy.RulePrivate, "[::1]": policy.RulePrivate,
		"localhost":    policy.RuleLocalName,
		"fe80::1%eth0": policy.RuleMalformed, "a@b": policy.RuleMalformed, "": policy.RuleMalformed,
		"a/b": policy.RuleMalformed, "a\r\nb": policy.RuleMalformed,
	} {
		if _, err := p.CheckHostPort(host, 443); ruleOf(t, err) != want {
			t.Errorf("%q: got %v, want %q", host, err, want)
		}
	}
	if _, err := p.CheckHostPort("example.com", 0); ruleOf(t, err) != policy.RulePort {
		t.Errorf("port 0: got %v", err)
	}
	target, err := p.CheckHostPort("[2606:4700:0::1111]", 8443)
	if want := (policy.Target{
		Host: "2606:4700::1111", Port: 8443,
		Literal: netip.MustParseAddr("2606:4700::1111"),
	}); err != nil || target != want {
		t.Errorf("got %+v, %v, want %+v", target, err, want)
	}
}

// CVE-2026-43582: a name was checked by one DNS answer and connected by another. Here each address is checked
// separately, so an earlier good answer does not matter.
func TestAdvisoryAnswersThatChange(t *testing.T) {
	p := compile(t, policy.Rules{})
	target, err := p.CheckURL("http://rebound.example/")
	check.Must(t, err)
	for _, step := range []struct{ addr, want string }{
		{"93.184.215.14", ""},
		{"127.0.0.1", policy.RulePrivate},
		{"93.184.215.14", ""},
		{"::ffff:169.254.169.254", policy.RuleMetadata},
		{"64:ff9b::10.0.0.1", policy.RulePrivate},
	} {
		check.Equal(t, step.addr, ruleOf(t, p.CheckIP(target, netip.MustParseAddr(step.addr))), step.want)
	}
}

func TestRefusalsSayWhatWhyAndTheWayOut(t *testing.T) {
	rules := policy.Rules{
		BlockedHosts: []string{"ads.example", "10.9.9.9"}, Ports: []policy.PortRange{{First: 25, Last: 25}},
		Own: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080")},
	}
	const allow = `The operator can allow this host under "Allowed hosts" in the settings.`
	for _, tt := range []struct{ url, resolved, want string }{
		{"http://10.0.0.1/", "", "10.0.0.1 is not a public address (private use, RFC 1918). " + allow},
		{"http://nas.example/", "10.0.0.1", "nas.example leads to 10.0.0.1, which is not a public address (private use, " +
			"RFC 1918). " + allow},
		{"http://[64:ff9b::7f00:1]/", "", "64:ff9b::7f00:1, which is 127.0.0.1, is not a public address (loopback, " +
			"RFC 1122). " + allow},
		{"http://[4000::1]/", "", "4000::1 is not a public address (not assigned to the public internet). " + allow},
		{"http://x.example/", "169.254.169.254", "x.example leads to 169.254.169.254, which is an address of a cloud's own " +
			"services (instance metadata). " + allow},
		{"http://localhost:3000/", "", "localhost is a name for this machine or its own network. " + allow},
		{"http://a.example:25/", "", "port 25 of a.example is refused. " + allow},
		{
			"http://ads.example/", "",
			`ads.example is on the operator's list of refused hosts. The operator can take it from "Blocked hosts" in the settings.`,
		},
		{
			"http://a.example/", "10.9.9.9",
			`a.example leads to 10.9.9.9, which is on the operator's list of refused hosts. The operator can take it from "Blocked hosts" in the settings.`,
		},
		{"http://a.example:8080/", "127.0.0.1", "port 8080 of 127.0.0.1 belongs to this program, and pages may not reach " +
			"it. No setting allows it."},
		{"file:///etc/passwd", "", `unsupported protocol "file:": only http and https can be opened`},
		{"http://", "", `Invalid URL: "http://": the host is missing: give a whole address such as https://example.com/`},
		{"ht tp://a.example/", "", `Invalid URL: "ht tp://a.example/": it does not begin with http:// or https://: ` +
			`give a whole address such as https://example.com/`},
	} {
		p := compile(t, rules)
		target, err := p.CheckURL(tt.url)
		if err == nil {
			err = p.CheckIP(target, netip.MustParseAddr(tt.resolved))
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s:\ngot  %v\nwant %s", tt.url, err, tt.want)
		}
	}
	_, err := compile(t, policy.Rules{HostAllowlist: []string{"a.example"}}).CheckURL("http://b.example/")
	if want := `b.example is not on the operator's list of the only hosts that may be reached. The operator can add it under "Only these hosts" in the settings.`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	_, err = compile(t, policy.Rules{PrivateNetwork: policy.PrivateStrict}).CheckURL("http://b.example/")
	if want := "b.example is a host name, and the settings let only listed names be reached. " + allow; err == nil ||
		err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestARefusalOfALongAddressIsShort(t *testing.T) {
	_, err := compile(t, policy.Rules{}).CheckURL("http://" + strings.Repeat("ä", 100_000))
	if err == nil || len(err.Error()) > 500 {
		t.Errorf("got %d bytes", len(err.Error()))
	}
}

func TestEachPartOfTheRegistriesHasAName(t *testing.T) {
	p := compile(t, policy.Rules{})
	target := policy.Target{Host: "a.example", Port: 443}
	for _, prefix := range append(ssrf.IPv4DeniedPrefixes, ssrf.IPv6DeniedPrefixes...) {
		// The last address of each: the first ones of some are in a narrower part.
		b := prefix.Masked().Addr().AsSlice()
		for i := prefix.Bits(); i < len(b)*8; i++ {
			b[i/8] |= 0x80 >> (i % 8)
		}
		addr, _ := netip.AddrFromSlice(b)
		check.Fails(t, p.CheckIP(target, addr), nil, "RFC ")
	}
}

func TestAnAddressWithAZoneOrNoneAtAllIsRefused(t *testing.T) {
	p, target := compile(t, policy.Rules{}), policy.Target{Host: "a.example", Port: 443}
	for _, addr := range []netip.Addr{{}, netip.MustParseAddr("2606:4700::1111%eth0")} {
		check.Fails(t, p.CheckIP(target, addr), nil, "zone")
	}
	check.Must(t, p.CheckIP(target, netip.MustParseAddr("2606:4700::1111"))) // the address without its zone
}

func ExamplePolicy_CheckURL() {
	p, err := policy.Compile(policy.Rules{AllowedHosts: []string{"printer.local"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, raw := range []string{"https://example.com/", "http://printer.local/", "http://0x7f.1/", "file:///etc/passwd"} {
		_, err := p.CheckURL(raw)
		if refusal, ok := errors.AsType[*policy.Refusal](err); ok {
			fmt.Println(raw, "is refused by rule", refusal.Rule)
			continue
		}
		fmt.Println(raw, "may be reached")
	}
	// Output:
	// https://example.com/ may be reached
	// http://printer.local/ may be reached
	// http://0x7f.1/ is refused by rule private-address
	// file:///etc/passwd is refused by rule scheme
}
