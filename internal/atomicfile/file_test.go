package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"clank/internal/atomicfile"
	"clank/internal/test/check"
)

func TestAFileIsWrittenCompletelyOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second"} {
		check.Must(t, atomicfile.Write(path, []byte(text)))
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("got %q, %v; want %q", got, err, text)
		}
	}
	f, err := atomicfile.Create(path)
	check.Must(t, err)
	check.Must(t, check.Err(f.WriteString("third, half")))
	check.Must(t, f.Cleanup())
	if got, err := os.ReadFile(path); err != nil || string(got) != "second" {
		t.Errorf("got %q, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	check.Fails(t, atomicfile.Write(filepath.Join(dir, "missing", "file"), nil), fs.ErrNotExist)
}
