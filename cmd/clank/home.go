package main

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

// home is the directory in which clank keeps its state.
type home struct {
	dir  string
	lock *os.File // held while this process owns the state; nil before claim
}

// openHome finds and creates the directory.
func openHome(getenv func(string) string) (*home, error) {
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
	return &home{dir: dir}, nil
}

func (h *home) path(elem ...string) string {
	return filepath.Join(append([]string{h.dir}, elem...)...)
}

// errClaimed says that another process owns the home.
var errClaimed = errors.New("another clank uses this home")

// claim makes this process the owner of the state until release or its end.
func (h *home) claim() error {
	f, err := os.OpenFile(h.path("clank.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("claim home: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(f.Name())
		f.Close()
		return fmt.Errorf("%w: %s is held by process %s", errClaimed, h.dir, strings.TrimSpace(string(holder)))
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

// release gives the home back.
func (h *home) release() {
	if h.lock != nil {
		h.lock.Close()
		h.lock = nil
	}
}

// address is where other processes of the same person find a running server. It
// is kept in the home.
type address struct {
	URL    string `json:"url"`
	PID    int    `json:"pid"`
	Secret string `json:"secret"` // opens it while it runs
}

// publish tells other processes of the same person where the server is, and what opens it.
func (h *home) publish(url, secret string) error {
	data, err := json.Marshal(address{URL: url, PID: os.Getpid(), Secret: secret})
	if err != nil {
		return fmt.Errorf("publish the address: %w", err)
	}
	tmp := h.path("server.json.tmp")
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("publish the address: %w", err)
	}
	if err := os.Rename(tmp, h.path("server.json")); err != nil {
		return fmt.Errorf("publish the address: %w", err)
	}
	return nil
}

// tokenFile holds digests of the tokens that were given out.
func (h *home) tokenFile() string { return h.path("tokens.json") }

// unpublish takes the address back.
func (h *home) unpublish() error {
	if err := os.Remove(h.path("server.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take the address back: %w", err)
	}
	return nil
}

// server returns the address of the server that owns the home. found is false
// if none does; what a dead one left behind does not count.
func (h *home) server() (a address, found bool, err error) {
	data, err := os.ReadFile(h.path("server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return address{}, false, nil
	}
	if err != nil {
		return address{}, false, fmt.Errorf("read the server's address: %w", err)
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return address{}, false, fmt.Errorf("read the server's address in %s: %w", h.path("server.json"), err)
	}
	held, err := h.held()
	return a, held, err
}

// held reports whether some process owns the home.
func (h *home) held() (bool, error) {
	f, err := os.OpenFile(h.path("clank.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, fmt.Errorf("look at the lock of %s: %w", h.dir, err)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil, nil
}
