//go:build !unix

package place

import "io/fs"

// nonblock does nothing: here is nothing whose opening waits.
const nonblock = 0

// links is how many names a file has, as far as this system tells.
func links(fs.FileInfo) uint64 { return 1 }

// crossesDevices says whether a move failed because its ends are on different file systems.
func crossesDevices(error) bool { return false }

// alive says whether a process with this id runs; this system is not asked.
func alive(int) bool { return true }
