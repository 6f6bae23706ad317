//go:build unix

package egress

import (
	"errors"
	"net"
	"syscall"
)

// isIdleConn reports whether an idle connection is still open and has received no data. Otherwise it cannot be reused.
func isIdleConn(c net.Conn) bool {
	raw, ok := c.(syscall.Conn)
	if !ok {
		return true // a tunnel through another proxy; failed exchanges are repeated
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
