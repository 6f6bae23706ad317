package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/internal/settings"
)

// DiskLimits bound what the files of tasks take up. A zero one does not.
type DiskLimits struct {
	Total, Task, Free int64 // bytes: of all files, of those of one task's session, that must stay free
	Age               time.Duration
}

// ErrDiskLimit says that a file is not kept, or not begun, for want of room.
var ErrDiskLimit = errors.New("there is no room for more files")

// diskKeeper bounds what downloads, pictures and traces take up, and tells when the disk is nearly full.
type diskKeeper struct {
	Dir    string // of the state
	Limits func() DiskLimits
	Free   func(dir string) (int64, error)
	Logger *slog.Logger

	mu    sync.Mutex
	used  int64            // by all files, counted at the last tidying and kept up since
	tasks map[string]int64 // by session, while this process runs
}

// diskFolders hold the files that are bounded, below the state. Recordings have a bound each and go with their tasks.
var diskFolders = []string{"downloads", "pictures", "traces"}

const (
	tidyInterval = 10 * time.Minute
	// recentFile is how long a file is not removed for want of room: whoever asked for it has yet to look at it.
	recentFile = 10 * time.Minute
)

// Run tidies now and then until ctx ends.
func (k *diskKeeper) Run(ctx context.Context) {
	tick := time.NewTicker(tidyInterval)
	defer tick.Stop()
	for {
		k.Tidy(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

type keptFile struct {
	path    string
	size    int64
	changed time.Time
}

// Tidy removes files that are too old, and the oldest of those that are too many together.
func (k *diskKeeper) Tidy(now time.Time) {
	limits := k.Limits()
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []keptFile
	k.used = 0
	for _, folder := range diskFolders {
		_ = filepath.WalkDir(filepath.Join(k.Dir, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil //nolint:nilerr // what cannot be looked at is not counted
			}
			info, err := e.Info()
			if err != nil {
				return nil //nolint:nilerr // it is gone
			}
			k.used += info.Size()
			if !strings.Contains(path, string(filepath.Separator)+".") { // downloads under way are tidied by their browser
				all = append(all, keptFile{path, info.Size(), info.ModTime()})
			}
			return nil
		})
	}
	slices.SortFunc(all, func(a, b keptFile) int { return cmp.Or(a.changed.Compare(b.changed), strings.Compare(a.path, b.path)) })
	for _, f := range all {
		age := now.Sub(f.changed)
		outdated := limits.Age > 0 && age >= limits.Age
		tooMuch := limits.Total > 0 && k.used > limits.Total && age >= recentFile
		if !outdated && !tooMuch {
			continue
		}
		if err := os.Remove(f.path); err != nil {
			k.Logger.Warn("remove old file", "file", filepath.Base(f.path), "error", err)
			continue
		}
		k.used -= f.size
	}
	if free, err := k.Free(k.Dir); err == nil && limits.Free > 0 && free < 2*limits.Free {
		k.Logger.Warn("the disk is nearly full", "free_mb", free>>20, "least_mb", limits.Free>>20)
	}
}

// Room says why there is no room for so many bytes more; task is the session that they are for, "" for none.
func (k *diskKeeper) Room(task string, more int64) error {
	limits := k.Limits()
	k.mu.Lock()
	used, own := k.used, k.tasks[task]
	k.mu.Unlock()
	full := func(what string, limit int64, setting string) error {
		return fmt.Errorf("%w: %s %s. The operator can raise %q in the settings, or remove files", ErrDiskLimit, what, gibibytes(limit), setting)
	}
	if limits.Total > 0 && used+more > limits.Total {
		k.Tidy(time.Now()) // older files make room
		k.mu.Lock()
		used = k.used
		k.mu.Unlock()
	}
	switch free, err := k.Free(k.Dir); {
	case limits.Total > 0 && used+more > limits.Total:
		return full("downloads, pictures and traces may take up", limits.Total, "Files in all (GiB)")
	case task != "" && limits.Task > 0 && own+more > limits.Task:
		return full("the files of one task's session may take up", limits.Task, "Files of one task (GiB)")
	case err == nil && limits.Free > 0 && free < limits.Free:
		return fmt.Errorf("%w: the disk must keep %s free (%q in the settings): remove files of this machine",
			ErrDiskLimit, gibibytes(limits.Free), "Free disk space (GiB)")
	}
	return nil
}

// Keep is Room for a file that is kept then.
func (k *diskKeeper) Keep(task string, size int64) error {
	if err := k.Room(task, size); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used += size
	if task != "" {
		if k.tasks == nil {
			k.tasks = map[string]int64{}
		}
		k.tasks[task] += size
	}
	return nil
}

func gibibytes(n int64) string { return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30)) }

// diskLimits returns the limits of the settings.
func diskLimits(s settings.Settings) DiskLimits {
	return DiskLimits{
		Total: int64(s.Browser.MaxFiles) << 30, Task: int64(s.Browser.MaxTaskFiles) << 30, Free: int64(s.Browser.MinFree) << 30,
		Age: time.Duration(s.RetentionInDays) * 24 * time.Hour,
	}
}
