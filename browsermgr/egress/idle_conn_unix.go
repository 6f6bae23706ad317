//go:build unix

package egress

import (
	"errors"
	"net"
	"syscall"
)

// isIdleConn says whether a kept connection is open and has sent nothing since its last answer. What has ended, or
// talks unasked, cannot be used again.
func isIdleConn(c net.Conn) bool {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return true // inside another proxy's connection; a failed exchange is tried anew
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = control.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && open
}
