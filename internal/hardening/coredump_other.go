//go:build !linux && !windows

package hardening

import (
	"fmt"
	"syscall"
)

// DisableCoreDumps keeps a crash from writing this program's memory, with the keys in it, to a file. The limit goes on
// to programs started here.
func DisableCoreDumps() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
