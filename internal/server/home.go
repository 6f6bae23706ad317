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

// Home is the directory in which clank keeps its state. Its methods may be called after [Open], or of a Home with Dir
// set.
type Home struct {
	Dir string // an absolute path

	lock *flock.Flock // held while this process owns the state; nil before Claim
}

// OpenHome finds the directory, which the environment may name in CLANK_HOME, and creates it. Nobody owns it by that.
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

// protectHome makes the home its owner's alone. One that others could write is refused unless it is empty: what is in it
// may be theirs.
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
			return fmt.Errorf("other accounts of this machine can write to %s (%v), so that its settings and tokens may be theirs: "+
				"look at what is in it, then run chmod 700 %s", dir, info.Mode().Perm(), dir)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory
		return fmt.Errorf("other accounts of this machine can read %s, and that cannot be changed: %w", dir, err)
	}
	return nil
}

// Path returns where something in the home lies.
func (h *Home) Path(elem ...string) string {
	return filepath.Join(append([]string{h.Dir}, elem...)...)
}

// lockFileName is the file in the home whose lock the owner holds.
// Windows keeps others from reading that: there a second file says who it is.
const (
	lockFileName  = "clank.lock"
	ownerFileName = "clank.owner"
)

// ErrHomeClaimed says that another process owns the home.
var ErrHomeClaimed = errors.New("another clank uses this home")

// ownerFile returns the file that says which process owns the home: the locked one, except where a lock keeps others
// from reading it, too.
func (h *Home) ownerFile() string {
	if runtime.GOOS == "windows" {
		return h.Path(ownerFileName)
	}
	return h.Path(lockFileName)
}

// Claim makes this process the owner of the state until [Home.Release] or its end.
func (h *Home) Claim() error {
	lock := flock.New(h.Path(lockFileName))
	switch ok, err := lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("claim home: %w", err)
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

// Release gives the home back.
func (h *Home) Release() {
	if h.lock != nil {
		_ = h.lock.Unlock()
		h.lock = nil
	}
}

// Address tells other processes of the same person where the server runs. It is kept in the home.
type Address struct {
	URL    string `json:"url"`
	PID    int    `json:"pid"`
	Secret string `json:"secret"` // opens it while it runs
}

// PublishAddress tells other processes of the same person where the server is, and what opens it.
func (h *Home) PublishAddress(url, secret string) (*client.AnnouncementFile, error) {
	return client.WriteAnnouncement(h.Path("server.json"), Address{URL: url, PID: os.Getpid(), Secret: secret})
}

// TokenFile holds digests of the tokens that were given out.
func (h *Home) TokenFile() string { return h.Path("tokens.json") }

// DatabaseFile returns the file of the database.
func (h *Home) DatabaseFile() string { return h.Path("clank.db") }

// OpenDatabase opens the database; see [sqlite.Open]. If a newer clank has made it, the error says which.
func (h *Home) OpenDatabase(ctx context.Context) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, h.DatabaseFile())
	if newer, ok := errors.AsType[*sqlite.NewerError](err); ok {
		kept, _ := os.ReadFile(h.versionFile()) // without it nobody knows
		if version, schema, _ := strings.Cut(strings.TrimSpace(string(kept)), " "); schema == strconv.Itoa(newer.Schema) {
			newer.Version = "clank " + version
			err = fmt.Errorf("open database: %w", newer)
		}
	}
	return db, err
}

// versionFile returns the file that names the program which last owned the database, and the schema of that.
func (h *Home) versionFile() string { return h.Path("clank.version") }

// noteVersion keeps the version of this program for older ones.
func (h *Home) noteVersion(version string) error {
	if err := atomicfile.Write(h.versionFile(), fmt.Appendln(nil, version, sqlite.SchemaVersion())); err != nil {
		return fmt.Errorf("note the version in the home: %w", err)
	}
	return nil
}

// RunsDir returns the folder in which runs are recorded.
func (h *Home) RunsDir() string { return h.Path("runs") }

// ScriptsDir returns the folder in which scripts are kept.
func (h *Home) ScriptsDir() string { return h.Path("scripts") }

// RunningServer returns the address of the server that owns the home. found is false
// if none does; what a dead one left behind does not count.
func (h *Home) RunningServer() (a Address, found bool, err error) {
	data, err := os.ReadFile(h.Path("server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Address{}, false, nil
	}
	if err != nil {
		return Address{}, false, fmt.Errorf("read the server's address: %w", err)
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return Address{}, false, fmt.Errorf("read the server's address in %s: %w", h.Path("server.json"), err)
	}
	held, err := h.isClaimed()
	return a, held, err
}

// isClaimed reports whether some process owns the home.
func (h *Home) isClaimed() (bool, error) {
	lock := flock.New(h.Path(lockFileName))
	free, err := lock.TryLock()
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return false, fmt.Errorf("look at the lock of %s: %w", h.Dir, err)
	}
	return !free, nil
}
