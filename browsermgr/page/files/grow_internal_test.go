//go:build linux

package files

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"clank/internal/test/check"
)

// A file in /proc reports size 0, like one that grows after it was inspected.
func TestAFileThatIsLargerThanItSaidIsNotUploaded(t *testing.T) {
	dir := filepath.Join("/proc", strconv.Itoa(os.Getpid()))
	whole, err := os.ReadFile(filepath.Join(dir, "status"))
	check.Must(t, err)
	into := t.TempDir()
	f := uploadFile{dir: dir, rel: "status"}
	check.Fails(t, check.Err(f.copyTo(filepath.Join(into, "0", "status"), 10)), errUploadTooLarge)
	if n, err := f.copyTo(filepath.Join(into, "1", "status"), int64(4*len(whole))); err != nil || n == 0 {
		t.Errorf("within the limit: got %d bytes, %v", n, err)
	}
}
