package main

import (
	"net/netip"
	"os"
	"os/exec"
)

// enterEnv is set for the process that runs inside the namespace.
const enterEnv = "CLANK_RANGE_INSIDE"

// rangeNetwork is where a range runs.
type rangeNetwork struct {
	// Namespace says that it is a network of its own; otherwise it is the loopback interface of this machine.
	Namespace bool
	// Site is the address of the hostile site. In a namespace it is one that is public everywhere else.
	Site netip.Addr
	// Resolver is where programs find the name server by themselves; invalid without a namespace.
	Resolver netip.AddrPort
	// Recorder counts what would have left; nil without a namespace.
	Recorder *packetRecorder
}

// InsideNamespace reports whether this process was started by [reenterCommand].
func InsideNamespace() bool { return os.Getenv(enterEnv) != "" }

// ReenterCommand makes the command that runs this program again, with args, inside a network namespace. Starting it fails where
// the right to make one is missing.
func ReenterCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...) //nolint:noctx // this very program; the caller waits for it
	cmd.Env = append(os.Environ(), enterEnv+"=1")
	isolateCommand(cmd)
	return cmd
}

// LoopbackNetwork returns the ground without a namespace.
func LoopbackNetwork() *rangeNetwork {
	return &rangeNetwork{Site: netip.AddrFrom4([4]byte{127, 0, 0, 1})}
}

// Addresses of the namespace. The site's are public in every registry; here they belong to the range.
var (
	siteV4 = netip.MustParseAddr("93.184.215.14")
	siteV6 = netip.MustParseAddr("2606:2800:21f:cb07::14")
)

// privateV4 are ranges of which each address is the namespace's own.
var privateV4 = []string{
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "198.18.0.0/15", "192.0.0.0/24",
	"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", "240.0.0.0/4",
}

// privateV6 are addresses that the namespace has: unique local, and the forms in which an IPv6 address carries 10.66.0.1.
var privateV6 = []string{
	"fd00:66::1", "fec0::66", "64:ff9b::a42:1", "64:ff9b:1::a42:1", "2002:a42:1::1", "2001:0:a42:1::f5bd:fffe", "2001:2::66",
	"2001:db8::66", "100::66", "::a42:1", "2606:2800:21f:cb07:0:5efe:a42:1",
}
