package server

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/internal/recording"
	"clank/internal/settings"
	"clank/sessions"
)

// DiskLimits are the limits of the disk space for files of tasks. A limit of zero is none.
type DiskLimits struct {
	Total, Place, Task int64 // bytes of all files, of one place, and of one session
	Free               int64 // bytes that must stay free
	Age                time.Duration
}

// diskLimiter limits the disk space of downloads, pictures, traces, records of tasks and transcripts, and warns when
// the disk is nearly full.
type diskLimiter struct {
	Dir     string // of the state
	Limits  func() DiskLimits
	Free    func(dir string) (int64, error)
	Running func(task string) bool // reports whether a task's record is being written; nil means none is
	Logger  *slog.Logger

	mu     sync.Mutex
	used   int64                    // by all files; recounted by each tidying
	places map[sessions.Place]int64 // the same by place; the files of the operator count only in the total
	tasks  map[string]int64         // by open session, since this process started
}

const (
	tidyInterval = 10 * time.Minute
	// recentFile is the age below which a file is not removed to make room: its requester has yet to look at it.
	recentFile = 10 * time.Minute
)

// Run tidies periodically until ctx ends.
func (k *diskLimiter) Run(ctx context.Context) {
	tick := time.Tick(tidyInterval)
	for {
		k.Tidy(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
	}
}

// keptFile is a file, or a task's record.
type keptFile struct {
	path     string
	size     int64
	changed  time.Time
	place    sessions.Place
	isRecord bool
}

// Tidy removes files that are too old, and the oldest ones over the limits.
func (k *diskLimiter) Tidy(now time.Time) {
	k.makeRoom(now, "", 0)
	if warning := diskWarning(k.Limits(), k.Free, k.Dir); warning != "" {
		k.Logger.Warn("the disk is nearly full", "says", warning)
	}
}

// makeRoom removes files that are too old, and then the oldest ones until more bytes of place fit.
func (k *diskLimiter) makeRoom(now time.Time, place sessions.Place, more int64) {
	limits := k.Limits()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used, k.places = 0, map[sessions.Place]int64{}
	all := append(k.files(), k.records()...)
	for _, f := range all {
		k.used += f.size
		k.places[f.place] += f.size
	}
	slices.SortFunc(all, func(a, b keptFile) int {
		return cmp.Or(a.changed.Compare(b.changed), strings.Compare(a.path, b.path))
	})
	for _, f := range all {
		age, wanted := now.Sub(f.changed), int64(0)
		if f.place == place {
			wanted = more
		}
		outdated := limits.Age > 0 && age >= limits.Age && !f.isRecord
		tooMuch := isOver(limits.Total, k.used+more) || f.place != "" && isOver(limits.Place, k.places[f.place]+wanted)
		below, _ := filepath.Rel(k.Dir, f.path)
		unfinished := strings.Contains(below, string(filepath.Separator)+".") // its writer removes it, unless that was killed
		if !outdated && (!tooMuch || age < recentFile || unfinished) {
			continue
		}
		if err := os.RemoveAll(f.path); err != nil {
			k.Logger.Warn("remove old file", "file", filepath.Base(f.path), "error", err)
			continue
		}
		k.removeEmptyFolders(filepath.Dir(f.path))
		k.used -= f.size
		k.places[f.place] -= f.size
	}
}

// removeEmptyFolders removes a folder of received files, and those around it, while they are empty. Other folders stay:
// a browser may be about to write to them.
func (k *diskLimiter) removeEmptyFolders(dir string) {
	received := filepath.Join(k.Dir, inboundFolder) + string(filepath.Separator)
	for strings.HasPrefix(dir, received) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// isOver reports whether bytes exceeds limit, if there is one.
func isOver(limit, bytes int64) bool { return limit > 0 && bytes > limit }

// files lists the files in the folders, without those that cannot be read.
func (k *diskLimiter) files() (list []keptFile) {
	for _, part := range homeParts {
		if !part.expires {
			continue
		}
		root := filepath.Join(k.Dir, part.name)
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil //nolint:nilerr // see above
			}
			if info, err := e.Info(); err == nil {
				below, _ := filepath.Rel(root, path)
				first, _, _ := strings.Cut(below, string(filepath.Separator))
				_, place := sessions.SplitProfile(first)
				list = append(list, keptFile{path, info.Size(), info.ModTime(), place, false})
			}
			return nil
		})
	}
	return list
}

// records lists the records of tasks that are not being written.
func (k *diskLimiter) records() (list []keptFile) {
	dir := filepath.Join(k.Dir, recordsFolder)
	runs, err := recording.ListRuns(dir)
	if err != nil {
		k.Logger.Warn("records of tasks are not counted", "error", err)
	}
	for _, run := range runs {
		if k.Running != nil && k.Running(run.Task) {
			continue
		}
		record := keptFile{path: filepath.Join(dir, run.Task), place: run.Place, isRecord: true}
		_ = filepath.WalkDir(record.path, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil //nolint:nilerr // as with files
			}
			if info, err := e.Info(); err == nil {
				record.size += info.Size()
				if info.ModTime().After(record.changed) {
					record.changed = info.ModTime()
				}
			}
			return nil
		})
		list = append(list, record)
	}
	return list
}

// Room returns an error unless more bytes still fit. task is the session of the file, or "".
func (k *diskLimiter) Room(task string, place sessions.Place, more int64) error {
	limits := k.Limits()
	over := func() (total, ofPlace, ofTask bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		return isOver(limits.Total, k.used+more), place != "" && isOver(limits.Place, k.places[place]+more),
			task != "" && isOver(limits.Task, k.tasks[task]+more)
	}
	full := func(what string, limit int64, setting string) error {
		return fmt.Errorf("%w: %s %s. The operator can raise %q in the settings, or remove files", sessions.ErrNoRoom, what,
			gibibytes(limit), setting)
	}
	total, ofPlace, ofTask := over()
	if total || ofPlace {
		k.makeRoom(time.Now(), place, more) // old files may make room
		total, ofPlace, ofTask = over()
	}
	switch free, err := k.Free(k.Dir); {
	case total:
		return full("the files and records of tasks may take up", limits.Total, "Files in all (GiB)")
	case ofPlace:
		const what = "those of one server, or of one person in private, may take up"
		return full(what, limits.Place, "Files of one place (GiB)")
	case ofTask:
		return full("the files of one task's session may take up", limits.Task, "Files of one task (GiB)")
	case err == nil && limits.Free > 0 && free < limits.Free:
		return fmt.Errorf("%w: the disk must keep %s free (%q in the settings): remove files of this machine",
			sessions.ErrNoRoom, gibibytes(limits.Free), "Free disk space (GiB)")
	}
	return nil
}

// Keep is like Room and then counts the file.
func (k *diskLimiter) Keep(task string, place sessions.Place, size int64) error {
	if err := k.Room(task, place, size); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used += size
	if k.places == nil {
		k.places = map[sessions.Place]int64{}
	}
	k.places[place] += size
	if task == "" {
		return nil
	}
	if k.tasks == nil {
		k.tasks = map[string]int64{}
	}
	k.tasks[task] += size
	return nil
}

// ForgetTask ends counting the files of a closed session towards the limit of a task.
func (k *diskLimiter) ForgetTask(task string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.tasks, task)
}

// diskWarning returns a warning if the disk is nearly or completely full; "" if not, or if no minimum is set.
func diskWarning(limits DiskLimits, freeBytes func(dir string) (int64, error), dir string) string {
	free, err := freeBytes(dir)
	switch {
	case err != nil || limits.Free <= 0 || free >= 2*limits.Free:
		return ""
	case free >= limits.Free:
		return fmt.Sprintf("The disk is nearly full: %s are free. Below %s nothing is downloaded or kept. "+
			"Remove files of this machine.", gibibytes(free), gibibytes(limits.Free))
	}
	return fmt.Sprintf("The disk is full: %s are free, and nothing is downloaded or kept below %s. "+
		"Remove files of this machine.", gibibytes(free), gibibytes(limits.Free))
}

func gibibytes(n int64) string { return fmt.Sprintf("%.4g GiB", float64(n)/(1<<30)) }

// diskLimits returns the configured limits.
func diskLimits(s settings.Settings) DiskLimits {
	return DiskLimits{
		Total: int64(s.Browser.MaxFiles) << 30, Place: int64(s.Browser.MaxPlaceFiles) << 30,
		Task: int64(s.Browser.MaxTaskFiles) << 30, Free: int64(s.Browser.MinFree) << 30,
		Age: time.Duration(s.RetentionInDays) * 24 * time.Hour,
	}
}
