package main

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// outsideInterface is the interface that stands for the outside.
const outsideInterface = "outside"

func isolateCommand(cmd *exec.Cmd) {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	if uid := os.Geteuid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
}

// PrepareNamespace sets up the namespace of this process, which [ReenterCommand] started: addresses, routes, the
// recorder, and the name server configuration. Replacements of system files are created in dir. Browsers are made to
// trust the certificate authority (DER). The recorder runs until it is closed.
func PrepareNamespace(dir string, authority []byte) (*rangeNetwork, error) {
	if err := configureInterfaces(); err != nil {
		return nil, fmt.Errorf("furnish network namespace: %w", err)
	}
	resolver := netip.MustParseAddrPort("127.0.0.53:53")
	files := map[string]string{
		"/etc/resolv.conf":   "nameserver " + resolver.Addr().String() + "\noptions timeout:1 attempts:1\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
		"/etc/hosts":         "127.0.0.1 localhost\n::1 localhost\n",
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	for path, text := range files {
		if err := coverFile(dir, path, text); err != nil {
			return nil, err
		}
	}
	if err := trustAuthority(dir, authority); err != nil {
		return nil, err
	}
	recorder, err := recordInterface(outsideInterface)
	if err != nil {
		return nil, err
	}
	return &rangeNetwork{Namespace: true, Site: siteV4, Resolver: resolver, Recorder: recorder}, nil
}

// coverFile bind-mounts a file of ours over a system file, in this mount namespace only.
func coverFile(dir, path, text string) error {
	ours := filepath.Join(dir, filepath.Base(path))
	if err := os.WriteFile(ours, []byte(text), 0o644); err != nil {
		return fmt.Errorf("cover %s: %w", path, err)
	}
	err := unix.Mount(ours, path, "", unix.MS_BIND, "")
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("cover %s: %w", path, err)
	}
	return nil
}

// trustAuthority makes browsers in this mount namespace trust a certificate authority, by an administrator's policy.
// A browser with policies elsewhere must be started with a flag that ignores certificate errors.
func trustAuthority(dir string, authority []byte) error {
	for _, path := range []string{"/etc/chromium", "/etc/opt/chrome"} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		ours := filepath.Join(dir, strings.ReplaceAll(path, "/", "-"))
		if err := os.MkdirAll(filepath.Join(ours, "policies", "managed"), 0o755); err != nil {
			return fmt.Errorf("trust certificate: %w", err)
		}
		policy := fmt.Sprintf(`{"CACertificates": [%q]}`, base64.StdEncoding.EncodeToString(authority))
		err := os.WriteFile(filepath.Join(ours, "policies", "managed", "range.json"), []byte(policy), 0o644)
		if err == nil {
			err = unix.Mount(ours, path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("trust certificate: %w", err)
		}
	}
	return nil
}

func configureInterfaces() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("set loopback up: %w", err)
	}
	world, err := createOutsideInterface()
	if err != nil {
		return err
	}
	errs := []error{assignAddress(world, netip.PrefixFrom(siteV4, 24)), assignAddress(world, netip.PrefixFrom(siteV6, 64))}
	for _, prefix := range privateV4 {
		errs = append(errs, addRoute(lo, prefix, unix.RTN_LOCAL))
	}
	for _, addr := range privateV6 {
		errs = append(errs, assignAddress(lo, netip.PrefixFrom(netip.MustParseAddr(addr), 128)))
	}
	for _, prefix := range append(machineV4, machineV6) {
		errs = append(errs, assignAddress(lo, netip.MustParsePrefix(prefix)))
	}
	errs = append(errs, addRoute(world, "0.0.0.0/0", unix.RTN_UNICAST), addRoute(world, "::/0", unix.RTN_UNICAST))
	return errors.Join(errs...)
}

// createOutsideInterface creates the interface that stands for the outside: one end of a veth pair whose other end,
// in the same namespace, has no address and forwards nothing. Neighbor discovery is off, so packets do enter it and
// are recorded.
func createOutsideInterface() (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = outsideInterface
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "nowhere"}); err != nil {
		return nil, fmt.Errorf("add interfaces: %w", err)
	}
	for _, name := range []string{"nowhere", outsideInterface} {
		link, err := netlink.LinkByName(name)
		if err != nil {
			return nil, fmt.Errorf("find interface: %w", err)
		}
		if err := errors.Join(netlink.LinkSetARPOff(link), netlink.LinkSetUp(link)); err != nil {
			return nil, fmt.Errorf("set interface up: %w", err)
		}
	}
	return netlink.LinkByName(outsideInterface)
}

// assignAddress assigns an address to an interface without duplicate address detection.
func assignAddress(link netlink.Link, prefix netip.Prefix) error {
	addr := &netlink.Addr{IPNet: &net.IPNet{
		IP:   prefix.Addr().AsSlice(),
		Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen()),
	}}
	if prefix.Addr().Is6() {
		addr.Flags = unix.IFA_F_NODAD
	}
	if err := netlink.AddrAdd(link, addr); err != nil {
		return fmt.Errorf("add address %s: %w", prefix, err)
	}
	return nil
}

func addRoute(link netlink.Link, prefix string, kind int) error {
	_, dst, err := net.ParseCIDR(prefix)
	if err != nil {
		return fmt.Errorf("add route: %w", err)
	}
	r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: dst, Type: kind}
	if kind == unix.RTN_LOCAL {
		r.Table = unix.RT_TABLE_LOCAL
		r.Scope = netlink.SCOPE_HOST
	} else {
		r.Scope = netlink.SCOPE_LINK
	}
	if err := netlink.RouteAdd(r); err != nil {
		return fmt.Errorf("add route %s: %w", prefix, err)
	}
	return nil
}

// recordLoopback records the packets of the loopback interface until it is closed.
func recordLoopback() (*packetRecorder, error) { return recordInterface("lo") }

// recordInterface records the outgoing packets of an interface with packet(7).
func recordInterface(name string) (*packetRecorder, error) {
	link, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("record packets: %w", err)
	}
	all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(all))
	if err != nil {
		return nil, fmt.Errorf("record packets: %w", err)
	}
	tick := unix.NsecToTimeval((100 * time.Millisecond).Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tick); err != nil {
		return nil, fmt.Errorf("record packets: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: link.Index}); err != nil {
		return nil, fmt.Errorf("record packets: %w", err)
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20) // the default size is usually sufficient
	done := make(chan struct{})
	r := &packetRecorder{
		counts: map[destinationKind]int{}, sample: map[destinationKind]string{},
		stop: func() { close(done) },
	}
	r.wg.Go(func() {
		defer func() { _ = unix.Close(fd) }()
		buf := make([]byte, 2048)
		for {
			select {
			case <-done:
				return
			default:
			}
			if n, _, err := unix.Recvfrom(fd, buf, 0); err == nil {
				r.recordPacket(buf[:n])
			}
		}
	})
	return r, nil
}
