package policy

import (
	"net/netip"
	"slices"
	"strings"
)

// localNames are names for the machine itself and for those of its network; so are all below localSuffixes.
var (
	localNames    = []string{"localhost", "localhost.localdomain", "local", "internal"}
	localSuffixes = []string{".localhost", ".localhost.localdomain", ".local", ".internal"}
)

// checkTarget makes all checks of a target that need no resolving.
func (p *Policy) checkTarget(t Target) error {
	refuse := func(rule string) error {
		return &Refusal{Host: t.Host, Port: t.Port, Scheme: t.Scheme, Addr: t.Literal, Rule: rule}
	}
	switch {
	case anyMatch(p.blocked, t):
		return refuse(RuleBlocked)
	case len(p.listed) > 0 && !anyMatch(p.listed, t):
		return refuse(RuleNotOnList)
	case p.portRefused(t):
		return refuse(RulePort)
	case t.Literal.IsValid():
		return p.CheckIP(t, t.Literal)
	case p.private == PrivateAllowed || anyMatch(p.allowed, t):
		return nil
	case isLocal(t.Host):
		return refuse(RuleLocalName)
	case p.private == PrivateStrict && len(p.listed) == 0:
		return refuse(RuleStrict)
	}
	return nil
}

func isLocal(host string) bool {
	return slices.Contains(localNames, host) ||
		slices.ContainsFunc(localSuffixes, func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}

// portRefused says whether the port is refused. Port 0 always is.
func (p *Policy) portRefused(t Target) bool {
	if t.Port == 0 {
		return true
	}
	if !slices.ContainsFunc(p.ports, func(r PortRange) bool { return r.First <= t.Port && t.Port <= r.Last }) {
		return false
	}
	return !slices.ContainsFunc(p.allowed, func(a hostPattern) bool { return a.port != 0 && a.match(t) })
}

// CheckIP judges an address that the host of t, which was judged before, resolves to. Every address of a host is to be
// judged, and the one that is connected to is to be one of them. Its errors are of type [*Refusal].
func (p *Policy) CheckIP(t Target, addr netip.Addr) error {
	refuse := func(rule string, addr netip.Addr, registry string) error {
		return &Refusal{Host: t.Host, Port: t.Port, Scheme: t.Scheme, Addr: addr, Rule: rule, Registry: registry}
	}
	if !addr.IsValid() || addr.Zone() != "" {
		return refuse(RulePrivate, addr, "an address with a zone, or none at all")
	}
	all := append([]netip.Addr{addr.Unmap()}, embedded(addr)...)
	for _, a := range all {
		switch {
		case p.isOwn(a, t.Port):
			return refuse(RuleOwnListener, a, "")
		case slices.ContainsFunc(p.blocked, func(b hostPattern) bool { return b.has(a, t.Port) }):
			return refuse(RuleBlocked, a, "")
		}
	}
	if p.private == PrivateAllowed || anyMatch(p.allowed, t) {
		return nil
	}
	for _, a := range all {
		if registry, found := findEntry(metadata, a); found {
			return refuse(RuleMetadata, a, registry)
		}
		if p.guardian.SafeAddr(a) != nil {
			return refuse(RulePrivate, a, registryOf(a))
		}
	}
	return nil
}

// isOwn says whether somebody who connects there reaches a listener of this program.
func (p *Policy) isOwn(addr netip.Addr, port uint16) bool {
	return slices.ContainsFunc(p.own, func(own netip.AddrPort) bool {
		a := own.Addr().Unmap()
		return own.Port() == port && (a == addr || isThisMachine(a) && isThisMachine(addr))
	})
}

// isThisMachine says whether connections to the address stay on this machine.
func isThisMachine(addr netip.Addr) bool { return addr.IsLoopback() || addr.IsUnspecified() }
