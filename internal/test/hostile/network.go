package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"

	"clank/browsermgr"
	"clank/browsermgr/egress"
	"clank/browsermgr/egress/policy"
	"clank/browsermgr/profile"
)

// enterEnv is set for the process inside the namespace.
const enterEnv = "CLANK_RANGE_INSIDE"

// rangeNetwork is the network in which a range runs.
type rangeNetwork struct {
	// Namespace means that it is a separate network; otherwise it is the loopback interface of this machine.
	Namespace bool
	// Site is the address of the hostile site. In a namespace it is an address that is public elsewhere.
	Site netip.Addr
	// Resolver is the system's name server; invalid without a namespace.
	Resolver netip.AddrPort
	// Recorder counts packets that would have left the machine; nil without a namespace.
	Recorder *packetRecorder
}

// InsideNamespace reports whether this process was started by [reenterCommand].
func InsideNamespace() bool { return os.Getenv(enterEnv) != "" }

// ReenterCommand returns a command that runs this program again, with args, in a new network namespace. Starting it
// fails without the necessary privileges.
func ReenterCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...) //nolint:noctx // this program itself; the caller waits for it
	cmd.Env = append(os.Environ(), enterEnv+"=1")
	isolateCommand(cmd)
	return cmd
}

// LoopbackNetwork returns the network without a namespace.
func LoopbackNetwork() *rangeNetwork {
	return &rangeNetwork{Site: netip.AddrFrom4([4]byte{127, 0, 0, 1})}
}

// Addresses of the namespace. The site's are public in every registry; here they are local.
var (
	siteV4 = netip.MustParseAddr("93.184.215.14")
	siteV6 = netip.MustParseAddr("2606:2800:21f:cb07::14")
)

// privateV4 are ranges in which every address is local to the namespace.
var privateV4 = []string{
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "198.18.0.0/15", "192.0.0.0/24",
	"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", "240.0.0.0/4",
}

// privateV6 are the private IPv6 addresses of the namespace: unique local ones, and IPv6 forms of 10.66.0.1.
var privateV6 = []string{
	"fd00:66::1", "fec0::66", "64:ff9b::a42:1", "64:ff9b:1::a42:1", "2002:a42:1::1", "2001:0:a42:1::f5bd:fffe",
	"2001:2::66",
	"2001:db8::66", "100::66", "::a42:1", "2606:2800:21f:cb07:0:5efe:a42:1",
}

// machineV4 and machineV6 are the addresses that a provider assigns to a machine, with their networks.
var (
	machineV4 = []string{"93.184.216.7/32", "93.184.217.1/24"}
	machineV6 = "2606:2800:21f:cb08::7/64"
)

// fixedRules is an [egress.Config] with constant rules.
type fixedRules struct {
	egress.DefaultConfig

	rules policy.Rules
}

// Rules implements [egress.Config].
func (f fixedRules) Rules() policy.Rules { return f.rules }

// startGuardedBrowser starts clank's browser behind its proxy: a Manager as in the program, and a proxy with the
// default rules.
func startGuardedBrowser(ctx context.Context, o RangeOptions, p *rangePass) (*testedBrowser, error) {
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	gate := &egress.Proxy{Config: fixedRules{rules: p.rules(o)}, Resolver: p.resolver(), Machine: machineWithoutSite}
	if err := gate.Open(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	args := append(commonFlags(), "--disable-features="+disabledFeatures)
	if !p.ground.Namespace {
		args = append(args, "--ignore-certificate-errors")
	}
	manager := &browsermgr.Manager{
		Home: home, Gate: gate, Config: func() profile.Config {
			return profile.Config{Headless: new(true), NoSandbox: true, Args: args, DevToolsPort: true}
		},
		DevToolsToken: func(token string) bool { return token == guestToken },
	}
	b := &testedBrowser{close: func(ctx context.Context) error {
		return errors.Join(manager.Close(ctx), gate.Close(ctx), os.RemoveAll(home))
	}}
	if err := manager.Open(ctx); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	if _, _, err := manager.Window(ctx, browsermgr.WindowOptions{Key: "range"}); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	if n := len(manager.Status()); n != 1 {
		return nil, errors.Join(fmt.Errorf("find the guarded browser: %d are running", n), b.close(ctx))
	}
	if b.devtools, err = devToolsURL(ctx, manager.Status()[0].Port, guestToken); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// machineWithoutSite returns where this machine is, as the guard sees it. The hostile site is in the same namespace,
// but stands for one elsewhere.
func machineWithoutSite() policy.Machine {
	m := egress.ReadMachine()
	m.Interfaces = slices.DeleteFunc(m.Interfaces, func(p netip.Prefix) bool {
		return p.Contains(siteV4) || p.Contains(siteV6)
	})
	return m
}

// rules returns the rules of the proxy.
func (p *rangePass) rules(o RangeOptions) policy.Rules {
	var rules policy.Rules
	if !p.ground.Namespace {
		// Here the site itself has an address that pages must not reach.
		for _, zone := range []string{hostileZone, otherZone} {
			for _, port := range []uint16{p.site.plain, p.site.tls} {
				rules.AllowedHosts = append(rules.AllowedHosts, "*."+zone+":"+strconv.Itoa(int(port)),
					netip.AddrPortFrom(p.ground.Site, port).String())
			}
		}
	}
	if o.AllowedHost != "" {
		rules.AllowedHosts = append(rules.AllowedHosts, o.AllowedHost)
	}
	return rules
}

// resolver returns a resolver that uses the name server of the range.
func (p *rangePass) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", p.names4u.String())
	}}
}

// guestToken gives the test's own connection access to the guarded browser.
const guestToken = "guest"

// devToolsURL requests the DevTools address from a local browser.
func devToolsURL(ctx context.Context, port int, token string) (string, error) {
	at, err := profile.ParseEndpoint(fmt.Sprintf("http://127.0.0.1:%d?token=%s", port, token))
	if err != nil {
		return "", err
	}
	t, _, err := profile.Connector{}.Discover(ctx, at)
	if err != nil {
		return "", fmt.Errorf("find the guarded browser: %w", err)
	}
	return t.URL, nil
}

// packetRecorder counts the packets sent to the interface that stands for the outside.
type packetRecorder struct {
	mu     sync.Mutex
	counts map[destinationKind]int
	sample map[destinationKind]string // first destination of each kind
	watch  func(packet []byte)

	stop func()
	wg   sync.WaitGroup
}

// destinationKind is the kind of a packet's destination.
type destinationKind string

// Kinds of destinations.
const (
	DestinationPrivate   destinationKind = "private"   // an address for which no packet may leave
	destinationMulticast destinationKind = "multicast" // multicast and broadcast: discovery, mDNS
	destinationPublic    destinationKind = "public"    // any other address
)

// Count returns the number of packets of a kind, and the destination of the first one.
func (r *packetRecorder) Count(k destinationKind) (n int, first string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[k], r.sample[k]
}

// Watch calls f with each further packet, on a goroutine of the recorder; nil ends that.
func (r *packetRecorder) Watch(f func(packet []byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = f
}

// Close stops the recorder. Its counts remain.
func (r *packetRecorder) Close() {
	r.stop()
	r.wg.Wait()
}

func (r *packetRecorder) recordPacket(packet []byte) {
	dst, ok := PacketDestination(packet)
	if !ok {
		return
	}
	kind := destinationKindOf(dst)
	r.mu.Lock()
	if r.counts[kind] == 0 {
		r.sample[kind] = dst.String()
	}
	r.counts[kind]++
	watch := r.watch
	r.mu.Unlock()
	if watch != nil {
		watch(packet)
	}
}

func destinationKindOf(a netip.Addr) destinationKind {
	a = a.Unmap()
	switch {
	case a.IsMulticast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return destinationMulticast
	case a.IsPrivate(), a.IsLoopback(), a.IsLinkLocalUnicast(), a.IsUnspecified():
		return DestinationPrivate
	}
	if slices.ContainsFunc(privateV4, func(p string) bool { return netip.MustParsePrefix(p).Contains(a) }) ||
		slices.Contains(privateV6, a.String()) {
		return DestinationPrivate
	}
	return destinationPublic
}

// PacketDestination returns the destination of an IP packet (RFC 791, RFC 8200). ok is false without a complete IP
// header. ICMPv6 neighbor discovery is ignored, because the kernel sends it by itself.
func PacketDestination(packet []byte) (dst netip.Addr, ok bool) {
	const hopByHop, icmp = 0, 58
	switch {
	case len(packet) >= 20 && packet[0]>>4 == 4:
		return netip.AddrFrom4([4]byte(packet[16:20])), true
	case len(packet) >= 40 && packet[0]>>4 == 6 && packet[6] != icmp && packet[6] != hopByHop:
		return netip.AddrFrom16([16]byte(packet[24:40])), true
	}
	return netip.Addr{}, false
}

// transport returns the protocol of an IP packet, its destination and the payload.
func transport(packet []byte) (protocol byte, dst netip.Addr, rest []byte, ok bool) {
	dst, ok = PacketDestination(packet)
	if !ok {
		return 0, dst, nil, false
	}
	const header6 = 40
	protocol, at := packet[6], header6
	if dst.Is4() {
		protocol, at = packet[9], int(packet[0]&0xf)*4
	}
	return protocol, dst, packet[min(at, len(packet)):], true
}

// IsMDNSPacket reports whether an IP packet is a message of multicast DNS (RFC 6762).
func IsMDNSPacket(packet []byte) bool {
	const udp, port = 17, 5353
	protocol, dst, datagram, ok := transport(packet)
	return ok && dst.IsMulticast() && protocol == udp && len(datagram) >= 8 &&
		binary.BigEndian.Uint16(datagram[2:]) == port
}

// TCPSegment returns the destination and payload of a TCP segment (RFC 9293). ok is false for other packets.
func TCPSegment(packet []byte) (to netip.AddrPort, payload []byte, ok bool) {
	const tcp = 6
	protocol, dst, segment, ok := transport(packet)
	if !ok || protocol != tcp || len(segment) < 20 || int(segment[12]>>4)*4 > len(segment) {
		return to, nil, false
	}
	return netip.AddrPortFrom(dst, binary.BigEndian.Uint16(segment[2:])), segment[int(segment[12]>>4)*4:], true
}

func (r *packetRecorder) String() string {
	private, first := r.Count(DestinationPrivate)
	multicast, _ := r.Count(destinationMulticast)
	public, somewhere := r.Count(destinationPublic)
	text := fmt.Sprintf("packets towards the outside: private=%d multicast=%d public=%d", private, multicast, public)
	if first != "" {
		text += ", the first private one to " + first
	}
	if somewhere != "" {
		text += ", the first public one to " + somewhere
	}
	return text
}
