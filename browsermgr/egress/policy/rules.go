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

// PrivateAccess says how to treat private addresses: all that do not belong to the public internet.
type PrivateAccess int

const (
	// PrivateUnset refuses private addresses and allows public host names, whose addresses are checked after resolving.
	PrivateUnset PrivateAccess = iota
	// PrivateAllowed does not check addresses: everything except blocked hosts, refused ports and our own listeners can
	// be reached.
	PrivateAllowed
	// PrivateStrict refuses private addresses, and host names that are not in AllowedHosts or HostAllowlist.
	PrivateStrict
)

// Rules holds the operator's settings. The zero value refuses private addresses and allows public hosts.
//
// A host in a list is a name or an address in any spelling, or "*.x" for all names below x but not x itself; ":port"
// after it limits it to one port. A bare "*" is ignored, as in the contract, except in BlockedHosts.
type Rules struct {
	// PrivateNetwork is the contract's dangerouslyAllowPrivateNetwork (or allowPrivateNetwork): unset, true or false.
	PrivateNetwork PrivateAccess
	// AllowedHosts (allowedHostnames) skip the check for private addresses. A name does not suffice for addresses of
	// this machine or of cloud metadata services, since the name's owner chooses its addresses: the list must also
	// contain the address. Only localhost and names below it imply loopback.
	AllowedHosts []string
	// HostAllowlist (hostnameAllowlist), if not empty, lists the only hosts that may be reached. Their addresses are
	// checked as usual.
	HostAllowlist []string
	// BlockedHosts are always refused; an IP address in it also if a name resolves to it.
	BlockedHosts []string
	// AllowBenchmark (allowRfc2544BenchmarkRange) allows 198.18.0.0/15, AllowULA (allowIpv6UniqueLocalRange) allows
	// fc00::/7. Fake-IP proxies use these ranges. Metadata services in them stay refused.
	AllowBenchmark, AllowULA bool
	// Ports are refused, unless an entry of AllowedHosts names the host with the port. Chromium also refuses its own
	// list of restricted ports.
	Ports []PortRange
	// Own lists the listeners of this program, which no page may reach. A loopback or unspecified address covers all of
	// loopback, since connections to one may reach the other; an unspecified one also covers Machine's interfaces.
	Own []netip.AddrPort
	// Machine describes this machine and its network, whose addresses count as private.
	Machine Machine
}

// Machine holds the addresses and networks of this machine.
type Machine struct {
	// Interfaces are the addresses of its interfaces, each with the prefix of its link. The prefix does not make
	// special-purpose addresses private, since AllowBenchmark and AllowULA apply to them.
	Interfaces []netip.Prefix
	// Gateways are the addresses of its routers.
	Gateways []netip.Addr
}

// widestLink returns the minimum length of a prefix that counts as a link, since some tunnels claim half the internet.
func widestLink(addr netip.Addr) int {
	if addr.Is4() {
		return 8
	}
	return 32
}

// PortRange is the ports from First to Last, inclusive.
type PortRange struct{ First, Last uint16 }

// Policy checks hosts and addresses by its rules. It is immutable and safe for concurrent use.
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

// Compile returns the Policy of rules. The error names each invalid entry.
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
	host  string     // a name, as in [Target]
	addr  netip.Addr // instead of a name; not IPv4-mapped
	below bool       // matches names below host, but not host itself
	port  uint16     // 0 for any
}

// parsePatterns parses a list, skipping empty entries and a bare *.
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
			errs = append(errs, fmt.Errorf("%s: %q %s: write a host such as example.com, *.example.com, 10.0.0.5 or "+
				"localhost:3000", list, entry, why))
			continue
		}
		ps = append(ps, p)
	}
	return ps, errors.Join(errs...)
}

// parsePattern parses an entry; why describes an error.
func parsePattern(s string) (p hostPattern, why string) {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" {
		return hostPattern{addr: addr.Unmap()}, ""
	}
	s, p.below = strings.CutPrefix(s, "*.")
	host, port, ok := cutPort(s)
	if !ok {
		return p, "has a malformed port or brackets: write a host only, such as example.com or example.com:8080, " +
			"without http://"
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

// match reports whether the entry matches the host and port.
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

// has reports whether the entry is that address, at that port.
func (p hostPattern) has(addr netip.Addr, port uint16) bool {
	return p.addr == addr && (p.port == 0 || p.port == port)
}

// anyMatch reports whether one of the entries matches the host.
func anyMatch(ps []hostPattern, t Target) bool {
	return slices.ContainsFunc(ps, func(p hostPattern) bool { return p.match(t) })
}
