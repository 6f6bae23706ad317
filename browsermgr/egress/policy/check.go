package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// localNames are names for this machine and its network, as are all names below localSuffixes.
var (
	localNames    = []string{"localhost", "localhost.localdomain", "local", "internal"}
	localSuffixes = []string{".localhost", ".localhost.localdomain", ".local", ".internal"}
)

// checkTarget performs all checks of a target that need no DNS.
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

// portRefused reports whether the port is refused. Port 0 always is.
func (p *Policy) portRefused(t Target) bool {
	if t.Port == 0 {
		return true
	}
	if !slices.ContainsFunc(p.ports, func(r PortRange) bool { return r.First <= t.Port && t.Port <= r.Last }) {
		return false
	}
	return !slices.ContainsFunc(p.allowed, func(a hostPattern) bool { return a.port != 0 && a.match(t) })
}

// CheckIP checks an address that the already checked host of t resolves to. Every address of a host must be checked,
// and the connection must use one of them. Its errors are of type [*Refusal].
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
	named := anyMatch(p.allowed, t)
	if p.private == PrivateAllowed || named && t.Literal.IsValid() {
		return nil
	}
	for _, a := range all {
		switch rule, registry := p.notPublic(a); {
		case rule == "", named && !p.needsAddress(t, a, rule):
		case named:
			return &Refusal{Host: t.Host, Port: t.Port, Scheme: t.Scheme, Addr: a, Rule: rule, Registry: registry, Named: true}
		default:
			return refuse(rule, a, registry)
		}
	}
	return nil
}

// notPublic returns the rule that refuses an address that no list names, and the address's purpose; rule is "" if it is
// public.
func (p *Policy) notPublic(addr netip.Addr) (rule, registry string) {
	if name, found := findEntry(metadata, addr); found {
		return RuleMetadata, name
	}
	if p.guardian.SafeAddr(addr) != nil {
		return RulePrivate, registryOf(addr)
	}
	if slices.Contains(p.interfaces, addr) {
		return RulePrivate, "this machine"
	}
	if slices.Contains(p.gateways, addr) {
		return RulePrivate, "the router of this machine"
	}
	if _, special := findEntry(specialPurpose, addr); !special &&
		slices.ContainsFunc(p.links, func(link netip.Prefix) bool { return link.Contains(addr) }) {
		return RulePrivate, "the network of this machine"
	}
	return "", ""
}

// needsAddress reports whether a name in AllowedHosts does not suffice to reach an address that it resolves to.
func (p *Policy) needsAddress(t Target, addr netip.Addr, rule string) bool {
	here := isThisMachine(addr) || slices.Contains(p.interfaces, addr)
	if here && addr.IsLoopback() && (t.Host == "localhost" || strings.HasSuffix(t.Host, ".localhost")) {
		return false
	}
	return (here || rule == RuleMetadata) &&
		!slices.ContainsFunc(p.allowed, func(a hostPattern) bool { return a.has(addr, t.Port) })
}

// isOwn reports whether connecting there reaches a listener of this program.
func (p *Policy) isOwn(addr netip.Addr, port uint16) bool {
	return slices.ContainsFunc(p.own, func(own netip.AddrPort) bool {
		a := own.Addr().Unmap()
		return own.Port() == port &&
			(a == addr || isThisMachine(a) && isThisMachine(addr) || a.IsUnspecified() && slices.Contains(p.interfaces, addr))
	})
}

// isThisMachine reports whether connections to the address stay on this machine.
func isThisMachine(addr netip.Addr) bool { return addr.IsLoopback() || addr.IsUnspecified() }

// Values of Refusal.Rule. They are stable: programs and metrics use them.
const (
	RuleMalformed   = "malformed"        // not a web address, or parsers disagree about it
	RuleScheme      = "scheme"           // neither http nor https
	RuleCredentials = "credentials"      // the given address contains a secret
	RulePort        = "port"             // the port is refused
	RuleBlocked     = "host-blocked"     // the host is in BlockedHosts
	RuleNotOnList   = "not-on-list"      // the host is not in HostAllowlist
	RuleStrict      = "strict"           // an unlisted name in strict mode
	RuleLocalName   = "local-name"       // a name for this machine or its network
	RulePrivate     = "private-address"  // not an address of the public internet
	RuleMetadata    = "metadata-address" // a cloud metadata service
	RuleOwnListener = "own-address"      // a listener of this program
)

// Refusal is the error of all refusals. Fields that are unknown or do not apply are zero.
type Refusal struct { //nolint:errname // a person reads what is refused, not what went wrong
	// Host is the parsed host: ASCII, lower case, no brackets. Of a malformed one it is an excerpt.
	Host string
	// Addr is the address that was finally refused, such as an IPv4 address embedded in another one.
	Addr netip.Addr
	// Port is 0 if it was not parsed.
	Port uint16
	// Scheme has no colon.
	Scheme string
	// Rule is one of the Rule constants.
	Rule string
	// Registry is the entry of IANA's special-purpose registries, or another purpose of the address.
	Registry string
	// Detail adds to the reason, for rules that need it.
	Detail string
	// Named reports that "Allowed hosts" has the host's name, which does not suffice for this address.
	Named bool
}

const (
	hintAllow = `The operator can allow this host under "Allowed hosts" in the settings.`
	hintList  = `The operator can add it under "Only these hosts" in the settings.`
	hintBlock = `The operator can take it from "Blocked hosts" in the settings.`
	hintAddr  = `The name is in "Allowed hosts", but anybody could let it lead there: the operator can add the address %s as well.`
	hintNone  = "No setting allows it."
)

// Error returns a sentence or two for a person: what was refused, why, and how to allow it.
func (r *Refusal) Error() string {
	switch r.Rule {
	case RuleMalformed:
		return fmt.Sprintf("Invalid URL: %s: give a whole address such as https://example.com/", r.Detail)
	case RuleScheme:
		return fmt.Sprintf("unsupported protocol %q: only http and https can be opened", r.Scheme+":")
	case RuleCredentials:
		return "Invalid URL: " + r.Detail
	case RulePort:
		return fmt.Sprintf("port %d of %s is refused. %s", r.Port, r.Host, hintAllow)
	case RuleBlocked:
		return fmt.Sprintf("%s is on the operator's list of refused hosts. %s", r.subject(), hintBlock)
	case RuleNotOnList:
		return fmt.Sprintf("%s is not on the operator's list of the only hosts that may be reached. %s", r.Host, hintList)
	case RuleStrict:
		return fmt.Sprintf("%s is a host name, and the settings let only listed names be reached. %s", r.Host, hintAllow)
	case RuleLocalName:
		return fmt.Sprintf("%s is a name for this machine or its own network. %s", r.Host, hintAllow)
	case RuleOwnListener:
		return fmt.Sprintf("port %d of %s belongs to this program, and pages may not reach it. %s", r.Port, r.Addr, hintNone)
	case RuleMetadata:
		return fmt.Sprintf("%s is an address of a cloud's own services (%s). %s", r.subject(), r.Registry, r.hint())
	}
	return fmt.Sprintf("%s is not a public address (%s). %s", r.subject(), r.Registry, r.hint())
}

func (r *Refusal) hint() string {
	if r.Named {
		return fmt.Sprintf(hintAddr, r.Addr)
	}
	return hintAllow
}

// subject names the host, and the address if it differs.
func (r *Refusal) subject() string {
	if !r.Addr.IsValid() || r.Host == r.Addr.String() {
		return r.Host
	}
	if addr, err := netip.ParseAddr(r.Host); err == nil && addr.IsValid() {
		return fmt.Sprintf("%s, which is %s,", r.Host, r.Addr)
	}
	return fmt.Sprintf("%s leads to %s, which", r.Host, r.Addr)
}

// malformedRefusal returns the refusal of an unparsable address, without its password and parameters.
func malformedRefusal(raw, why string) *Refusal {
	if end := strings.IndexAny(raw, "?#"); end >= 0 {
		raw = raw[:end] + "…"
	}
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		raw = "…" + raw[at:]
	}
	return &Refusal{Host: excerpt(raw), Rule: RuleMalformed, Detail: fmt.Sprintf("%q: %s", excerpt(raw), why)}
}

// excerpt shortens a text to fit a sentence.
func excerpt(s string) string {
	const most = 80
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
