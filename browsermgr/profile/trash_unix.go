//go:build unix

package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"clank/internal/hardening"
)

func moveToTrash(ctx context.Context, path, home string) (string, error) {
	if runtime.GOOS == "linux" {
		return moveToXDGTrash(path, home, os.Getenv("XDG_DATA_HOME"))
	}
	return moveToMacTrash(ctx, path, home)
}

// moveToXDGTrash uses the home trash, or that of the folder's file system.
func moveToXDGTrash(path, home, data string) (string, error) {
	if !filepath.IsAbs(data) {
		data = filepath.Join(home, ".local", "share")
	}
	to, err := moveIntoTrash(filepath.Join(data, "Trash"), path, path)
	if !errors.Is(err, syscall.EXDEV) {
		return to, err
	}
	top, err := mountPoint(path)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(top, path)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(top, ".Trash-"+strconv.Itoa(os.Getuid()))
	if err := ensureOwnDir(dir); err != nil {
		return "", err
	}
	return moveIntoTrash(dir, path, relative)
}

// ensureOwnDir creates a trash directory. It fails if the directory belongs to another user or is a link, since
// everybody may write to the top directory of some file systems.
func ensureOwnDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int64(stat.Uid) != int64(os.Getuid()) {
		return fmt.Errorf("%s is not a directory of this user", dir)
	}
	return nil
}

// moveIntoTrash moves path into a trash directory, under an unused name. Creating the info file first reserves the
// name.
func moveIntoTrash(dir, path, origin string) (string, error) {
	for _, sub := range []string{"files", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return "", err
		}
	}
	note := fmt.Sprintf("[Trash Info]\nPath=%s\nDeletionDate=%s\n", (&url.URL{Path: origin}).EscapedPath(),
		time.Now().Format("2006-01-02T15:04:05"))
	base := filepath.Base(path)
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s.%d", base, n)
		}
		info := filepath.Join(dir, "info", name+".trashinfo")
		to := filepath.Join(dir, "files", name)
		file, err := os.OpenFile(info, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.WriteString(note)
		if err = errors.Join(err, file.Close()); err == nil {
			if err = absent(to); err == nil {
				err = os.Rename(path, to)
			}
		}
		if err == nil {
			return to, nil
		}
		_ = os.Remove(info)
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// absent returns an error if path exists: a file without an info file, from a trash that was cleaned up by hand.
func absent(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, fs.ErrExist)
}

// mountPoint returns the top directory of the file system that contains path.
func mountPoint(path string) (string, error) {
	device := func(p string) (uint64, error) {
		var st syscall.Stat_t
		if err := syscall.Lstat(p, &st); err != nil {
			return 0, err
		}
		return uint64(st.Dev), nil //nolint:unconvert // its type differs between systems
	}
	want, err := device(path)
	if err != nil {
		return "", err
	}
	for {
		parent := filepath.Dir(path)
		above, err := device(parent)
		if err != nil {
			return "", err
		}
		if parent == path || above != want {
			return path, nil
		}
		path = parent
	}
}

const toolTimeout = 30 * time.Second

// moveToMacTrash uses the system's tool, which knows the trash of each volume.
func moveToMacTrash(ctx context.Context, path, home string) (string, error) {
	if tool, err := exec.LookPath("trash"); err == nil {
		ctx, cancel := context.WithTimeout(ctx, toolTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, tool, path)
		cmd.Env = hardening.Environ()
		if cmd.Run() == nil {
			return "", nil
		}
	}
	to := filepath.Join(home, ".Trash", fmt.Sprintf("%s-%d", filepath.Base(path), time.Now().UnixMilli()))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	return to, os.Rename(path, to)
}
