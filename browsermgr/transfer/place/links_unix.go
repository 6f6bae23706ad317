//go:build unix

package place

import (
	"errors"
	"io/fs"
	"syscall"
)

// nonblock has an open of a pipe or device return at once.
const nonblock = syscall.O_NONBLOCK

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its type differs between systems
	}
	return 1
}

// crossesDevices says whether a move failed because its ends are on different file systems.
func crossesDevices(err error) bool { return errors.Is(err, syscall.EXDEV) }

// alive says whether a process with this id runs.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
