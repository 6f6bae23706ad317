//go:build unix

package server

import "golang.org/x/sys/unix"

// freeBytes returns the free space, in bytes, on the disk that holds dir.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), //nolint:gosec,unconvert // disk sizes fit; the types differ between platforms
		nil
}
