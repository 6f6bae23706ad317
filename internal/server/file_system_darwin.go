package server

import "golang.org/x/sys/unix"

// sharedFileSystem returns the type of the file system that holds dir, such as "smbfs", if it is a network file system;
// "" for a local one.
func sharedFileSystem(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}
