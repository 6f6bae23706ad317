package policy

import (
	"encoding/binary"
	"net/netip"
)

var (
	teredo     = netip.MustParsePrefix("2001::/32")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	nat64Local = netip.MustParsePrefix("64:ff9b:1::/48")
	compatible = netip.MustParsePrefix("::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
)

// embedded lists the IPv4 addresses that an IPv6 address may lead to: those of NAT64 (RFC 6052; with the prefix for
// local use, at each place where one may be), 6to4 (RFC 3056), Teredo (RFC 4380; server and client), ISATAP (RFC 5214),
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
