package chrome

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/gofrs/flock"
)

// lockName is a file in each user data directory with an advisory lock (flock(2)), which the system releases when its
// holder ends. Its contents identify the holder, and its browser in case the holder has died.
const lockName = "clank.lock"

// LockHolder identifies the program that uses a user data directory, or used it last.
type LockHolder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`

	// Browser and BrowserStart identify the browser process that the holder launched.
	Browser      int    `json:"browser,omitempty"`
	BrowserStart string `json:"browserStart,omitempty"`
}

// LockedError says that another program uses a user data directory.
type LockedError struct {
	Dir    string
	Holder LockHolder // zero if unknown
}

// Error names the holder and what to do.
func (e *LockedError) Error() string {
	who := "another program"
	if e.Holder.PID != 0 {
		who = fmt.Sprintf("%s (pid %d) since %s", e.Holder.Program, e.Holder.PID, e.Holder.Since.Format(time.RFC3339))
	}
	return fmt.Sprintf("user data directory %s is in use by %s: end it, or use another profile", e.Dir, who)
}

// holderFile returns the file that identifies the holder: the locked one, except where a lock prevents others from
// reading it.
func holderFile(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "clank.holder")
	}
	return filepath.Join(dir, lockName)
}

type dirLock struct {
	flock  *flock.Flock
	dir    string // may be renamed while locked
	holder LockHolder
	last   LockHolder // the previous holder
}

// lockDir locks a directory, or fails with a *LockedError at once.
func lockDir(dir string) (*dirLock, error) {
	lock, last := flock.New(filepath.Join(dir, lockName)), readHolder(dir)
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock user data directory %s: %w", dir, err)
	case !ok:
		return nil, &LockedError{Dir: dir, Holder: last}
	}
	l := &dirLock{flock: lock, dir: dir, last: last, holder: LockHolder{
		PID: os.Getpid(), Program: ownProgramName(),
		Since: time.Now().Round(0),
	}}
	if err := l.write(); err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

func ownProgramName() string {
	path, err := os.Executable()
	if err != nil {
		return "clank"
	}
	return filepath.Base(path)
}

// record records the browser, so that the next holder can tell it from one that a person started.
func (l *dirLock) record(browser processInfo) error {
	l.holder.Browser, l.holder.BrowserStart = browser.pid, browser.start
	return l.write()
}

func (l *dirLock) write() error {
	data, err := json.Marshal(l.holder)
	if err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	if err := os.WriteFile(holderFile(l.dir), data, 0o600); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	return nil
}

// release unlocks the directory. The file stays: if it were removed, two holders could lock two files.
func (l *dirLock) release() { _ = l.flock.Unlock() }

func readHolder(dir string) LockHolder {
	var h LockHolder
	data, err := os.ReadFile(holderFile(dir))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return LockHolder{}
	}
	return h
}

// singletonFiles are what Chromium creates in a user data directory in use (process_singleton_posix).
var singletonFiles = []string{"SingletonLock", "SingletonSocket", "SingletonCookie"}

// singletonOwner reads Chromium's lock, a symbolic link to "host-pid". ok is false if there is none.
func singletonOwner(dir string) (host string, pid int, ok bool) {
	target, err := os.Readlink(filepath.Join(dir, "SingletonLock"))
	if err != nil {
		return "", 0, false
	}
	host, number, _ := cutLast(target, "-")
	pid, _ = strconv.Atoi(number) // 0 if malformed
	return host, pid, true
}

// singletonSocket returns the temporary directory with the socket of the browser that uses a user data directory; "" if
// unknown.
func singletonSocket(dir string) string {
	target, err := os.Readlink(filepath.Join(dir, "SingletonSocket"))
	if err != nil || !filepath.IsAbs(target) {
		return ""
	}
	return filepath.Dir(target)
}

// removeSocket removes that directory, unless it contains anything else.
func removeSocket(dir string) {
	if dir == "" {
		return
	}
	for _, name := range []string{"SingletonSocket", "SingletonCookie"} {
		_ = os.Remove(filepath.Join(dir, name))
	}
	_ = os.Remove(dir)
}

// clearSingleton removes what a browser that has ended left: its links in the directory, and the socket they lead to.
func clearSingleton(dir string) error {
	removeSocket(singletonSocket(dir))
	for _, name := range append([]string{"DevToolsActivePort"}, singletonFiles...) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove stale lock: %w", err)
		}
	}
	return nil
}

// LastLockHolder returns the present or last holder of a user data directory, and whether that program still runs. It
// does not disturb the program.
func LastLockHolder(dir string) (h LockHolder, running bool) {
	h = readHolder(dir)
	p, ok := inspectProcess(h.PID)
	return h, h.PID > 0 && ok && !p.zombie
}
