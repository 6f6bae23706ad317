package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"clank/internal/atomicfile"
)

const announcementFile = "control.json"

// ErrNotAnnounced is returned if no server is announced.
var ErrNotAnnounced = errors.New("no control server announced itself")

// Announcement describes a server to other programs of the same user.
type Announcement struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	PID   int    `json:"pid"`
}

// Discover reads the announcement in the directory home. The server may have crashed without removing it. The error
// wraps [ErrNotAnnounced] if there is none, or if home is "".
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
		return Announcement{}, fmt.Errorf("find the control server: read %s: %w (remove it, or name the server with --url)",
			path, err)
	}
	return a, nil
}

// Announce writes a server's address and token to a file in the directory home that only the same user can read.
func Announce(home, url, token string) (*AnnouncementFile, error) {
	return WriteAnnouncement(filepath.Join(home, announcementFile), Announcement{URL: url, Token: token, PID: os.Getpid()})
}

// AnnouncementFile is the file of a server's announcement.
type AnnouncementFile struct {
	path string
	mine []byte
}

// WriteAnnouncement writes an announcement as JSON to a file that only its owner can read.
func WriteAnnouncement(path string, what any) (*AnnouncementFile, error) {
	mine, err := json.Marshal(what)
	if err != nil {
		return nil, fmt.Errorf("announce the server: %w", err)
	}
	f := &AnnouncementFile{path, mine}
	return f, f.write()
}

func (f *AnnouncementFile) write() error {
	if err := atomicfile.Write(f.path, f.mine); err != nil {
		return fmt.Errorf("announce the server: %w", err)
	}
	return nil
}

// Restore writes the file again if it is missing or damaged.
func (f *AnnouncementFile) Restore() error {
	now, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !json.Valid(now) {
		return f.write()
	}
	return err
}

// Remove removes the file, unless another server has replaced it since.
func (f *AnnouncementFile) Remove() error {
	now, err := os.ReadFile(f.path)
	if err == nil && bytes.Equal(now, f.mine) {
		err = os.Remove(f.path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take the announcement back: %w", err)
	}
	return nil
}
