package policy

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"
)

// idnaProfile converts host names to ASCII as browsers do for lookups (UTS #46, non-transitional).
var idnaProfile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.BidiRule(), idna.CheckJoiners(true))

// parseHost parses a host with the URL Standard's host parser for http and https. It returns lower-case ASCII without
// brackets and trailing dot; literal is set if the host is an IP address, in canonical form. Unlike the standard it
// rejects names that DNS cannot have. why describes an error.
func parseHost(raw string) (host string, literal netip.Addr, why string) {
	if rest, ok := strings.CutPrefix(raw, "["); ok {
		inner, ok := strings.CutSuffix(rest, "]")
		if !ok {
			return "", netip.Addr{}, "a bracket is not closed"
		}
		addr, err := netip.ParseAddr(inner)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", netip.Addr{}, "the text in brackets is not an IPv6 address"
		}
		return addr.String(), addr, ""
	}
	name, why := asciiName(percentDecoded(raw))
	if why != "" {
		return "", netip.Addr{}, why
	}
	labels := strings.Split(name, ".")
	if !isNumber(labels[len(labels)-1]) {
		return name, netip.Addr{}, checkLabels(name, labels)
	}
	addr, ok := parseIPv4(labels)
	if !ok {
		return "", netip.Addr{}, "it ends in a number, but is no IPv4 address"
	}
	return addr.String(), addr, ""
}

// asciiName returns a name in lower-case ASCII, without the trailing dot.
func asciiName(name string) (ascii, why string) {
	if !utf8.ValidString(name) {
		return "", "the host is not UTF-8"
	}
	name = strings.ToLower(name)
	if !isASCII(name) || strings.HasPrefix(name, "xn--") || strings.Contains(name, ".xn--") {
		var err error
		if name, err = idnaProfile.ToASCII(name); err != nil {
			return "", "the host is no international domain name"
		}
	}
	if strings.IndexFunc(name, notInName) >= 0 {
		return "", "the host has a character that names do not have"
	}
	name = strings.TrimSuffix(name, ".")
	if name == "" {
		return "", "the host is missing"
	}
	return name, ""
}

// checkLabels returns why a name cannot be looked up.
func checkLabels(name string, labels []string) (why string) {
	if len(name) > 253 {
		return "the host name is too long"
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return "a part of the host name is empty or too long"
		}
	}
	return ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func notInName(r rune) bool {
	return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
}

// percentDecoded decodes percent-encoded bytes in s. Invalid percent signs are kept.
func percentDecoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(b))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// isNumber reports whether the last label of a host means that it must be an IPv4 address.
func isNumber(label string) bool {
	if label != "" && strings.Trim(label, "0123456789") == "" {
		return true
	}
	_, ok := ipv4Number(label)
	return ok
}

// parseIPv4 parses an IPv4 address of one to four parts, each decimal, octal or hexadecimal; the last part has the
// remaining bytes.
func parseIPv4(parts []string) (netip.Addr, bool) {
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, ok := ipv4Number(part)
		last := i == len(parts)-1
		switch {
		case !ok, !last && n > 255:
			return netip.Addr{}, false
		case last:
			if n >= 1<<(8*(5-len(parts))) {
				return netip.Addr{}, false
			}
			value += n
		default:
			value += n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// ipv4Number parses one part of an IPv4 address. Numbers that no address can have become tooLarge.
func ipv4Number(s string) (uint64, bool) {
	const tooLarge = 1 << 40
	if s == "" {
		return 0, false
	}
	base := 10
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, true
	}
	if strings.ContainsAny(s, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		digits := map[int]string{8: "01234567", 10: "0123456789", 16: "0123456789abcdefABCDEF"}[base]
		return tooLarge, strings.Trim(s, digits) == ""
	}
	return min(n, tooLarge), true
}

var (
	teredo     = netip.MustParsePrefix("2001::/32")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")
	compatible = netip.MustParsePrefix("::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
)

// embedded lists the IPv4 addresses that an IPv6 address may lead to: those of NAT64 (RFC 6052; with the local-use
// prefix, at each possible position), 6to4 (RFC 3056), Teredo (RFC 4380; server and client), ISATAP (RFC 5214),
// IPv4-compatible and IPv4-translated addresses. IPv4-mapped ones are IPv4 addresses and not listed.
func embedded(addr netip.Addr) []netip.Addr {
	if addr = addr.Unmap(); !addr.Is6() {
		return nil
	}
	b := addr.As16()
	var found []netip.Addr
	add := func(at ...int) {
		found = append(found, netip.AddrFrom4([4]byte{b[at[0]], b[at[1]], b[at[2]], b[at[3]]}))
	}
	switch {
	case nat64.Contains(addr), translated.Contains(addr):
		add(12, 13, 14, 15)
	case compatible.Contains(addr) && addr != netip.IPv6Loopback() && addr != netip.IPv6Unspecified():
		add(12, 13, 14, 15)
	case nat64Local.Contains(addr):
		add(6, 7, 9, 10)
		add(7, 9, 10, 11)
		add(9, 10, 11, 12)
		add(12, 13, 14, 15)
	case sixToFour.Contains(addr):
		add(2, 3, 4, 5)
	case teredo.Contains(addr):
		add(4, 5, 6, 7)
		found = append(found, netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}))
	}
	if identifier := binary.BigEndian.Uint32(b[8:12]); identifier&^0x02000000 == 0x00005efe {
		add(12, 13, 14, 15)
	}
	return found
}

// newGuardian returns a check for the addresses in IANA's special-purpose registries. NAT64 addresses pass; the
// embedded address is checked instead.
func newGuardian(r Rules) *ssrf.Guardian {
	v4, v6 := []netip.Prefix{}, []netip.Prefix{ssrf.IPv6NAT64Prefix}
	if r.AllowBenchmark {
		v4 = append(v4, netip.MustParsePrefix("198.18.0.0/15"))
	}
	if r.AllowULA {
		v6 = append(v6, netip.MustParsePrefix("fc00::/7"))
	}
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork(), ssrf.WithAllowedV4Prefixes(v4...),
		ssrf.WithAllowedV6Prefixes(v6...))
}

// registryEntry is a part of the address space and its purpose.
type registryEntry struct {
	prefix netip.Prefix
	name   string
}

func registryEntryOf(prefix, name string) registryEntry {
	return registryEntry{netip.MustParsePrefix(prefix), name}
}

// metadata lists addresses of cloud metadata services, which disclose a machine's secrets to local requests. Some are
// public.
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

// specialPurpose names the parts of the address space that are refused, narrower ones first.
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

// registryOf returns the purpose of a refused address.
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
