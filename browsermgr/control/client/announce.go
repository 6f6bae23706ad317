package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

const announcementFile = "control.json"

// ErrNotAnnounced says that no server announced itself.
var ErrNotAnnounced = errors.New("no control server announced itself")

// Announcement is what a server says about itself to other programs of the same person.
type Announcement struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

// Discover reads what a server announced in the directory home. The server may have died without taking it back. The
// error wraps [ErrNotAnnounced] if there is nothing, also when home is "".
func Discover(home string) (Announcement, error) {
	if home == "" {
		return Announcement{}, ErrNotAnnounced
	}
	path := filepath.Join(home, announcementFile)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Announcement{}, ErrNotAnnounced
	case err != nil:
		return Announcement{}, fmt.Errorf("find the control server: %w", err)
	case !info.Mode().IsRegular():
		return Announcement{}, fmt.Errorf("find the control server: %s is no file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Announcement{}, fmt.Errorf("find the control server: %w", err)
	}
	defer f.Close()
	var a Announcement
	if err := json.NewDecoder(io.LimitReader(f, 64<<10)).Decode(&a); err != nil {
		return Announcement{}, fmt.Errorf("find the control server: read %s: %w (remove it, or name the server with --url)", path, err)
	}
	return a, nil
}

// Announce tells other programs of the same person where a server is and what opens it, in a file of the directory home
// that only they can read. remove takes that back, unless another server has announced itself since.
func Announce(home, url, token string) (remove func(), err error) {
	mine, err := json.Marshal(Announcement{URL: url, Token: token, PID: os.Getpid()})
	if err != nil {
		return nil, fmt.Errorf("announce the control server: %w", err)
	}
	path := filepath.Join(home, announcementFile)
	file, err := renameio.TempFile(home, path) // readable by its owner alone
	if err != nil {
		return nil, fmt.Errorf("announce the control server: %w", err)
	}
	defer func() { _ = file.Cleanup() }()
	if _, err := file.Write(mine); err != nil {
		return nil, fmt.Errorf("announce the control server: %w", err)
	}
	if err := file.CloseAtomicallyReplace(); err != nil {
		return nil, fmt.Errorf("announce the control server: %w", err)
	}
	return func() {
		if now, err := os.ReadFile(path); err == nil && string(now) == string(mine) {
			os.Remove(path)
		}
	}, nil
}
