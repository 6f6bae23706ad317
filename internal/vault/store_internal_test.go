package vault

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "vault.json")
	for _, data := range []string{"one", "two, which is longer", ""} {
		if err := replaceFile(path, []byte(data)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != data {
			t.Errorf("the file holds %q, %v; want %q", got, err, data)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, []byte("three")); err == nil {
		t.Error("that a folder is in its place is not told")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || !left[0].IsDir() {
		t.Errorf("left in the folder: %v, %v; want only what was there", left, err)
	}
}
