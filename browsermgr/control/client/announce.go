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
// that only they can read.
func Announce(home, url, token string) (*AnnouncementFile, error) {
	return WriteAnnouncement(filepath.Join(home, announcementFile), Announcement{URL: url, Token: token, PID: os.Getpid()})
}

// AnnouncementFile is a file in which a server has announced itself.
type AnnouncementFile struct {
	path string
	mine []byte
}

// WriteAnnouncement writes what a server says about itself, as JSON, to a file that only its owner can read.
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

// Restore writes the file again if it is gone, or holds what no server has written.
func (f *AnnouncementFile) Restore() error {
	now, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !json.Valid(now) {
		return f.write()
	}
	return err
}

// Remove removes the file, unless another server has announced itself there since.
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
