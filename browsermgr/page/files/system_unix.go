//go:build unix

package files

import (
	"errors"
	"io/fs"
	"syscall"
)

// openNonblock makes opening a pipe or device return at once.
const openNonblock = syscall.O_NONBLOCK

// linkCount returns the number of hard links of a file.
func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // its type differs between systems
	}
	return 1
}

// crossesDevices reports whether a move failed because its paths are on different file systems.
func crossesDevices(err error) bool { return errors.Is(err, syscall.EXDEV) }

// processAlive reports whether a process with this id is running.
func processAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
