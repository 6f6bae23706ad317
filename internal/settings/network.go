package settings

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"clank/sessions"
)

// NetworkAccess configures what pages can reach.
type NetworkAccess struct {
	PrivateNetwork string // see the Private constants
	AllowedHosts   string // exempt from the check for private addresses; one per line, see [SplitHosts]
	HostAllowlist  string // if not empty, the only hosts that can be reached
	BlockedHosts   string
	AllowBenchmark bool   // 198.18.0.0/15
	AllowULA       bool   // fc00::/7
	AskNewHosts    bool   // ask a person before a host is reached for the first time
	Upstreams      string // one "profile address" per line, see [NetworkAccess.UpstreamProxy]
}

// Values of [NetworkAccess.PrivateNetwork].
const (
	PrivateUnset   = ""      // private addresses are blocked, public hosts are allowed
	PrivateAllowed = "true"  // everything is allowed
	PrivateStrict  = "false" // private addresses are blocked, and hosts must be on a list
)

const (
	networkKeys  = runtimeKeys + "ssrfPolicy."
	privateKey   = networkKeys + "dangerouslyAllowPrivateNetwork"
	groupNetwork = "Network access"
)

// keyAliases are alternative keys of settings.
var keyAliases = map[string]string{networkKeys + "allowPrivateNetwork": privateKey}

// networkFields are the settings of network access.
var networkFields = inGroup(groupNetwork,
	choice(privateKey, "Private networks", `Whether pages may reach this machine, also at its public `+
		`addresses, and the networks that it is in. "Everything" opens your network to hostile pages.`, PrivateUnset,
		&at.NetworkAccess.PrivateNetwork,
		Option{PrivateUnset, "Public hosts only"}, Option{PrivateStrict, "Public addresses and listed hosts only"},
		Option{PrivateAllowed, "Everything (dangerous)"}),
	longText(networkKeys+"allowedHostnames", "Allowed hosts", "Hosts that pages may reach even if their addresses "+
		"are private, one per line: a name or an address, *.name for all below it, :port for one port only. This "+
		"machine and a cloud's metadata service need their address in the list, not only a name.",
		&at.NetworkAccess.AllowedHosts),
	longText(networkKeys+"hostnameAllowlist", "Only these hosts", "If set, pages reach only these hosts, one per line.",
		&at.NetworkAccess.HostAllowlist),
	longText(networkKeys+"blockedHostnames", "Blocked hosts", "Hosts that pages never reach, whatever else allows "+
		"them, one per line.", &at.NetworkAccess.BlockedHosts),
	toggle(networkKeys+"allowRfc2544BenchmarkRange", "Benchmark addresses", "Allow 198.18.0.0/15, which some proxies "+
		"and VPNs use for synthetic addresses.", false, &at.NetworkAccess.AllowBenchmark),
	toggle(networkKeys+"allowIpv6UniqueLocalRange", "IPv6 unique local addresses", "Allow fc00::/7, which some "+
		"proxies and VPNs use for synthetic addresses.", false, &at.NetworkAccess.AllowULA),
	toggle(networkKeys+"askNewHosts", "Ask about new hosts", "Ask a person, in Discord or on this page, before a "+
		"browser reaches a host for the first time. No answer means no.", false, &at.NetworkAccess.AskNewHosts),
	longText(networkKeys+"upstreamProxies", "Upstream proxies", `Where a profile's traffic goes after it was `+
		`checked, one "profile address" per line, such as "work socks5://10.0.0.1:1080". * means all other profiles. `+
		`Their login is the secret CLANK_UPSTREAM_LOGIN.`, &at.NetworkAccess.Upstreams).checked(checkUpstreams),
)

// SplitHosts splits a list of hosts at spaces, commas and line breaks.
func SplitHosts(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// UpstreamProxy returns the upstream proxy of a profile; nil if there is none.
func (r NetworkAccess) UpstreamProxy(profile string) *url.URL {
	var rest *url.URL
	profile, _ = sessions.SplitProfile(profile) // the browser of a place uses the upstream proxy of its base profile
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

// checkUpstreams checks lines of a profile and the address of a proxy.
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
