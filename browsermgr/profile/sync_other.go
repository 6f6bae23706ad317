//go:build unix && !linux

package profile

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncFiles has what was written be there after a power cut, too.
func syncFiles(*os.File) error { return unix.Sync() }
