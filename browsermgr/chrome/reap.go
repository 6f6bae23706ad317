package chrome

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempPrefix is the prefix of the names of temporary user data directories.
const tempPrefix = "clank-browser-"

// stopGrace is how long a browser has for each step of stopping.
const stopGrace = 2500 * time.Millisecond

// Reap ends the browser that a crashed holder left running on this user data directory, and removes its locks. The
// browser is signalled only if the holder recorded it and its start time and command line still match. If the directory
// is in use, the error is a *[LockedError]; if it does not exist, that is no error.
func Reap(ctx context.Context, dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return nil // nothing to clean up
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("reap: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer lock.release()
	return reapLocked(ctx, dir, lock)
}

// ReapTemp calls Reap for the temporary user data directories below base (empty: the system's) whose owners have ended,
// removes them and returns their paths.
func ReapTemp(ctx context.Context, base string) ([]string, error) {
	if base == "" {
		base = os.TempDir()
	}
	dirs, err := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("reap temporary directories: %w", err)
	}
	var removed []string
	var errs []error
	for _, dir := range dirs {
		err := Reap(ctx, dir)
		if _, locked := errors.AsType[*LockedError](err); locked {
			continue
		}
		if err == nil {
			err = removeDir(ctx, dir)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, dir)
	}
	return removed, errors.Join(errs...)
}

func reapLocked(ctx context.Context, dir string, lock *dirLock) error {
	if err := endOrphan(ctx, dir, lock.last); err != nil {
		return err
	}
	host, pid, ok := singletonOwner(dir)
	if !ok {
		return nil
	}
	here, err := os.Hostname()
	if err == nil && host == here && pid > 0 {
		if p, running := inspectProcess(pid); running && !p.zombie && p.runsOn(dir) {
			return &LockedError{Dir: dir, Holder: LockHolder{PID: pid, Program: "a browser that clank did not start"}}
		}
	}
	return clearSingleton(dir)
}

// endOrphan ends the browser of a crashed holder.
func endOrphan(ctx context.Context, dir string, last LockHolder) error {
	ours := func() bool {
		p, ok := inspectProcess(last.Browser)
		return ok && !p.zombie && p.start == last.BrowserStart && p.runsOn(dir) && p.pgid == last.Browser
	}
	if last.Browser <= 1 || !ours() {
		return nil
	}
	if err := terminateGroup(last.Browser); err != nil {
		return err
	}
	if pollUntil(ctx, func() bool { return len(groupMembers(last.Browser)) == 0 }) {
		return nil
	}
	if err := killGroup(last.Browser); err != nil {
		return err
	}
	if !pollUntil(context.WithoutCancel(ctx), func() bool { return len(groupMembers(last.Browser)) == 0 }) {
		return fmt.Errorf("the browser left by a previous run (pid %d) does not exit, even when killed", last.Browser)
	}
	return nil
}

// pollEvery is the interval for polling states for which the system has no notification.
const pollEvery = 10 * time.Millisecond

// pollUntil waits until cond holds, for at most stopGrace; it returns false if ctx or the time ended first.
func pollUntil(ctx context.Context, cond func() bool) bool {
	deadline := time.After(stopGrace)
	tick := time.Tick(pollEvery)
	for !cond() {
		select {
		case <-ctx.Done():
			return false
		case <-deadline:
			return cond()
		case <-tick:
		}
	}
	return true
}

// removeDir removes a directory in which an exiting process may still create files.
func removeDir(ctx context.Context, dir string) error {
	var err error
	if !pollUntil(context.WithoutCancel(ctx), func() bool { err = os.RemoveAll(dir); return err == nil }) {
		return fmt.Errorf("remove temporary user data directory: %w", err)
	}
	return nil
}

// programOfPID returns the program name of a process; "" if unknown.
func programOfPID(pid int) string {
	p, ok := inspectProcess(pid)
	if !ok || len(p.args) == 0 || p.args[0] == "" {
		return ""
	}
	program, _, _ := strings.Cut(p.args[0], " ")
	return filepath.Base(program)
}

// runsOn reports whether a browser's main process was started with this user data directory.
func (p processInfo) runsOn(dir string) bool {
	line := " " + strings.Join(p.args, " ") + " "
	return strings.Contains(line, " --user-data-dir="+dir+" ") && !strings.Contains(line, " --type=")
}

// cutLast is strings.Cut around the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
