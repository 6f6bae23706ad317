//go:build unix

package server

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"
)

// freeBytes returns the free space, in bytes, on the disk that holds dir.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), //nolint:gosec,unconvert // disk sizes fit; the types differ between platforms
		nil
}

// checkRoot returns an error if this is root, and the first of dirs that exists belongs to another account, which could
// not read what root writes there.
func checkRoot(dirs ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, dir := range dirs {
		var s unix.Stat_t
		switch err := unix.Stat(dir, &s); {
		case err != nil:
			continue
		case s.Uid == 0:
			return nil
		}
		name := strconv.FormatUint(uint64(s.Uid), 10)
		as := "#" + name
		if account, err := user.LookupId(name); err == nil {
			as = account.Username
		}
		return fmt.Errorf("%s belongs to %s, who could not read what root writes there: run this as that account "+
			"(sudo -u %s)", dir, as, as)
	}
	return nil
}
