package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
)

func TestOldFilesMakeRoom(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tt := range []struct {
		name   string
		limits DiskLimits
		want   string
	}{
		{"no limits", DiskLimits{}, "a b c d new"},
		{"too old", DiskLimits{Age: 35 * time.Hour}, "a b c new"},
		{"too much", DiskLimits{Total: 3600}, "a b new"},
		{"too much, and all that is left is new", DiskLimits{Total: 1}, "new"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, path := range []string{"downloads/new", "pictures/a", "traces/b", "downloads/sub/c", "downloads/d", "uploads/kept", "downloads/.staging-1/way"} {
				path = filepath.Join(dir, path)
				check.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				check.Must(t, os.WriteFile(path, make([]byte, 900), 0o600))
				at := now.Add(-time.Duration(i) * 10 * time.Hour)
				check.Must(t, os.Chtimes(path, at, at))
			}
			k := &diskKeeper{
				Dir: dir, Limits: func() DiskLimits { return tt.limits }, Logger: slog.New(slog.DiscardHandler),
				Free: func(string) (int64, error) { return 1 << 40, nil },
			}
			k.Tidy(now)
			var left []string
			for _, pattern := range []string{"*/*", "*/sub/*", "*/.staging-1/*"} {
				files, _ := filepath.Glob(filepath.Join(dir, pattern))
				for _, f := range files {
					if info, err := os.Stat(f); err == nil && !info.IsDir() {
						left = append(left, filepath.Base(f))
					}
				}
			}
			slices.Sort(left)
			if got := strings.Join(left, " "); got != strings.Replace(tt.want+" way", "new", "kept new", 1) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestNobodyFillsTheDisk(t *testing.T) {
	t.Parallel()
	free := int64(100)
	k := &diskKeeper{
		Dir: t.TempDir(), Limits: func() DiskLimits { return DiskLimits{Total: 50, Task: 20, Free: 40} }, Logger: slog.New(slog.DiscardHandler),
		Free: func(string) (int64, error) { return free, nil },
	}
	for _, tt := range []struct {
		task string
		size int64
		free int64
		want string
	}{
		{"a", 15, 100, ""},
		{"a", 6, 100, "Files of one task"},
		{"b", 20, 100, ""},
		{"", 20, 100, ""}, // what was counted is not there any more
		{"c", 20, 39, "Free disk space"},
		{"c", 51, 100, "Files in all"},
	} {
		free = tt.free
		err := k.Keep(tt.task, tt.size)
		if tt.want == "" {
			check.Must(t, err)
			continue
		}
		check.Fails(t, err, ErrDiskLimit, tt.want)
	}
}
