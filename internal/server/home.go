package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"clank/browsermgr/control/client"
	"clank/internal/atomicfile"
	"clank/internal/sqlite"

	"github.com/gofrs/flock"
)

// Home is the directory with clank's state. Use [OpenHome], or set Dir.
type Home struct {
	Dir string // an absolute path

	lock *flock.Flock // held while this process owns the state; nil before Claim
}

// OpenHome returns the home, which CLANK_HOME may name, and creates it. It does not claim it.
func OpenHome(getenv func(string) string) (*Home, error) {
	dir, err := client.HomeDir(getenv)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open home: %w (set CLANK_HOME to a directory that can be written)", err)
	}
	if err := protectHome(dir); err != nil {
		return nil, fmt.Errorf("open home: %w", err)
	}
	return &Home{Dir: dir}, nil
}

// protectHome makes the home accessible to its owner only. It refuses a directory that others can write unless it is
// empty: they may have written its contents.
func protectHome(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0: // Windows has no such bits
		return nil
	}
	if info.Mode().Perm()&0o022 != 0 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			return fmt.Errorf("other accounts of this machine can write to %s (%v), so that its settings and tokens may be "+
				"theirs: if it is yours, look at what is in it, then run chmod 700 %s; otherwise set CLANK_HOME to a directory of "+
				"your own", dir, info.Mode().Perm(), dir)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory
		return fmt.Errorf("other accounts of this machine can read %s, and that cannot be changed: %w", dir, err)
	}
	return nil
}

// resolve returns the home without links in its path, or as it is if it does not exist.
func (h *Home) resolve() *Home {
	if dir, err := filepath.EvalSymlinks(h.Dir); err == nil {
		return &Home{Dir: dir}
	}
	return h
}

// Path returns the path of something in the home.
func (h *Home) Path(elem ...string) string {
	return filepath.Join(append([]string{h.Dir}, elem...)...)
}

// lockFileName is the file whose lock the owner of the home holds. On Windows others cannot read a locked file, so a
// second file names the owner.
const (
	lockFileName  = "clank.lock"
	ownerFileName = "clank.owner"
)

// ErrHomeClaimed means that another process owns the home.
var ErrHomeClaimed = errors.New("another clank uses this home")

// ownerFile returns the file that names the owning process: the locked file, except on systems where a locked file
// cannot be read.
func (h *Home) ownerFile() string {
	if runtime.GOOS == "windows" {
		return h.Path(ownerFileName)
	}
	return h.Path(lockFileName)
}

// Claim makes this process the owner of the state until [Home.Release] or its exit.
func (h *Home) Claim() error {
	lock := flock.New(h.Path(lockFileName))
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("claim home: %w; set CLANK_HOME to a directory that can be written", err)
	case !ok:
		holder, _ := os.ReadFile(h.ownerFile())
		return fmt.Errorf("%w: %s is held by process %s", ErrHomeClaimed, h.Dir, strings.TrimSpace(string(holder)))
	}
	if err := os.WriteFile(h.ownerFile(), fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return errors.Join(fmt.Errorf("claim home: %w", err), lock.Unlock())
	}
	h.lock = lock
	return nil
}

// Release ends the ownership.
func (h *Home) Release() {
	if h.lock != nil {
		_ = h.lock.Unlock()
		h.lock = nil
	}
}

// Address is where the server runs, for other processes of the same user. It is stored in the home.
type Address struct {
	URL    string `json:"url"`
	PID    int    `json:"pid"`
	Secret string `json:"secret"` // grants access while the server runs
}

// PublishAddress stores the address and secret of the server for other processes of the same user.
func (h *Home) PublishAddress(url, secret string) (*client.AnnouncementFile, error) {
	return client.WriteAnnouncement(h.Path("server.json"), Address{URL: url, PID: os.Getpid(), Secret: secret})
}

// TokenFile is the file with digests of the access tokens.
func (h *Home) TokenFile() string { return h.Path("tokens.json") }

// DatabaseFile returns the file of the database.
func (h *Home) DatabaseFile() string { return h.Path("clank.db") }

// OpenDatabase opens the database; see [sqlite.Open]. If a newer clank created it, the error names the version. While
// another process owns the home, it does not migrate the database.
func (h *Home) OpenDatabase(ctx context.Context) (*sqlite.DB, error) {
	db, err := sqlite.OpenIf(ctx, h.DatabaseFile(), func() error {
		if h.lock != nil {
			return nil
		}
		owned, err := h.IsClaimed()
		if owned {
			err = fmt.Errorf("the clank that runs with %s is older than this program: restart it first, which brings the "+
				"database up to date", h.Dir)
		}
		return err
	})
	if newer, ok := errors.AsType[*sqlite.NewerError](err); ok {
		kept, _ := os.ReadFile(h.versionFile()) // without the file the version is unknown
		if version, schema, _ := strings.Cut(strings.TrimSpace(string(kept)), " "); schema == strconv.Itoa(newer.Schema) {
			newer.Version = "clank " + version
			err = fmt.Errorf("open database: %w", newer)
		}
	}
	return db, err
}

// CheckUsed returns an error if clank has never run with this home.
func (h *Home) CheckUsed() error {
	if _, err := os.Stat(h.DatabaseFile()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("nothing is kept in %s yet: set CLANK_HOME to the home that is meant", h.Dir)
	}
	return nil
}

// CheckDatabase reads the whole database, and returns an error if it is damaged.
func (h *Home) CheckDatabase(ctx context.Context) error {
	db, err := h.OpenDatabase(ctx)
	if err != nil {
		return err
	}
	return errors.Join(db.QuickCheck(ctx), db.Close())
}

// versionFile returns the file with the version of clank that last owned the database, and its schema.
func (h *Home) versionFile() string { return h.Path("clank.version") }

// storeVersion stores the version of this program.
func (h *Home) storeVersion(version string) error {
	if err := atomicfile.Write(h.versionFile(), fmt.Appendln(nil, version, sqlite.SchemaVersion())); err != nil {
		return fmt.Errorf("store the version in the home: %w", err)
	}
	return nil
}

// RunsDir returns the folder with the records of tasks.
func (h *Home) RunsDir() string { return h.Path("runs") }

// ScriptsDir returns the folder with the scripts.
func (h *Home) ScriptsDir() string { return h.Path("scripts") }

// RunningServer returns the address of the server that owns the home. found is false if none is running; an address
// left by a crash is ignored.
func (h *Home) RunningServer() (a Address, found bool, err error) {
	data, err := os.ReadFile(h.Path("server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Address{}, false, nil
	}
	if err != nil {
		return Address{}, false, fmt.Errorf("read the server's address: %w", err)
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return Address{}, false, fmt.Errorf("read the server's address in %s: %w (remove it; a clank that runs writes "+
			"it again)", h.Path("server.json"), err)
	}
	held, err := h.IsClaimed()
	return a, held, err
}

// IsClaimed reports whether a process owns the home.
func (h *Home) IsClaimed() (bool, error) {
	lock := flock.New(h.Path(lockFileName))
	free, err := lock.TryLock()
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return false, fmt.Errorf("look at the lock of %s: %w", h.Dir, err)
	}
	return !free, nil
}

// unfinishedPrefix begins the names of folders that [makeUnfinished] makes.
const unfinishedPrefix = ".clank-unfinished-"

// makeUnfinished makes a folder in another one for files that are not complete. The caller calls remove. If this
// process is killed first, the next call for the same parent removes the folder, or [removeUnfinished].
func makeUnfinished(parent string) (dir string, remove func() error, err error) {
	removeUnfinished(parent)
	for {
		if dir, err = os.MkdirTemp(parent, unfinishedPrefix); err != nil {
			return "", nil, err
		}
		lock := flock.New(filepath.Join(dir, lockFileName))
		ok, err := lock.TryLock()
		if ok {
			// a locked file cannot be removed on Windows
			return dir, func() error { return errors.Join(lock.Unlock(), os.RemoveAll(dir)) }, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // otherwise another process has taken it for abandoned
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

// removeUnfinished removes the folders with unfinished files of processes that have ended. What it cannot remove stays.
func removeUnfinished(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), unfinishedPrefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		lock := flock.New(filepath.Join(dir, lockFileName))
		if ok, _ := lock.TryLock(); ok {
			_ = lock.Unlock()
			_ = os.RemoveAll(dir)
		}
	}
}
