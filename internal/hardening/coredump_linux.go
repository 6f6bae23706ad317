package hardening

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DisableCoreDumps keeps a crash from writing this process's memory, which contains keys, to a file or to a program
// that collects dumps. Child processes inherit the limit. Other processes of the same user can no longer read this
// one's memory either (prctl(2), PR_SET_DUMPABLE).
func DisableCoreDumps() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid others to read this program's memory: %w", err)
	}
	return nil
}
