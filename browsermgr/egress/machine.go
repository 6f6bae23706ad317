package egress

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"clank/browsermgr/egress/policy"
)

// machineInterval is how often the machine's addresses are read again, since networks change.
const machineInterval = 5 * time.Second

// ReadMachine returns this machine's addresses and networks, as far as known. Gateways are known on Linux only.
func ReadMachine() policy.Machine {
	var m policy.Machine
	addrs, _ := net.InterfaceAddrs() // on error, only the registries' special addresses are refused
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			m.Interfaces = append(m.Interfaces, p)
		}
	}
	// proc(5): the third column of route is an IPv4 address in native byte order, the fifth of ipv6_route an IPv6
	// address.
	for _, b := range routeColumn("/proc/net/route", 2, 4) {
		m.Gateways = append(m.Gateways,
			netip.AddrFrom4([4]byte(binary.NativeEndian.AppendUint32(nil, binary.BigEndian.Uint32(b)))))
	}
	for _, b := range routeColumn("/proc/net/ipv6_route", 4, 16) {
		m.Gateways = append(m.Gateways, netip.AddrFrom16([16]byte(b)))
	}
	return m
}

// routeColumn returns the non-empty addresses in a column of a routing table.
func routeColumn(path string, column, size int) (found [][]byte) {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) <= column || strings.Trim(fields[column], "0") == "" {
			continue
		}
		if b, err := hex.DecodeString(fields[column]); err == nil && len(b) == size {
			found = append(found, b)
		}
	}
	return found
}
