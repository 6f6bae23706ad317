package files

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// openNonblock does nothing: here is nothing whose opening waits.
const openNonblock = 0

// linkCount returns how many names a file has, as far as this system tells.
func linkCount(fs.FileInfo) uint64 { return 1 }

// crossesDevices says whether a move failed because its ends are on different drives.
func crossesDevices(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// processAlive says whether a process with this id runs.
func processAlive(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid)) //nolint:gosec // what the system calls a process
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED) // it is somebody else's
	}
	defer windows.CloseHandle(process) //nolint:errcheck // nothing is lost
	state, err := windows.WaitForSingleObject(process, 0)
	return err != nil || state != windows.WAIT_OBJECT_0
}
