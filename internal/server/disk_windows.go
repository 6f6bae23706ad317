package server

import "golang.org/x/sys/windows"

// freeBytes returns the free space, in bytes, on the disk that holds dir.
func freeBytes(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(free), nil //nolint:gosec // disk sizes fit
}

// checkRoot returns nil: there is no root.
func checkRoot(...string) error { return nil }
