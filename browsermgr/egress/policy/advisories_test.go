package policy_test

import (
	"net/netip"
	"testing"

	"clank/browsermgr/egress/policy"
)

// CVE-2026-43527: what nobody had configured was allowed, the operator's network too.
func TestAdvisoryPermissiveDefault(t *testing.T) {
	p := compile(t, policy.Rules{})
	for _, a := range []ask{
		{"http://192.168.0.1/", "", policy.RulePrivate},
		{"http://router.example/", "192.168.0.1", policy.RulePrivate},
		{"http://localhost:8080/", "", policy.RuleLocalName},
		{"http://169.254.169.254/latest/meta-data/", "", policy.RuleMetadata},
		{"https://example.com/", "93.184.215.14", ""}, // the later answer, to allow listed names only, was taken back
	} {
		if got := judged(t, p, a.url, a.resolved); got != a.want {
			t.Errorf("%s at %q: got %q, want %q", a.url, a.resolved, got, a.want)
		}
	}
}

// CVE-2026-43582: a name was judged by one answer of the DNS and connected to by another. Here each address is judged
// for itself, and a name that has been good once gives the next address nothing.
func TestAdvisoryAnswersThatChange(t *testing.T) {
	p := compile(t, policy.Rules{})
	target, err := p.CheckURL("http://rebound.example/")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ addr, want string }{
		{"93.184.215.14", ""},
		{"127.0.0.1", policy.RulePrivate},
		{"93.184.215.14", ""},
		{"::ffff:169.254.169.254", policy.RuleMetadata},
		{"64:ff9b::10.0.0.1", policy.RulePrivate},
	} {
		if got := ruleOf(t, p.CheckIP(target, netip.MustParseAddr(step.addr))); got != step.want {
			t.Errorf("%s: got %q, want %q", step.addr, got, step.want)
		}
	}
}

// Redirects were judged by where they began. Each hop is a request, and judged like any other.
func TestAdvisoryHopsOfARedirect(t *testing.T) {
	p := compile(t, policy.Rules{HostAllowlist: []string{"*.example"}})
	for _, a := range []ask{
		{"https://start.example/", "93.184.215.14", ""},
		{"http://10.0.0.1/", "", policy.RuleNotOnList},
		{"https://other.test/", "", policy.RuleNotOnList},
		{"file:///etc/passwd", "", policy.RuleScheme},
		{"http://inside.example/", "10.0.0.1", policy.RulePrivate},
	} {
		if got := judged(t, p, a.url, a.resolved); got != a.want {
			t.Errorf("%s at %q: got %q, want %q", a.url, a.resolved, got, a.want)
		}
	}
}
