//go:build linux || darwin

package files

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// maxOriginLength bounds a URL in an attribute, in bytes, since some file systems keep all attributes in one block.
const maxOriginLength = 1024

// setOriginAttributes sets the attributes of freedesktop.org's "Common Extended Attributes", and on macOS those that
// Launch Services checks.
func setOriginAttributes(file *os.File, origin, referrer string) error {
	attributes := map[string]string{"user.xdg.origin.url": origin, "user.xdg.referrer.url": referrer}
	if runtime.GOOS == "darwin" {
		// flags (downloaded, not inspected yet), time, program
		attributes = map[string]string{"com.apple.quarantine": fmt.Sprintf("0081;%08x;clank;", time.Now().Unix())}
	}
	for name, value := range attributes {
		if value == "" || len(value) > maxOriginLength {
			continue
		}
		err := unix.Fsetxattr(int(file.Fd()), name, []byte(value), 0)
		if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.E2BIG) &&
			!errors.Is(err, unix.EPERM) {
			return fmt.Errorf("note where a file came from: %w", err)
		}
	}
	return nil
}
