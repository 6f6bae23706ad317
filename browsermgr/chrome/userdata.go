package chrome

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// userData is a user data directory that we hold.
type userData struct {
	dir    string
	temp   bool
	lock   *dirLock
	socket string // where its browser's socket was when it had started
}

// openUserData makes or takes the directory, and clears away what a predecessor left in it.
func openUserData(ctx context.Context, o LaunchOptions) (*userData, error) {
	u, err := lockUserDataDir(o)
	if err != nil {
		return nil, err
	}
	err = reapLocked(ctx, u.dir, u.lock)
	if err == nil {
		err = writeProfilePrefs(u.dir, o.ProfileName, o.Color)
	}
	if err == nil && o.Proxy != "" {
		err = restrictNetworkPrefs(u.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, u.closeAfterFailure(ctx))
	}
	return u, nil
}

func lockUserDataDir(o LaunchOptions) (*userData, error) {
	if o.UserDataDir == "" {
		return makeTempUserDataDir(o.TempDir)
	}
	dir, err := filepath.Abs(o.UserDataDir)
	if err != nil {
		return nil, fmt.Errorf("user data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make user data directory: %w", err)
	}
	// Chromium follows links before it locks; so do we, or two names of one directory would be two locks.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("user data directory: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	return &userData{dir: dir, lock: lock}, nil
}

// makeTempUserDataDir makes a directory that has the name by which [ReapTemp] finds it only once it is locked:
// otherwise another program could take it for a dead one's.
func makeTempUserDataDir(base string) (*userData, error) {
	made, err := os.MkdirTemp(base, "clank-new-")
	if err != nil {
		return nil, fmt.Errorf("make temporary user data directory: %w", err)
	}
	lock, err := lockDir(made)
	if err != nil {
		_ = os.RemoveAll(made)
		return nil, err
	}
	parent, name := filepath.Split(made)
	u := &userData{dir: filepath.Join(parent, tempPrefix+strings.TrimPrefix(name, "clank-new-")), temp: true, lock: lock}
	if err := os.Rename(made, u.dir); err != nil {
		lock.release()
		_ = os.RemoveAll(made)
		return nil, fmt.Errorf("name temporary user data directory: %w", err)
	}
	lock.dir = u.dir
	return u, nil
}

// close gives the directory back after its browser has ended: its locks are removed, and a temporary directory as a
// whole.
func (u *userData) close(ctx context.Context) error {
	removeSocket(u.socket) // killed at the wrong moment, the browser leaves it with no link to it
	err := clearSingleton(u.dir)
	if u.temp {
		err = removeDir(ctx, u.dir)
	}
	u.lock.release()
	return err
}

// closeAfterFailure closes, and returns what to add to the error that is being returned anyway.
func (u *userData) closeAfterFailure(ctx context.Context) string {
	if err := u.close(ctx); err != nil {
		return "; then: " + err.Error()
	}
	return ""
}
