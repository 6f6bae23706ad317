package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"code.dny.dev/ssrf"
)

// PrivateAccess says what becomes of private addresses: of all that are not the public internet's.
type PrivateAccess int

const (
	// PrivateUnset refuses private addresses and allows public host names, whose addresses are judged when they are
	// resolved.
	PrivateUnset PrivateAccess = iota
	// PrivateAllowed judges no addresses: everything but blocked hosts, other ports and our own listeners may be
	// reached.
	PrivateAllowed
	// PrivateStrict refuses private addresses, and host names unless AllowedHosts or HostAllowlist has them.
	PrivateStrict
)

// Rules hold what the operator's settings say. The zero value refuses private addresses and allows public hosts.
//
// A host in a list is a name or an address in any spelling, or "*.x" for all names below x but not x itself; ":port"
// after it narrows it to one port. A bare "*" is ignored, as the contract has it, except in BlockedHosts.
type Rules struct {
	// PrivateNetwork is dangerouslyAllowPrivateNetwork (or allowPrivateNetwork) of the contract: not set, true or
	// false.
	PrivateNetwork PrivateAccess
	// AllowedHosts (allowedHostnames) skip the check for private addresses. A name does not stand for this machine or
	// for a cloud's metadata, since whoever owns the name chooses where it leads: these need their address in the list,
	// too. Only localhost and the names below it mean loopback by themselves.
	AllowedHosts []string
	// HostAllowlist (hostnameAllowlist), if it is not empty, has the only hosts that may be reached at all. Their
	// addresses are judged as ever.
	HostAllowlist []string
	// BlockedHosts are refused whatever else allows them; an address among them also when a name resolves to it.
	BlockedHosts []string
	// AllowBenchmark (allowRfc2544BenchmarkRange) allows 198.18.0.0/15, AllowULA (allowIpv6UniqueLocalRange) allows
	// fc00::/7. Proxies that answer for made-up addresses use them. Metadata services in there stay refused.
	AllowBenchmark, AllowULA bool
	// Ports are refused, unless an entry of AllowedHosts names the host with the port. Chromium refuses its own list of
	// restricted ports besides.
	Ports []PortRange
	// Own are the listeners of this program, which no page may reach whatever the other fields say. A loopback or
	// unspecified address stands for all of loopback, since a connection to one may arrive at the other; an unspecified
	// one for Machine's interfaces besides.
	Own []netip.AddrPort
	// Machine is what of the internet is this machine or its own network: it counts as private.
	Machine Machine
}

// Machine holds the addresses and networks of this machine.
type Machine struct {
	// Interfaces are the addresses of its interfaces, each with the prefix that is on its link. What the registries call
	// special is not made private by a prefix, since AllowBenchmark and AllowULA are about it.
	Interfaces []netip.Prefix
	// Gateways are its routers.
	Gateways []netip.Addr
}

// widestLink returns how many bits a prefix must have to be taken for a link. Some tunnels claim half the internet.
func widestLink(addr netip.Addr) int {
	if addr.Is4() {
		return 8
	}
	return 32
}

// PortRange is the ports from First to Last, both included.
type PortRange struct{ First, Last uint16 }

// Policy judges hosts and addresses by its rules. It does not change and may be used from many goroutines.
type Policy struct {
	private                  PrivateAccess
	allowed, listed, blocked []hostPattern
	ula                      bool
	ports                    []PortRange
	own                      []netip.AddrPort
	interfaces, gateways     []netip.Addr
	links                    []netip.Prefix
	guardian                 *ssrf.Guardian
}

// Compile makes a Policy of rules. Its error names each entry that cannot be read.
func Compile(r Rules) (*Policy, error) {
	p := &Policy{private: r.PrivateNetwork, ula: r.AllowULA, ports: slices.Clone(r.Ports), own: slices.Clone(r.Own)}
	var errs [4]error
	p.allowed, errs[0] = parsePatterns("allowedHostnames", r.AllowedHosts)
	p.listed, errs[1] = parsePatterns("hostnameAllowlist", r.HostAllowlist)
	p.blocked, errs[2] = parsePatterns("blockedHostnames", r.BlockedHosts)
	if slices.Contains(r.BlockedHosts, "*") {
		errs[3] = errors.New(`blockedHostnames: "*" would be ignored: leave it out, or list the only hosts in hostnameAllowlist`)
	}
	for _, ports := range r.Ports {
		if ports.First > ports.Last {
			errs[3] = errors.Join(errs[3], fmt.Errorf("ports: %d-%d is upside down", ports.First, ports.Last))
		}
	}
	if r.PrivateNetwork < PrivateUnset || r.PrivateNetwork > PrivateStrict {
		errs[3] = errors.Join(errs[3], fmt.Errorf("private network: unknown mode %d", r.PrivateNetwork))
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	p.guardian = newGuardian(r)
	for _, prefix := range r.Machine.Interfaces {
		p.interfaces = append(p.interfaces, prefix.Addr().Unmap())
		if prefix.Bits() >= widestLink(prefix.Addr()) {
			p.links = append(p.links, prefix.Masked())
		}
	}
	p.gateways = slices.Clone(r.Machine.Gateways)
	return p, nil
}

// hostPattern is an entry of a list of hosts.
type hostPattern struct {
	host  string     // a name as [Target] has it
	addr  netip.Addr // instead of a name; IPv4 addresses are not mapped
	below bool       // the names below host, not host itself
	port  uint16     // 0 for any
}

// parsePatterns reads a list. Empty entries and a bare * are left out.
func parsePatterns(list string, entries []string) ([]hostPattern, error) {
	var ps []hostPattern
	var errs []error
	for _, entry := range entries {
		s := strings.TrimSpace(entry)
		if s == "" || s == "*" || s == "*." {
			continue
		}
		p, why := parsePattern(s)
		if why != "" {
			errs = append(errs, fmt.Errorf("%s: %q %s: write a host such as example.com, *.example.com, 10.0.0.5 or localhost:3000", list, entry, why))
			continue
		}
		ps = append(ps, p)
	}
	return ps, errors.Join(errs...)
}

// parsePattern reads one entry; why says what is wrong with it.
func parsePattern(s string) (p hostPattern, why string) {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return hostPattern{addr: addr.Unmap()}, ""
	}
	s, p.below = strings.CutPrefix(s, "*.")
	host, port, ok := cutPort(s)
	if !ok {
		return p, "has a malformed port or brackets: write a host only, such as example.com or example.com:8080, without http://"
	}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return p, "has a port that is no number from 1 to 65535"
		}
		p.port = uint16(n)
	}
	p.host, p.addr, why = parseHost(host)
	switch {
	case why != "":
		return p, why
	case p.addr.IsValid() && p.below:
		return p, "puts *. before an address"
	case p.addr.IsValid():
		p.addr = p.addr.Unmap()
	}
	return p, ""
}

// match says whether the entry has the host, at that port.
func (p hostPattern) match(t Target) bool {
	switch {
	case p.port != 0 && p.port != t.Port:
		return false
	case p.addr.IsValid():
		return t.Literal.IsValid() && p.addr == t.Literal.Unmap()
	case p.below:
		return !t.Literal.IsValid() && strings.HasSuffix(t.Host, "."+p.host)
	}
	return p.host == t.Host
}

// has says whether the entry names that address, at that port.
func (p hostPattern) has(addr netip.Addr, port uint16) bool {
	return p.addr == addr && (p.port == 0 || p.port == port)
}

// anyMatch says whether one of the entries has the host.
func anyMatch(ps []hostPattern, t Target) bool {
	return slices.ContainsFunc(ps, func(p hostPattern) bool { return p.match(t) })
}
