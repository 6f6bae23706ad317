package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

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
