//go:build unix

package chrome

import "syscall"

func freeBytes(dir string) (uint64, bool) {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true //nolint:gosec // a block size is not negative
}

// accessTo returns the owner of a directory, and whether this program may write to it.
func accessTo(dir string) (owner int, writable bool, err error) {
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); err != nil {
		return 0, false, err
	}
	const writeAndSearch = 2 | 1
	return int(st.Uid), syscall.Access(dir, writeAndSearch) == nil, nil
}
