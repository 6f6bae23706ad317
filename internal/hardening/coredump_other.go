//go:build !linux && !windows

package hardening

import (
	"fmt"
	"syscall"
)

// DisableCoreDumps keeps a crash from writing this process's memory, which contains keys, to a file. Child processes
// inherit the limit.
func DisableCoreDumps() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}
