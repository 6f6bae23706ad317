package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"clank/browsermgr/chrome"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/internal/settings"
)

// AllowedHostsEnv is the environment variable that lists private hosts that pages may reach, in the form of the
// setting: for containers and tests, which have no settings yet.
const AllowedHostsEnv = "CLANK_ALLOWED_HOSTS"

// openGate starts the egress proxy, which restricts what pages can reach. It opens before the browsers and closes
// after them.
func (a *Server) openGate(ctx context.Context) error {
	a.allowedHosts = settings.SplitHosts(a.getenv(AllowedHostsEnv))
	if _, err := policy.Compile(policy.Rules{AllowedHosts: a.allowedHosts}); err != nil {
		return fmt.Errorf("%s: %w", AllowedHostsEnv, err)
	}
	login, err := settings.ReadSecret("CLANK_UPSTREAM_LOGIN", a.getenv)
	if err != nil {
		return err
	}
	a.gate = &egress.Proxy{
		Config:   egressConfig{a, login},
		Approver: a.Approver,
		Logger:   a.logger,
	}
	if err := a.gate.Open(ctx); err != nil {
		return err
	}
	a.onClose(a.gate.Close)
	first := a.Settings.Current().Browser.FirstPort
	for port := first; port < first+devToolsPortCount; port++ {
		a.OwnListeners.addPort(port)
	}
	return nil
}

// egressConfig provides the settings to the browsers' proxy. It implements [egress.Config].
type egressConfig struct {
	*Server

	upstreamLogin settings.SecretValue // user:password, if set
}

// AskUnlisted implements [egress.Config].
func (a egressConfig) AskUnlisted() bool { return a.Settings.Current().NetworkAccess.AskNewHosts }

// Redact implements [egress.Config]: it removes the secrets of the vault.
func (a egressConfig) Redact(text string) string {
	if a.Vault == nil {
		return text
	}
	return a.Vault.Scrub(text)
}

// Upstream implements [egress.Config].
func (a egressConfig) Upstream(profile string) *url.URL {
	u := a.Settings.Current().NetworkAccess.UpstreamProxy(profile)
	if u == nil || !a.upstreamLogin.IsSet() {
		return u
	}
	user, password, _ := strings.Cut(a.upstreamLogin.Reveal(), ":")
	u.User = url.UserPassword(user, password)
	return u
}

// Rules implements [egress.Config]. In addition to the settings, the demo shop is allowed and this process's own
// listeners are blocked.
func (a egressConfig) Rules() policy.Rules {
	r := rulesFromSettings(a.Settings.Current().NetworkAccess)
	r.Own = a.OwnListeners.addresses()
	allow := a.allowedHosts
	if shop, err := url.Parse(a.ShopURL); err == nil && shop.Host != "" {
		allow = append(slices.Clip(allow), shop.Host)
	}
	r.AllowedHosts = append(r.AllowedHosts, allow...)
	if len(r.HostAllowlist) > 0 {
		r.HostAllowlist = append(r.HostAllowlist, allow...)
	}
	return r
}

// rulesFromSettings returns the rules of the settings alone.
func rulesFromSettings(r settings.NetworkAccess) policy.Rules {
	private := policy.PrivateUnset
	switch r.PrivateNetwork {
	case settings.PrivateAllowed:
		private = policy.PrivateAllowed
	case settings.PrivateStrict:
		private = policy.PrivateStrict
	}
	return policy.Rules{
		PrivateNetwork: private, AllowedHosts: settings.SplitHosts(r.AllowedHosts),
		HostAllowlist: settings.SplitHosts(r.HostAllowlist),
		BlockedHosts:  settings.SplitHosts(r.BlockedHosts), AllowBenchmark: r.AllowBenchmark, AllowULA: r.AllowULA,
	}
}

// CheckReach returns the errors in the settings of network access.
func CheckReach(s settings.Settings) []settings.FieldError {
	const keys = "agentStack.runtimeConfig.browser."
	var bad []settings.FieldError
	r := s.NetworkAccess
	for _, list := range []struct {
		key, text string
		rules     policy.Rules
	}{
		{"ssrfPolicy.allowedHostnames", r.AllowedHosts, policy.Rules{AllowedHosts: settings.SplitHosts(r.AllowedHosts)}},
		{"ssrfPolicy.hostnameAllowlist", r.HostAllowlist, policy.Rules{HostAllowlist: settings.SplitHosts(r.HostAllowlist)}},
		{"ssrfPolicy.blockedHostnames", r.BlockedHosts, policy.Rules{BlockedHosts: settings.SplitHosts(r.BlockedHosts)}},
	} {
		if _, err := policy.Compile(list.rules); err != nil {
			bad = append(bad, settings.FieldError{Key: keys + list.key, Value: list.text, Why: err.Error()})
		}
	}
	if flag := chrome.ProxyBypassFlag(s.Browser.Args()); flag != "" && r.PrivateNetwork != settings.PrivateAllowed {
		bad = append(bad, settings.FieldError{Key: keys + "extraArgs", Value: flag, Why: chrome.ErrProxyBypass.Error()})
	}
	if flag := chrome.DevToolsExposingFlag(s.Browser.Args()); flag != "" {
		bad = append(bad, settings.FieldError{Key: keys + "extraArgs", Value: flag, Why: chrome.ErrDevToolsExposed.Error()})
	}
	if flag := chrome.ProtectionWeakeningFlag(s.Browser.Args()); flag != "" {
		why := chrome.ErrProtectionWeakened.Error()
		bad = append(bad, settings.FieldError{Key: keys + "extraArgs", Value: flag, Why: why})
	}
	return bad
}

// cloudMetadataHosts are cloud metadata services, which hand out credentials to any client.
var cloudMetadataHosts = []string{"169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal", "100.100.100.200"}

// AllowEndpoint checks the DevTools address of a browser on another machine. The operator sets it, often to a private
// address, so the rules for pages do not apply. It refuses services that cannot be browsers: this process's own
// listeners and cloud metadata services. In strict mode the rules apply to browsers as well.
func (a *Server) AllowEndpoint(ctx context.Context, address *url.URL) error {
	p, t, err := a.judgeEndpoint(address)
	if err != nil || t.Literal.IsValid() {
		return err
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.Host)
	if err != nil {
		return fmt.Errorf("look up where the browser is: %w", err)
	}
	for _, addr := range addrs {
		err = errors.Join(err, p.CheckIP(t, addr.Unmap()))
	}
	return err
}

// AllowEndpointAddr checks the address to which the host of such an endpoint resolved.
func (a *Server) AllowEndpointAddr(address *url.URL, at netip.Addr) error {
	p, t, err := a.judgeEndpoint(address)
	if err != nil {
		return err
	}
	return p.CheckIP(t, at)
}

// judgeEndpoint checks the URL of an endpoint and returns the policy for its resolved addresses.
func (a *Server) judgeEndpoint(address *url.URL) (*policy.Policy, policy.Target, error) {
	reach := a.Settings.Current().NetworkAccess
	rules := rulesFromSettings(reach)
	if reach.PrivateNetwork != settings.PrivateStrict {
		rules.PrivateNetwork, rules.HostAllowlist = policy.PrivateAllowed, nil
	}
	rules.BlockedHosts = slices.Concat(rules.BlockedHosts, cloudMetadataHosts)
	rules.Own, rules.Machine = a.OwnListeners.addresses(), egress.ReadMachine()
	p, err := policy.Compile(rules)
	if err != nil {
		return nil, policy.Target{}, err
	}
	plain := *address
	plain.User = nil
	t, err := p.CheckURL(plain.String())
	return p, t, err
}

// listenerSet is the set of addresses where this process listens, which no page may reach.
type listenerSet struct {
	mu    sync.Mutex
	addrs []netip.AddrPort
}

func (d *listenerSet) Add(addr netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.addrs, addr) {
		d.addrs = append(slices.Clip(d.addrs), addr)
	}
}

// addPort adds a listener on the loopback interface.
func (d *listenerSet) addPort(port int) {
	d.Add(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))) //nolint:gosec // a port
}

// AddURL adds the listener at one of our URLs.
func (d *listenerSet) AddURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("keep pages from %s: %w", address, err)
	}
	addr, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		return fmt.Errorf("keep pages from %s: %w", address, err)
	}
	d.Add(addr)
	return nil
}

func (d *listenerSet) addresses() []netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clip(d.addrs)
}
