package server

import "golang.org/x/sys/unix"

// sharedFileSystem returns the type of the file system that holds dir if it is a network file system; "" for a local
// one. The numbers are those of statfs(2).
func sharedFileSystem(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	return map[uint32]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
		unix.CIFS_SUPER_MAGIC: "SMB", unix.V9FS_MAGIC: "9P", unix.AFS_SUPER_MAGIC: "AFS", unix.CEPH_SUPER_MAGIC: "Ceph",
		unix.FUSE_SUPER_MAGIC: "FUSE",
	}[uint32(s.Type)] //nolint:gosec // the type differs between platforms
}
