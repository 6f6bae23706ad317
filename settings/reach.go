package settings

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Reach is what pages may reach.
type Reach struct {
	PrivateNetwork string // see the Private constants
	AllowedHosts   string // skip the check for private addresses; one a line, see [Hosts]
	HostAllowlist  string // if not empty, the only hosts that may be reached
	BlockedHosts   string
	AllowBenchmark bool   // 198.18.0.0/15
	AllowULA       bool   // fc00::/7
	AskNewHosts    bool   // a person is asked before a host is reached for the first time
	Upstreams      string // one "profile address" a line, see [Reach.Upstream]
}

// Values of [Reach.PrivateNetwork].
const (
	PrivateUnset   = ""      // private addresses are refused, public host names are allowed
	PrivateAllowed = "true"  // everything is allowed
	PrivateStrict  = "false" // and host names must be on a list
)

const (
	reachKeys  = runtimeKeys + "ssrfPolicy."
	privateKey = reachKeys + "dangerouslyAllowPrivateNetwork"
	groupReach = "What pages may reach"
)

// aliases are other names of fields, under which they may be set.
var aliases = map[string]string{reachKeys + "allowPrivateNetwork": privateKey}

// reachFields are the part of the table that is about what pages may reach.
var reachFields = []Field{
	{
		Key: privateKey, Group: groupReach, Label: "Private networks",
		Effect: "Whether pages may reach this machine and private networks. Everything also opens your network to every page that is hostile.",
		Kind:   Choice, Default: PrivateUnset, at: func(s *Settings) any { return &s.Reach.PrivateNetwork },
		Options: []Option{
			{PrivateUnset, "Public hosts only"}, {PrivateStrict, "Public addresses and listed hosts only"}, {PrivateAllowed, "Everything (dangerous)"},
		},
	},
	{
		Key: reachKeys + "allowedHostnames", Group: groupReach, Label: "Hosts that may be reached",
		Effect: "Hosts that pages may reach though their addresses are private, one a line: a name or an address, *.name for all below it, with :port for one port only.",
		Kind:   LongText, Default: "", MaxLen: longTextMax, at: func(s *Settings) any { return &s.Reach.AllowedHosts },
	},
	{
		Key: reachKeys + "hostnameAllowlist", Group: groupReach, Label: "Only these hosts",
		Effect: "If there are any, pages reach these hosts and no others, one a line.",
		Kind:   LongText, Default: "", MaxLen: longTextMax, at: func(s *Settings) any { return &s.Reach.HostAllowlist },
	},
	{
		Key: reachKeys + "blockedHostnames", Group: groupReach, Label: "Never these hosts",
		Effect: "Hosts that pages never reach, whatever else allows them, one a line.",
		Kind:   LongText, Default: "", MaxLen: longTextMax, at: func(s *Settings) any { return &s.Reach.BlockedHosts },
	},
	{
		Key: reachKeys + "allowRfc2544BenchmarkRange", Group: groupReach, Label: "Benchmark addresses",
		Effect: "Allows 198.18.0.0/15, where some proxies and VPNs put made-up addresses.",
		Kind:   Toggle, Default: false, at: func(s *Settings) any { return &s.Reach.AllowBenchmark },
	},
	{
		Key: reachKeys + "allowIpv6UniqueLocalRange", Group: groupReach, Label: "IPv6 unique local addresses",
		Effect: "Allows fc00::/7, where some proxies and VPNs put made-up addresses.",
		Kind:   Toggle, Default: false, at: func(s *Settings) any { return &s.Reach.AllowULA },
	},
	{
		Key: reachKeys + "askNewHosts", Group: groupReach, Label: "Ask about new hosts",
		Effect: "A person is asked, in Discord or on this page, before a browser reaches a host for the first time. Without an answer it is refused.",
		Kind:   Toggle, Default: false, at: func(s *Settings) any { return &s.Reach.AskNewHosts },
	},
	{
		Key: reachKeys + "upstreamProxies", Group: groupReach, Label: "Proxies behind ours",
		Effect: "Where the traffic of a profile goes after it was checked, one \"profile address\" a line, such as \"work socks5://10.0.0.1:1080\". * stands for all other profiles. Their user and password are the secret CLANK_UPSTREAM_LOGIN.",
		Kind:   LongText, Default: "", MaxLen: longTextMax, check: checkUpstreams, at: func(s *Settings) any { return &s.Reach.Upstreams },
	},
}

// Hosts are the entries of a list of hosts: what spaces, commas and line ends divide.
func Hosts(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// Upstream is the proxy behind ours for a profile; nil if there is none.
func (r Reach) Upstream(profile string) *url.URL {
	var rest *url.URL
	for line := range strings.Lines(r.Upstreams) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		u, err := url.Parse(f[1])
		switch {
		case err != nil:
		case f[0] == profile:
			return u
		case f[0] == "*":
			rest = u
		}
	}
	return rest
}

// checkUpstreams wants lines of a profile and the address of a proxy.
func checkUpstreams(v string) error {
	for line := range strings.Lines(v) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return fmt.Errorf("must have a profile and an address on each line, unlike %q", strings.TrimSpace(line))
		}
		u, err := url.Parse(f[1])
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
			return fmt.Errorf("must have the address of an http, https or socks5 proxy after the profile %q", f[0])
		}
		if u.User != nil {
			return errors.New("must not hold a user name or password; they are the secret CLANK_UPSTREAM_LOGIN")
		}
	}
	return nil
}
