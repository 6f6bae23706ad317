package policy_test

import (
	"net/netip"
	"strings"
	"testing"

	"clank/browsermgr/egress/policy"

	"code.dny.dev/ssrf"
)

func TestRefusalsSayWhatWhyAndTheWayOut(t *testing.T) {
	rules := policy.Rules{
		BlockedHosts: []string{"ads.example", "10.9.9.9"}, Ports: []policy.PortRange{{First: 25, Last: 25}},
		Own: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080")},
	}
	const allow = `The operator can allow this host under "Allowed hosts" in the settings.`
	for _, tt := range []struct{ url, resolved, want string }{
		{"http://10.0.0.1/", "", "10.0.0.1 is not a public address (private use, RFC 1918). " + allow},
		{"http://nas.example/", "10.0.0.1", "nas.example leads to 10.0.0.1, which is not a public address (private use, RFC 1918). " + allow},
		{"http://[64:ff9b::7f00:1]/", "", "64:ff9b::7f00:1, which is 127.0.0.1, is not a public address (loopback, RFC 1122). " + allow},
		{"http://[4000::1]/", "", "4000::1 is not a public address (not assigned to the public internet). " + allow},
		{"http://x.example/", "169.254.169.254", "x.example leads to 169.254.169.254, which is an address of a cloud's own services (instance metadata). " + allow},
		{"http://localhost:3000/", "", "localhost is a name for this machine or its own network. " + allow},
		{"http://a.example:25/", "", "port 25 of a.example is refused. " + allow},
		{"http://ads.example/", "", `ads.example is on the operator's list of refused hosts. The operator can take it from "Blocked hosts" in the settings.`},
		{"http://a.example/", "10.9.9.9", `a.example leads to 10.9.9.9, which is on the operator's list of refused hosts. The operator can take it from "Blocked hosts" in the settings.`},
		{"http://a.example:8080/", "127.0.0.1", "port 8080 of 127.0.0.1 belongs to this program, and pages may not reach it. No setting allows it."},
		{"file:///etc/passwd", "", `unsupported protocol "file:": only http and https can be opened`},
		{"http://", "", `Invalid URL: "http://": the host is missing: give a whole address such as https://example.com/`},
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
	if want := "b.example is a host name, and the settings let only listed names be reached. " + allow; err == nil || err.Error() != want {
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
		err := p.CheckIP(target, addr)
		if err == nil || !strings.Contains(err.Error(), "RFC ") {
			t.Errorf("%s: got %v, want the name of %s", addr, err, prefix)
		}
	}
}
