//go:build !linux

package egress

import (
	"net/netip"
	"os"
)

// peerUser takes everybody for ourselves: this system does not say cheaply whose a connection is.
func peerUser(_, _ netip.AddrPort) (int, error) { return os.Geteuid(), nil }
