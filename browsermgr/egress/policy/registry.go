package policy

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// newGuardian knows which addresses IANA's registries for special purposes have. NAT64 is left to the judge of the
// address that it carries.
func newGuardian(r Rules) *ssrf.Guardian {
	v4, v6 := []netip.Prefix{}, []netip.Prefix{ssrf.IPv6NAT64Prefix}
	if r.AllowBenchmark {
		v4 = append(v4, netip.MustParsePrefix("198.18.0.0/15"))
	}
	if r.AllowULA {
		v6 = append(v6, netip.MustParsePrefix("fc00::/7"))
	}
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
}

// registryEntry is a part of the address space and what it is for.
type registryEntry struct {
	prefix netip.Prefix
	name   string
}

func registryEntryOf(prefix, name string) registryEntry {
	return registryEntry{netip.MustParsePrefix(prefix), name}
}

// metadata has the addresses at which clouds tell a machine's secrets to whatever asks from there. Some are public.
var metadata = []registryEntry{
	registryEntryOf("169.254.169.254/32", "instance metadata"),
	registryEntryOf("169.254.169.253/32", "resolver of Amazon Web Services"),
	registryEntryOf("169.254.170.2/32", "credentials of containers"),
	registryEntryOf("169.254.170.23/32", "credentials of containers"),
	registryEntryOf("169.254.42.42/32", "instance metadata"),
	registryEntryOf("100.100.100.200/32", "instance metadata"),
	registryEntryOf("192.0.0.192/32", "instance metadata"),
	registryEntryOf("168.63.129.16/32", "platform of Azure"),
	registryEntryOf("fd00:ec2::/32", "services of Amazon Web Services"),
	registryEntryOf("fd00:42::42/128", "instance metadata"),
	registryEntryOf("fd20:ce::254/128", "instance metadata"),
}

// specialPurpose names the parts of the address space that are refused, the narrower before the wider.
var specialPurpose = []registryEntry{
	registryEntryOf("0.0.0.0/8", "this network, RFC 791"),
	registryEntryOf("10.0.0.0/8", "private use, RFC 1918"),
	registryEntryOf("100.64.0.0/10", "shared address space, RFC 6598"),
	registryEntryOf("127.0.0.0/8", "loopback, RFC 1122"),
	registryEntryOf("169.254.0.0/16", "link-local, RFC 3927"),
	registryEntryOf("172.16.0.0/12", "private use, RFC 1918"),
	registryEntryOf("192.0.0.0/24", "IETF protocol assignments, RFC 6890"),
	registryEntryOf("192.0.2.0/24", "documentation, RFC 5737"),
	registryEntryOf("192.31.196.0/24", "AS112, RFC 7535"),
	registryEntryOf("192.52.193.0/24", "AMT, RFC 7450"),
	registryEntryOf("192.88.99.0/24", "6to4 relay anycast, RFC 7526"),
	registryEntryOf("192.168.0.0/16", "private use, RFC 1918"),
	registryEntryOf("192.175.48.0/24", "AS112, RFC 7534"),
	registryEntryOf("198.18.0.0/15", "benchmarking, RFC 2544"),
	registryEntryOf("198.51.100.0/24", "documentation, RFC 5737"),
	registryEntryOf("203.0.113.0/24", "documentation, RFC 5737"),
	registryEntryOf("224.0.0.0/4", "multicast, RFC 1112"),
	registryEntryOf("255.255.255.255/32", "limited broadcast, RFC 8190"),
	registryEntryOf("240.0.0.0/4", "reserved, RFC 1112"),

	registryEntryOf("::/128", "unspecified, RFC 4291"),
	registryEntryOf("::1/128", "loopback, RFC 4291"),
	registryEntryOf("::ffff:0:0:0/96", "IPv4-translated, RFC 2765"),
	registryEntryOf("::/96", "IPv4-compatible, RFC 4291"),
	registryEntryOf("64:ff9b:1::/48", "NAT64 for local use, RFC 8215"),
	registryEntryOf("100::/64", "discard-only, RFC 6666"),
	registryEntryOf("100:0:0:1::/64", "dummy prefix, RFC 9780"),
	registryEntryOf("2001::/32", "Teredo, RFC 4380"),
	registryEntryOf("2001:2::/48", "benchmarking, RFC 5180"),
	registryEntryOf("2001:10::/28", "ORCHID, RFC 4843"),
	registryEntryOf("2001:20::/28", "ORCHIDv2, RFC 7343"),
	registryEntryOf("2001::/23", "IETF protocol assignments, RFC 2928"),
	registryEntryOf("2001:db8::/32", "documentation, RFC 3849"),
	registryEntryOf("2002::/16", "6to4, RFC 3056"),
	registryEntryOf("2620:4f:8000::/48", "AS112, RFC 7534"),
	registryEntryOf("3fff::/20", "documentation, RFC 9637"),
	registryEntryOf("5f00::/16", "segment routing, RFC 9602"),
	registryEntryOf("fc00::/7", "unique local, RFC 4193"),
	registryEntryOf("fe80::/10", "link-local, RFC 4291"),
	registryEntryOf("fec0::/10", "site-local, RFC 3879"),
	registryEntryOf("ff00::/8", "multicast, RFC 4291"),
}

// registryOf says what a refused address is for.
func registryOf(addr netip.Addr) string {
	if name, ok := findEntry(specialPurpose, addr); ok {
		return name
	}
	return "not assigned to the public internet"
}

func findEntry(entries []registryEntry, addr netip.Addr) (string, bool) {
	for _, e := range entries {
		if e.prefix.Contains(addr) {
			return e.name, true
		}
	}
	return "", false
}
