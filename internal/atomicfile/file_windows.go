package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// File is a temporary file that replaces another with CloseAtomicallyReplace; otherwise Cleanup removes it.
type File struct {
	*os.File

	path         string
	closed, done bool
}

// Create creates a file that is to replace the one at path. It inherits the permissions of its folder.
func Create(path string) (*File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return &File{File: f, path: path}, nil
}

// replaceWait is how long to retry while a reader has the old file open, which prevents Windows from replacing it.
const replaceWait = 2 * time.Second

// CloseAtomicallyReplace syncs and closes the file and then renames it to the path it replaces.
func (f *File) CloseAtomicallyReplace() error {
	if err := f.Sync(); err != nil {
		return err
	}
	f.closed = true
	if err := f.Close(); err != nil {
		return err
	}
	deadline := time.After(replaceWait)
	again := time.Tick(10 * time.Millisecond)
	for {
		err := os.Rename(f.Name(), f.path)
		if f.done = err == nil; f.done {
			return nil
		}
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		select {
		case <-again:
		case <-deadline:
			return err
		}
	}
}

// Cleanup removes the file, unless it has replaced the other.
func (f *File) Cleanup() error {
	if f.done {
		return nil
	}
	var err error
	if !f.closed {
		err = f.Close()
	}
	f.done = true
	return errors.Join(err, os.Remove(f.Name()))
}

// Write replaces the file at path.
func Write(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		return errors.Join(err, f.Cleanup())
	}
	return nil
}
