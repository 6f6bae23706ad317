package control_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"clank/browsermgr/control"
	"clank/internal/test/browsertest"
)

func TestFilesAreKeptUnderNewNames(t *testing.T) {
	f := &control.Features{Dir: t.TempDir()}
	seen := map[string]bool{}
	for range 2 {
		path, err := f.SaveFile("pictures", "browser-", ".png", []byte("picture"))
		browsertest.Must(t, err)
		if ok, err := filepath.Match("browser-*.png", filepath.Base(path)); err != nil || !ok || seen[path] {
			t.Errorf("kept at %s", path)
		}
		seen[path] = true
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 7 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

func TestFilesThatCannotBeKeptAreAnError(t *testing.T) {
	if _, err := (*control.Features)(nil).SaveFile("pictures", "a", "b", nil); err == nil {
		t.Error("kept in no folder")
	}
	file := filepath.Join(t.TempDir(), "file")
	browsertest.Must(t, os.WriteFile(file, nil, 0o600))
	f := &control.Features{Dir: file}
	if path, err := f.SaveFile("pictures", "a", "b", nil); err == nil || errors.Is(err, os.ErrExist) {
		t.Errorf("kept at %q, %v", path, err)
	}
}
