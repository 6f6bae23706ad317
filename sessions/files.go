package sessions

import (
	"errors"
	"slices"
)

// File is an attachment of a task, or a download made while it ran.
type File struct {
	ID         string `json:"id"`
	Name       string `json:"name"` // sanitised, without directories
	Type       string `json:"type"` // media type
	Size       int64  `json:"size"` // bytes
	Executable bool   `json:"executable,omitempty"`
	Path       string `json:"path,omitempty"` // on clank's machine
}

// FileStore stores the files of sessions.
type FileStore interface {
	// Adopt copies received files into the files of a session and returns the copies.
	Adopt(s Session, received []File) ([]File, error)
	// Forget deletes the files of a session.
	Forget(sessionID string)
}

// Why a file is refused. The text of errors that wrap these is shown to people.
var (
	ErrFileTooLarge = errors.New("it is too large")
	ErrNoRoom       = errors.New("there is no room for more files")
)

const (
	// MaxTaskFiles is how many files may come with a task.
	MaxTaskFiles = 10
	maxDownloads = 50 // listed with a task
	fileIDLen    = 8
)

// NewFileID returns a random id for a file.
func NewFileID() string { return RandomID(fileIDLen) }

// adoptFiles copies the attachments of t to the files of its session.
func (m *Manager) adoptFiles(l *liveSession, t *Task) (err error) {
	switch {
	case len(t.Files) == 0:
		return nil
	case len(t.Files) > MaxTaskFiles:
		return refuse(ErrBadTask, "%d files came with the task; %d may come with one", len(t.Files), MaxTaskFiles)
	case m.Files == nil:
		return refuse(ErrBadTask, "files cannot be taken here; leave them out")
	}
	if t.Files, err = m.Files.Adopt(m.current(l), t.Files); err != nil {
		return refuse(ErrBadTask, "the files cannot be kept: %v", err)
	}
	return nil
}

// AddDownload adds a downloaded file to the task that runs in the session.
func (m *Manager) AddDownload(sessionID string, f File) {
	f.ID = NewFileID()
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.live[sessionID]
	if l == nil {
		return
	}
	for _, j := range l.tasks {
		if j.started && len(j.downloads) < maxDownloads {
			j.downloads = append(j.downloads, f)
		}
	}
}

// maskFiles masks secrets in file names.
func (s Secrets) maskFiles(list []File) []File {
	list = slices.Clone(list)
	for i := range list {
		if name := s.Mask(list[i].Name); name != list[i].Name { // the path contains the name
			list[i].Name, list[i].Path = name, ""
		}
	}
	return list
}
