package egress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// peerUser returns the user id of the process at the other end of a loopback connection. It asks the kernel for the
// socket (sock_diag(7)), which takes microseconds; where that is unavailable it reads the tables in proc(5), which
// takes a millisecond. A socket closed by its process has no user.
func peerUser(peer, own netip.AddrPort) (int, error) {
	uid, inode, err := askSocket(peer, own)
	if err != nil {
		uid, inode, err = findSocket(peer, own)
	}
	if err == nil && inode == 0 {
		err = errors.New("its process has ended")
	}
	return int(uid), err
}

// askSocket finds a socket by its two addresses, also as IPv4-mapped IPv6.
func askSocket(local, remote netip.AddrPort) (uid, inode uint32, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(fd)
	const header, request, byFamily, anyCookie = 16, 56, 20, ^uint64(0)
	native := binary.NativeEndian
	b := native.AppendUint32(nil, header+request) // struct nlmsghdr
	b = native.AppendUint16(b, byFamily)
	b = native.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...)
	b = append(b, unix.AF_INET, unix.IPPROTO_TCP, 0, 0) // struct inet_diag_req_v2
	b = native.AppendUint32(b, ^uint32(0))              // in any state
	b = binary.BigEndian.AppendUint16(b, local.Port())
	b = binary.BigEndian.AppendUint16(b, remote.Port())
	for _, end := range []netip.AddrPort{local, remote} {
		b = append(append(b, end.Addr().AsSlice()...), make([]byte, 12)...)
	}
	b = native.AppendUint64(native.AppendUint32(b, 0), anyCookie) // on any interface
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, 0, err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, unix.MSG_DONTWAIT) // the kernel answers synchronously
	const uidAt, inodeAt, end = header + 64, header + 68, header + 72
	if err != nil || n < end || native.Uint16(answer[4:]) != byFamily {
		return 0, 0, errors.Join(errors.New("the kernel does not report the socket"), err)
	}
	return native.Uint32(answer[uidAt:]), native.Uint32(answer[inodeAt:]), nil
}

// findSocket finds a socket in the tables of all sockets.
func findSocket(local, remote netip.AddrPort) (uid, inode uint32, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		data, err := os.ReadFile(table)
		if err != nil {
			return 0, 0, err
		}
		for line := range strings.Lines(string(data)) {
			const localColumn, remoteColumn, uidColumn, inodeColumn = 1, 2, 7, 9
			f := strings.Fields(line)
			if len(f) <= inodeColumn || !strings.HasSuffix(f[localColumn], procAddress(local)) ||
				!strings.HasSuffix(f[remoteColumn], procAddress(remote)) {
				continue
			}
			uid, err := strconv.ParseUint(f[uidColumn], 10, 32)
			inode, inodeErr := strconv.ParseUint(f[inodeColumn], 10, 32)
			return uint32(uid), uint32(inode), errors.Join(err, inodeErr)
		}
	}
	return 0, 0, errors.New("there is no such socket")
}

// procAddress formats an IPv4 address and port as in /proc/net/tcp, which is also the end of the form in
// /proc/net/tcp6.
func procAddress(a netip.AddrPort) string {
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(a.Addr().AsSlice()), a.Port())
}
