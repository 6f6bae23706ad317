package chrome

import (
	"os"

	"golang.org/x/sys/windows"
)

func freeBytes(dir string) (free uint64, ok bool) {
	name, err := windows.UTF16PtrFromString(dir)
	return free, err == nil && windows.GetDiskFreeSpaceEx(name, &free, nil, nil) == nil
}

// accessTo reports whether this program may write to a directory. Windows has no numeric owners.
func accessTo(dir string) (owner int, writable bool, err error) {
	if _, err := os.Stat(dir); err != nil {
		return 0, false, err
	}
	f, err := os.CreateTemp(dir, ".clank-")
	if err != nil {
		return os.Geteuid(), false, nil //nolint:nilerr // not being writable is the result
	}
	return os.Geteuid(), true, os.Remove(f.Name())
}
