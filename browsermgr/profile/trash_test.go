package profile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/profile"
)

// folder makes one with a file in it.
func folder(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "cookies"), []byte(path), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMovedFolderCanBeBroughtBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the specification is that of Linux desktops")
	}
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	old := filepath.Join(data, "Trash", "files", "my profile%") // without a note
	if err := os.MkdirAll(old, 0o700); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{old: true}
	for range 3 { // of the same name
		from := folder(t, "my profile%")
		to, err := profile.MoveToTrash(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		if seen[to] || filepath.Dir(to) != filepath.Join(data, "Trash", "files") {
			t.Errorf("moved to %s", to)
		}
		seen[to] = true
		if got, err := os.ReadFile(filepath.Join(to, "cookies")); err != nil || string(got) != from {
			t.Errorf("contents %q, %v", got, err)
		}
		if _, err := os.Stat(from); !os.IsNotExist(err) {
			t.Errorf("the folder is still there: %v", err)
		}
		note, err := os.ReadFile(filepath.Join(data, "Trash", "info", filepath.Base(to)+".trashinfo"))
		if err != nil {
			t.Fatal(err)
		}
		want := "[Trash Info]\nPath=" + strings.TrimSuffix(from, "my profile%") + "my%20profile%25\nDeletionDate=20"
		if !strings.HasPrefix(string(note), want) {
			t.Errorf("note %q, want it to begin with %q", note, want)
		}
	}
	if list, err := os.ReadDir(old); err != nil || len(list) != 0 {
		t.Errorf("what was there before: %v, %v", list, err)
	}
}

func TestWhatCannotBeMovedStays(t *testing.T) {
	if _, err := profile.MoveToTrash(t.Context(), filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing folder was moved")
	}
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the tool decides")
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_DATA_HOME", blocked)
	from := folder(t, "work")
	if to, err := profile.MoveToTrash(t.Context(), from); err == nil {
		t.Errorf("moved to %s", to)
	}
	if _, err := os.Stat(filepath.Join(from, "cookies")); err != nil {
		t.Error(err)
	}
}

// other is where another file system is.
const other = "/dev/shm"

func elsewhereDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(other, "clank-trash-") //nolint:usetesting // a file system of its own is wanted
	if err != nil {
		t.Skip("no second file system here")
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestFolderOfAnotherFileSystemGoesToItsTrash(t *testing.T) {
	dir := elsewhereDir(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	from := filepath.Join(dir, filepath.Base(dir)+"-work")
	if err := os.Mkdir(from, 0o700); err != nil {
		t.Fatal(err)
	}
	to, err := profile.MoveToTrash(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	bin, note := filepath.Dir(filepath.Dir(to)), filepath.Join(filepath.Dir(filepath.Dir(to)), "info", filepath.Base(to)+".trashinfo")
	t.Cleanup(func() {
		for _, path := range []string{to, note, filepath.Dir(to), filepath.Dir(note), bin} {
			_ = os.Remove(path)
		}
	})
	if !strings.HasPrefix(to, other) && !strings.HasPrefix(to, os.Getenv("XDG_DATA_HOME")) {
		t.Errorf("moved to %s", to)
	}
	if _, err := os.Stat(note); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(bin); err != nil || info.Mode().Perm()&fs.FileMode(0o077) != 0 {
		t.Errorf("others may look into the trash: %v, %v", info, err)
	}
}

func TestATrashThatLeadsElsewhereIsNotUsed(t *testing.T) {
	dir := elsewhereDir(t)
	elsewhere := t.TempDir()
	bin := filepath.Join(other, ".Trash-"+strconv.Itoa(os.Getuid()))
	if err := os.Symlink(elsewhere, bin); err != nil {
		t.Skip("there is a trash already:", err)
	}
	t.Cleanup(func() { _ = os.Remove(bin) })
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	if to, err := profile.MoveToTrash(t.Context(), dir); err == nil {
		_ = os.RemoveAll(to)
		if strings.HasPrefix(to, other) {
			t.Errorf("moved to %s", to)
		}
	} else if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("put there: %v, %v", left, err)
	}
}
