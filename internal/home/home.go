// Package home is the directory in which clank keeps its state: who owns it, where things lie in it, and how commands
// find the server that owns it. What the files hold is the business of those who write them.
package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Home is the directory in which clank keeps its state. Its methods may be called after [Open], or of a Home with Dir set.
type Home struct {
	Dir string // an absolute path

	lock *os.File // held while this process owns the state; nil before Claim
}

// Open finds the directory, which the environment may name in CLANK_HOME, and creates it. Nobody owns it by that.
func Open(getenv func(string) string) (*Home, error) {
	dir := getenv("CLANK_HOME")
	if dir == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the home directory: %w (set CLANK_HOME to a directory for clank's state)", err)
		}
		dir = filepath.Join(user, ".clank")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open home %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open home: %w (set CLANK_HOME to a directory that can be written)", err)
	}
	return &Home{Dir: dir}, nil
}

// Path is where something in the home lies.
func (h *Home) Path(elem ...string) string {
	return filepath.Join(append([]string{h.Dir}, elem...)...)
}

// ErrClaimed says that another process owns the home.
var ErrClaimed = errors.New("another clank uses this home")

// Claim makes this process the owner of the state until [Home.Release] or its end.
func (h *Home) Claim() error {
	f, err := os.OpenFile(h.Path("clank.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("claim home: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(f.Name())
		f.Close()
		return fmt.Errorf("%w: %s is held by process %s", ErrClaimed, h.Dir, strings.TrimSpace(string(holder)))
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, fmt.Sprintln(os.Getpid()))); err != nil {
		f.Close()
		return fmt.Errorf("claim home: %w", err)
	}
	h.lock = f
	return nil
}

func writeAt(f *os.File, s string) error {
	_, err := f.WriteAt([]byte(s), 0)
	return err
}

// Release gives the home back.
func (h *Home) Release() {
	if h.lock != nil {
		h.lock.Close()
		h.lock = nil
	}
}

// Address is where other processes of the same person find a running server. It
// is kept in the home.
type Address struct {
	URL    string `json:"url"`
	PID    int    `json:"pid"`
	Secret string `json:"secret"` // opens it while it runs
}

// Publish tells other processes of the same person where the server is, and what opens it.
func (h *Home) Publish(url, secret string) error {
	data, err := json.Marshal(Address{URL: url, PID: os.Getpid(), Secret: secret})
	if err != nil {
		return fmt.Errorf("publish the address: %w", err)
	}
	tmp := h.Path("server.json.tmp")
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("publish the address: %w", err)
	}
	if err := os.Rename(tmp, h.Path("server.json")); err != nil {
		return fmt.Errorf("publish the address: %w", err)
	}
	return nil
}

// TokenFile holds digests of the tokens that were given out.
func (h *Home) TokenFile() string { return h.Path("tokens.json") }

// Database is the file of the database.
func (h *Home) Database() string { return h.Path("clank.db") }

// Runs is the folder in which runs are recorded.
func (h *Home) Runs() string { return h.Path("runs") }

// Scripts is the folder in which scripts are kept.
func (h *Home) Scripts() string { return h.Path("scripts") }

// Unpublish takes the address back.
func (h *Home) Unpublish() error {
	if err := os.Remove(h.Path("server.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take the address back: %w", err)
	}
	return nil
}

// Server returns the address of the server that owns the home. found is false
// if none does; what a dead one left behind does not count.
func (h *Home) Server() (a Address, found bool, err error) {
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
	held, err := h.held()
	return a, held, err
}

// held reports whether some process owns the home.
func (h *Home) held() (bool, error) {
	f, err := os.OpenFile(h.Path("clank.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, fmt.Errorf("look at the lock of %s: %w", h.Dir, err)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil, nil
}
