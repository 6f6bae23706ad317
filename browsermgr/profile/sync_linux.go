package profile

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFiles has what was written below a directory be there after a power cut, too: once for all files, which takes
// much less time than one by one.
func syncFiles(dir *os.File) error { return unix.Syncfs(int(dir.Fd())) }
