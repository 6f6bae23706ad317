package main

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

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/intercept"
	"clank/browsermgr/page"
	"clank/settings"
)

// allowVariable names the environment's list of hosts that pages may reach though their addresses are private, in the form of
// the setting: for containers and tests, which have no settings yet.
const allowVariable = "CLANK_ALLOWED_HOSTS"

// openGate makes ready what keeps pages from where they may not go. It is open before the browsers and closed after them.
func (a *app) openGate(ctx context.Context) error {
	a.allow = settings.Hosts(a.getenv(allowVariable))
	if _, err := policy.Compile(policy.Rules{AllowedHosts: a.allow}); err != nil {
		return fmt.Errorf("%s: %w", allowVariable, err)
	}
	login, err := settings.ReadSecret("CLANK_UPSTREAM_LOGIN", a.getenv)
	if err != nil {
		return err
	}
	a.gate = &egress.Gate{
		Rules:    a.rules,
		Upstream: func(profile string) *url.URL { return upstream(a.settings.Now().Reach, login, profile) },
		Ask:      func() bool { return a.settings.Now().Reach.AskNewHosts },
		Asker:    a.asker,
		Clean:    a.scrub,
		Logger:   a.logger,
	}
	if err := a.gate.Open(ctx); err != nil {
		return err
	}
	a.onClose(a.gate.Close)
	first := a.settings.Now().Browser.FirstPort
	for port := first; port < first+devToolsPorts; port++ {
		a.own.addPort(port)
	}
	return nil
}

// scrub takes the secrets of the vault out of a text.
func (a *app) scrub(text string) string {
	if a.vault == nil {
		return text
	}
	return a.vault.Scrub(text)
}

// guards has browsers do as the gate says.
func (a *app) guards(m *browsermgr.Manager) {
	m.Proxy = a.gate.Listen
	m.Watch = a.gate.Watch
	m.Explain = a.gate.Explain
	m.Refusals = a.gate.Count
	m.Door = a.own.addPort
	m.AllowEndpoint = a.allowEndpoint
	m.Guard = func(profile string, local bool) []page.Observer {
		if local {
			return []page.Observer{intercept.NewWitness(a.gate, profile)}
		}
		return []page.Observer{intercept.NewJudge(a.gate, profile, a.logger)}
	}
}

// upstream is the proxy behind ours, with its user and password.
func upstream(r settings.Reach, login settings.SecretValue, profile string) *url.URL {
	u := r.Upstream(profile)
	if u == nil || !login.Present() {
		return u
	}
	user, password, _ := strings.Cut(login.Reveal(), ":")
	u.User = url.UserPassword(user, password)
	return u
}

// rules are what the settings say of pages, and what holds whatever they say: the demo shop may be reached, and no door of
// this program may.
func (a *app) rules() policy.Rules {
	r := reachRules(a.settings.Now().Reach)
	r.Own = a.own.list()
	allow := a.allow
	if shop, err := url.Parse(a.shopURL); err == nil && shop.Host != "" {
		allow = append(slices.Clip(allow), shop.Host)
	}
	r.AllowedHosts = append(r.AllowedHosts, allow...)
	if len(r.HostAllowlist) > 0 {
		r.HostAllowlist = append(r.HostAllowlist, allow...)
	}
	return r
}

// reachRules are the rules of the settings alone.
func reachRules(r settings.Reach) policy.Rules {
	private := policy.Unset
	switch r.PrivateNetwork {
	case settings.PrivateAllowed:
		private = policy.Allowed
	case settings.PrivateStrict:
		private = policy.Strict
	}
	return policy.Rules{
		PrivateNetwork: private, AllowedHosts: settings.Hosts(r.AllowedHosts), HostAllowlist: settings.Hosts(r.HostAllowlist),
		BlockedHosts: settings.Hosts(r.BlockedHosts), AllowBenchmark: r.AllowBenchmark, AllowULA: r.AllowULA,
	}
}

// reachFaults says what is wrong with the settings about what pages may reach.
func reachFaults(s settings.Settings) []settings.FieldError {
	const keys = "agentStack.runtimeConfig.browser."
	var bad []settings.FieldError
	r := s.Reach
	for _, list := range []struct {
		key, text string
		rules     policy.Rules
	}{
		{"ssrfPolicy.allowedHostnames", r.AllowedHosts, policy.Rules{AllowedHosts: settings.Hosts(r.AllowedHosts)}},
		{"ssrfPolicy.hostnameAllowlist", r.HostAllowlist, policy.Rules{HostAllowlist: settings.Hosts(r.HostAllowlist)}},
		{"ssrfPolicy.blockedHostnames", r.BlockedHosts, policy.Rules{BlockedHosts: settings.Hosts(r.BlockedHosts)}},
	} {
		if _, err := policy.Compile(list.rules); err != nil {
			bad = append(bad, settings.FieldError{Key: keys + list.key, Value: list.text, Why: err.Error()})
		}
	}
	if flag := chrome.GoesAround(s.Browser.Args()); flag != "" && r.PrivateNetwork != settings.PrivateAllowed {
		bad = append(bad, settings.FieldError{Key: keys + "extraArgs", Value: flag, Why: chrome.ErrGoesAround.Error()})
	}
	if flag := chrome.OpensDoors(s.Browser.Args()); flag != "" {
		bad = append(bad, settings.FieldError{Key: keys + "extraArgs", Value: flag, Why: chrome.ErrOpensDoors.Error()})
	}
	return bad
}

// metadata are services of clouds that tell secrets to whoever asks: no browser is there.
var metadata = []string{"169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal", "100.100.100.200"}

// allowEndpoint judges where the DevTools of browsers on other machines may be. They are the operator's, who may well have
// them in the own network: rules for pages would be wrong here. What is refused are services that are no browsers: the
// doors of this program, and those that tell secrets. Where the settings are strict they hold for browsers, too.
func (a *app) allowEndpoint(ctx context.Context, address *url.URL) error {
	reach := a.settings.Now().Reach
	rules := reachRules(reach)
	if reach.PrivateNetwork != settings.PrivateStrict {
		rules.PrivateNetwork, rules.HostAllowlist = policy.Allowed, nil
	}
	rules.BlockedHosts = slices.Concat(rules.BlockedHosts, metadata)
	rules.Own = a.own.list()
	p, err := policy.Compile(rules)
	if err != nil {
		return err
	}
	plain := *address
	plain.User = nil
	t, err := p.Address(plain.String())
	if err != nil || t.Literal.IsValid() {
		return err
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.Host)
	if err != nil {
		return fmt.Errorf("look up where the browser is: %w", err)
	}
	for _, addr := range addrs {
		err = errors.Join(err, p.IP(t, addr.Unmap()))
	}
	return err
}

// doorplates are the addresses where this program listens: no page may reach them.
type doorplates struct {
	mu    sync.Mutex
	addrs []netip.AddrPort
}

func (d *doorplates) add(addr netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.addrs, addr) {
		d.addrs = append(slices.Clip(d.addrs), addr)
	}
}

// addPort adds a listener on the loopback interface.
func (d *doorplates) addPort(port int) {
	d.add(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))) //nolint:gosec // a port
}

// addURL adds the listener at a URL of ours.
func (d *doorplates) addURL(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("keep pages from %s: %w", address, err)
	}
	addr, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		return fmt.Errorf("keep pages from %s: %w", address, err)
	}
	d.add(addr)
	if !addr.Addr().IsUnspecified() {
		return nil
	}
	here, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("keep pages from %s: %w", address, err)
	}
	for _, a := range here {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			d.add(netip.AddrPortFrom(p.Addr(), addr.Port()))
		}
	}
	return nil
}

func (d *doorplates) list() []netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clip(d.addrs)
}

// keepPagesFrom has the gate refuse pages the address of a listener of ours.
func (a *app) keepPagesFrom(url string) error { return a.own.addURL(url) }
