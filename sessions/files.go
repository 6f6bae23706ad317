package sessions

import (
	"errors"
	"slices"
)

// File is something that came with a task, or that a page offered while it ran.
type File struct {
	ID         string `json:"id"`
	Name       string `json:"name"` // without folders, and harmless
	Type       string `json:"type"` // media type of its content
	Size       int64  `json:"size"` // bytes
	Executable bool   `json:"executable,omitempty"`
	Path       string `json:"path,omitempty"` // where it is on clank's machine
}

// FileStore keeps the files that come with tasks.
type FileStore interface {
	// Adopt copies received files to those of a session, and returns the copies.
	Adopt(s Session, received []File) ([]File, error)
	// Forget removes the files of a session.
	Forget(sessionID string)
}

// Why a file is not taken. What wraps them is told to people.
var (
	ErrFileTooLarge = errors.New("it is too large")
	ErrNoRoom       = errors.New("there is no room for more files")
)

const (
	// MaxTaskFiles is how many files may come with a task.
	MaxTaskFiles = 10
	maxDownloads = 50 // that are named with a task
	fileIDLen    = 8
)

// NewFileID returns an id for a file.
func NewFileID() string { return RandomID(fileIDLen) }

// adoptFiles completes t, whose session is known, with the files that came with it.
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

// AddDownload notes a file that a page of a session has offered, with the task that works there now.
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

// maskFiles takes secrets out of the names of files.
func (s Secrets) maskFiles(list []File) []File {
	list = slices.Clone(list)
	for i := range list {
		if name := s.Mask(list[i].Name); name != list[i].Name { // its path has it, too
			list[i].Name, list[i].Path = name, ""
		}
	}
	return list
}
