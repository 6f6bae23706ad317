package files

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// openNonblock is 0: opening a file does not block on Windows.
const openNonblock = 0

// linkCount returns 1: the number of hard links is not read on Windows.
func linkCount(fs.FileInfo) uint64 { return 1 }

// crossesDevices reports whether a move failed because its paths are on different drives.
func crossesDevices(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// processAlive reports whether a process with this id is running.
func processAlive(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, //nolint:gosec // what the system calls a process
		uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED) // it belongs to another user
	}
	defer windows.CloseHandle(process) //nolint:errcheck // nothing is lost
	state, err := windows.WaitForSingleObject(process, 0)
	return err != nil || state != windows.WAIT_OBJECT_0
}
