//go:build unix

package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"clank/internal/test/check"

	"clank/browsermgr/fault"
)

// uploadFixture returns an uploads folder with a file in a directory, and a secret outside.
func uploadFixture(t *testing.T) (dir, secret string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	check.Must(t, err)
	dir, secret = filepath.Join(home, "in"), filepath.Join(home, "out", "file")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "sub"), 0o700), os.Mkdir(filepath.Dir(secret), 0o700),
		os.WriteFile(secret, []byte("secret"), 0o600), os.WriteFile(filepath.Join(dir, "sub", "file"), []byte("open"), 0o600),
	} {
		check.Must(t, err)
	}
	return dir, secret
}

func TestAFileThatIsExchangedAfterItWasFoundIsNotRead(t *testing.T) {
	for name, swap := range map[string]func(file, secret string) error{
		"by a link": func(file, secret string) error {
			return errors.Join(os.Remove(file), os.Symlink(secret, file))
		},
		"by a link to itself": func(file, _ string) error { return errors.Join(os.Remove(file), os.Symlink(file, file)) },
		"by a hard link": func(file, secret string) error {
			return errors.Join(os.Remove(file), os.Link(secret, file))
		},
		"by a pipe": func(file, _ string) error {
			return errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600))
		},
		"by a directory": func(file, _ string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
		"by a link to a device": func(file, _ string) error {
			return errors.Join(os.Remove(file), os.Symlink("/dev/zero", file))
		},
		"by a link into /proc": func(file, _ string) error {
			return errors.Join(os.Remove(file), os.Symlink("/proc/self/environ", file))
		},
		"by nothing": func(file, _ string) error { return os.Remove(file) },
		"its directory, by a link": func(file, secret string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(file)), os.Symlink(filepath.Dir(secret), filepath.Dir(file)))
		},
		"its directory, by a link upwards": func(file, _ string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(file)), os.Symlink("../../out", filepath.Dir(file)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, secret := uploadFixture(t)
			files, err := UploadPolicy{Folders: []string{dir}}.findAll("", []string{"sub/file"})
			check.Must(t, err)
			check.Must(t, swap(filepath.Join(dir, "sub", "file"), secret))
			to := filepath.Join(t.TempDir(), "0", "file")
			check.Fails(t, check.Err(files[0].copyTo(to, 1<<20)), nil)
			if got, err := os.ReadFile(to); err == nil && bytes.Contains(got, []byte("secret")) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestAFileThatIsExchangedWhileItIsOpenedIsNotRead(t *testing.T) {
	dir, secret := uploadFixture(t)
	file := filepath.Join(dir, "sub", "file")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			spare := fmt.Sprintf("%s.%d", file, n)
			if n%2 == 0 {
				_ = os.Symlink(secret, spare)
			} else {
				_ = os.WriteFile(spare, []byte("open"), 0o600)
			}
			_ = os.Rename(spare, file)
		}
	}()
	u := UploadPolicy{Folders: []string{dir}}
	for range 300 {
		held, copies, err := u.Copy("", []string{"sub/file"}, t.TempDir(), 1<<20)
		if err != nil {
			continue
		}
		if got, err := os.ReadFile(copies[0]); err != nil || string(got) == "secret" {
			t.Errorf("got %q, %v", got, err)
		}
		_ = os.RemoveAll(held)
	}
	close(stop)
	<-done
}

func TestUploadsAreCopiedWithinTheirLimit(t *testing.T) {
	dir, _ := uploadFixture(t)
	second := filepath.Join(dir, "second")
	when := time.Now().Add(-time.Hour).Truncate(time.Second)
	check.Must(t, errors.Join(os.WriteFile(second, []byte("12345"), 0o600), os.Chtimes(second, when, when)))
	u, into := UploadPolicy{Folders: []string{dir}}, t.TempDir()
	held, copies, err := u.Copy("", []string{"sub/file", "second", "second"}, into, 14)
	check.Must(t, err)
	for i, want := range []string{"open", "12345", "12345"} {
		if got, err := os.ReadFile(copies[i]); err != nil || string(got) != want ||
			!strings.HasPrefix(copies[i], filepath.Join(held, "files")) {
			t.Errorf("%s: got %q, %v; want %q", copies[i], got, err, want)
		}
	}
	if info, err := os.Stat(copies[1]); err != nil || filepath.Base(copies[1]) != "second" ||
		!info.ModTime().Equal(when) || info.Mode().Perm() != 0o600 {
		t.Errorf("got %+v, %v; want name and time of the file", info, err)
	}
	check.Must(t, os.RemoveAll(held))
	for _, paths := range [][]string{{"second", "second", "second"}, {"second", "none"}, {}} {
		if _, _, err := u.Copy("", paths, into, 14); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%v: got %v, want it refused", paths, err)
		}
	}
	if left, _ := os.ReadDir(into); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// staged returns a folder with a finished file in its staging directory.
func staged(t *testing.T) (*Folder, string) {
	t.Helper()
	folder, err := OpenFolder(t.TempDir())
	check.Must(t, err)
	t.Cleanup(func() { _ = folder.Close() })
	dir, err := folder.MakeStaging()
	check.Must(t, err)
	from := filepath.Join(dir, "guid")
	check.Must(t, os.WriteFile(from, []byte("content"), 0o755))
	return folder, from
}

func TestADownloadThatIsExchangedWhileItIsSavedIsRefused(t *testing.T) {
	for name, swap := range map[string]func(from string) error{
		"by another file": func(from string) error {
			return errors.Join(os.WriteFile(from+"2", []byte("other"), 0o600), os.Rename(from+"2", from))
		},
		"by a link":        func(from string) error { return errors.Join(os.Remove(from), os.Symlink("/etc/passwd", from)) },
		"by a second name": func(from string) error { return os.Link(from, from+"2") },
		"by nothing":       os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			folder, from := staged(t)
			n, err := folder.OpenStaged(from)
			check.Must(t, err)
			defer func() { _ = n.Close() }()
			check.Must(t, swap(from))
			check.Fails(t, folder.MoveIn(n, "a"), nil)
			if _, err := os.Lstat(filepath.Join(folder.Dir(), "a")); err == nil {
				t.Error("something lies in its place")
			}
		})
	}
}

func TestOnlyRegularFilesAreFinished(t *testing.T) {
	folder, from := staged(t)
	for name, put := range map[string]func(path string) error{
		"link": func(p string) error { return os.Symlink(from, p) }, "pipe": func(p string) error {
			return syscall.Mkfifo(p, 0o600)
		},
		"directory": func(p string) error { return os.Mkdir(p, 0o700) }, "device": func(p string) error {
			return os.Symlink("/dev/zero", p)
		},
	} {
		path := from + name
		check.Must(t, put(path))
		check.Fails(t, check.Err(folder.OpenStaged(path)), nil, name+" is not a regular file")
	}
	n, err := folder.OpenStaged(from)
	check.Must(t, err)
	defer func() { _ = n.Close() }()
	check.Must(t, folder.MoveIn(n, "a.sh"))
	if info, err := os.Stat(filepath.Join(folder.Dir(), "a.sh")); err != nil || info.Mode().Perm() != 0o600 ||
		string(n.Head) != "content" || n.Size != 7 {
		t.Errorf("got %v, %v, %q", info.Mode(), err, n.Head)
	}
}

func TestManyDownloadsOfOneNameAtOnceLeaveOneWholeFile(t *testing.T) {
	folder, from := staged(t)
	var wg sync.WaitGroup
	for i := range 20 {
		path := fmt.Sprintf("%s%d", from, i)
		check.Must(t, os.WriteFile(path, []byte(strings.Repeat("x", 1000)), 0o600))
		wg.Go(func() {
			n, err := folder.OpenStaged(path)
			if err != nil {
				t.Error(err)
				return
			}
			check.Must(t, errors.Join(folder.MoveIn(n, "same"), n.Close()))
		})
	}
	wg.Wait()
	if got, err := os.ReadFile(filepath.Join(folder.Dir(), "same")); err != nil || len(got) != 1000 {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}
