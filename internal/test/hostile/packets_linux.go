package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// recordLoopback records what goes over the loopback interface of the namespace, until it is closed.
func recordLoopback() (*packetRecorder, error) { return recordInterface("lo") }

// recordInterface listens to what goes out of an interface, as packet(7) gives it.
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
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20) // the usual size will do, mostly
	done := make(chan struct{})
	r := &packetRecorder{counts: map[destinationKind]int{}, sample: map[destinationKind]string{}, stop: func() { close(done) }}
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
