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

// lockName is a file in each user data directory. The lock is the advisory lock on it (flock(2)), which ends with its
// holder, however that ends; the contents only tell who it is, and which browser to look for when the holder has died.
const lockName = "clank.lock"

// LockHolder says who has a user data directory, or had it last.
type LockHolder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`

	// Browser and BrowserStart identify the browser process that the holder has launched.
	Browser      int    `json:"browser,omitempty"`
	BrowserStart string `json:"browserStart,omitempty"`
}

// LockedError says that somebody else uses a user data directory.
type LockedError struct {
	Dir    string
	Holder LockHolder // zero if unknown
}

// Error names the holder and the way out.
func (e *LockedError) Error() string {
	who := "another program"
	if e.Holder.PID != 0 {
		who = fmt.Sprintf("%s (pid %d) since %s", e.Holder.Program, e.Holder.PID, e.Holder.Since.Format(time.RFC3339))
	}
	return fmt.Sprintf("user data directory %s is in use by %s: end it, or use another profile", e.Dir, who)
}

// holderFile returns the file that says who has a directory: the locked one, except where a lock keeps others from
// reading it, too.
func holderFile(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "clank.holder")
	}
	return filepath.Join(dir, lockName)
}

type dirLock struct {
	flock  *flock.Flock
	dir    string // may change its name while it is locked
	holder LockHolder
	last   LockHolder // who had it before
}

// lockDir takes the directory, or fails with a *LockedError at once.
func lockDir(dir string) (*dirLock, error) {
	lock, last := flock.New(filepath.Join(dir, lockName)), readHolder(dir)
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock user data directory %s: %w", dir, err)
	case !ok:
		return nil, &LockedError{Dir: dir, Holder: last}
	}
	l := &dirLock{flock: lock, dir: dir, last: last, holder: LockHolder{PID: os.Getpid(), Program: ownProgramName(), Since: time.Now().Round(0)}}
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

// record notes the browser, so that a successor can tell it from one that a person started.
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

// release lets others have the directory. The file stays: removing it would let two holders lock two files.
func (l *dirLock) release() { _ = l.flock.Unlock() }

func readHolder(dir string) LockHolder {
	var h LockHolder
	data, err := os.ReadFile(holderFile(dir))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return LockHolder{}
	}
	return h
}

// singletonFiles are what Chromium itself leaves in a user data directory that is in use (process_singleton_posix).
var singletonFiles = []string{"SingletonLock", "SingletonSocket", "SingletonCookie"}

// singletonOwner reads Chromium's own lock, a link to "host-pid". ok is false if there is none.
func singletonOwner(dir string) (host string, pid int, ok bool) {
	target, err := os.Readlink(filepath.Join(dir, "SingletonLock"))
	if err != nil {
		return "", 0, false
	}
	host, number, _ := cutLast(target, "-")
	pid, _ = strconv.Atoi(number) // 0 where it is none
	return host, pid, true
}

// singletonSocket returns the temporary directory with the socket of the browser that has a user data directory; "" if
// none is known.
func singletonSocket(dir string) string {
	target, err := os.Readlink(filepath.Join(dir, "SingletonSocket"))
	if err != nil || !filepath.IsAbs(target) {
		return ""
	}
	return filepath.Dir(target)
}

// removeSocket removes such a directory, unless something else is in it.
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

// LastLockHolder returns who holds a user data directory, or held it last, and whether that program still runs. It does
// not disturb that program.
func LastLockHolder(dir string) (h LockHolder, running bool) {
	h = readHolder(dir)
	p, ok := inspectProcess(h.PID)
	return h, h.PID > 0 && ok && !p.zombie
}
