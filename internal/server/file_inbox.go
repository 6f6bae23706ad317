package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/page/files"
	"clank/sessions"
)

// diskSpace limits the space of files; it is a [diskLimiter].
type diskSpace interface {
	Room(task string, place sessions.Place, more int64) error
	Keep(task string, place sessions.Place, size int64) error
	ForgetTask(task string)
}

// FileInbox stores the files that people attach to tasks: first as received files, then, when the task begins, in the
// folder of its session until the session is closed or the files expire.
type FileInbox struct {
	Dir      string // of the files of sessions and of received files
	MaxBytes func() int64
	Disk     diskSpace

	mu       sync.Mutex
	received map[string]sessions.File // by id
}

const (
	inboundFolder = "inbound"
	receivedLife  = time.Hour // of files that no task uses
)

// receivedDir is the folder of received files; folders of sessions have other names.
func (i *FileInbox) receivedDir() string { return filepath.Join(i.Dir, ".received") }

// Receive stores a file that someone sends; name is sanitized. The caller must Discard it when its task has ended.
func (i *FileInbox) Receive(ctx context.Context, name string, r io.Reader) (f sessions.File, err error) {
	i.discardOld()
	f = sessions.File{ID: sessions.NewFileID(), Name: files.CleanName(name)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("take %q: %w", f.Name, err), i.discard(f))
		}
	}()
	f.Path = filepath.Join(i.receivedDir(), f.ID, f.Name)
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return f, err
	}
	out, err := os.OpenFile(f.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return f, err
	}
	w := &boundedWriter{ctx: ctx, to: out, left: i.MaxBytes(), disk: i.Disk}
	f.Size, err = io.Copy(w, r)
	head := make([]byte, 512)
	n, _ := out.ReadAt(head, 0) // an empty or short file has fewer bytes
	if err = errors.Join(err, out.Close()); err == nil {
		err = i.Disk.Keep("", "", f.Size) // it counts even before a task uses it
	}
	if err != nil {
		if errors.Is(err, sessions.ErrFileTooLarge) {
			err = fmt.Errorf("%w: a file may have %s", sessions.ErrFileTooLarge, sessions.SizeText(i.MaxBytes()))
		}
		return f, err
	}
	kind := files.IdentifyFile(f.Name, head[:n])
	f.Type, f.Executable = kind.Type, kind.Executable
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.received == nil {
		i.received = map[string]sessions.File{}
	}
	i.received[f.ID] = f
	return f, nil
}

// boundedWriter writes until a limit is exceeded or ctx ends.
type boundedWriter struct {
	ctx  context.Context //nolint:containedctx // of one copy
	to   io.Writer
	left int64
	disk diskSpace
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	if w.left -= int64(len(p)); w.left < 0 {
		return 0, sessions.ErrFileTooLarge
	}
	if err := w.disk.Room("", "", int64(len(p))); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// Received returns the received files with the given ids.
func (i *FileInbox) Received(ids []string) (list []sessions.File, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, id := range ids {
		f, known := i.received[id]
		if !known {
			return nil, fmt.Errorf("file %q: %w (it was sent too long ago, or not at all; send it again)", id,
				sessions.ErrNotFound)
		}
		list = append(list, f)
	}
	return list, nil
}

// Discard removes received files. Copies in sessions stay.
func (i *FileInbox) Discard(list ...sessions.File) error {
	var errs []error
	for _, f := range list {
		errs = append(errs, i.discard(f))
	}
	return errors.Join(errs...)
}

func (i *FileInbox) discard(f sessions.File) error {
	i.mu.Lock()
	delete(i.received, f.ID)
	i.mu.Unlock()
	return os.RemoveAll(filepath.Join(i.receivedDir(), f.ID))
}

// discardOld removes received files that no task has used for long, including those of earlier runs.
func (i *FileInbox) discardOld() {
	entries, _ := os.ReadDir(i.receivedDir())
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > receivedLife {
			_ = i.discard(sessions.File{ID: e.Name()}) // the next call tries again
		}
	}
}

// Adopt implements [sessions.FileStore].
func (i *FileInbox) Adopt(s sessions.Session, received []sessions.File) (list []sessions.File, err error) {
	place := s.Origin.Place(s.Origin.Private)
	for _, f := range received {
		from := f.Path
		f.ID = sessions.NewFileID()
		f.Path = filepath.Join(i.Dir, place.Profile(s.ID), f.ID, f.Name)
		if err := i.Disk.Keep(s.ID, place, f.Size); err != nil {
			return nil, err
		}
		if err := copyFile(from, f.Path); err != nil {
			return nil, fmt.Errorf("keep %q: %w", f.Name, err)
		}
		list = append(list, f)
	}
	return list, nil
}

// copyFile copies a file to a new path and creates its folder.
func copyFile(from, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Forget implements [sessions.FileStore].
func (i *FileInbox) Forget(sessionID string) {
	i.Disk.ForgetTask(sessionID)
	if dir := i.Folder(sessionID); dir != "" {
		_ = os.RemoveAll(dir) // remaining files are removed when they expire
	}
}

// Folder returns the folder of a session's files; "" if it has none.
func (i *FileInbox) Folder(sessionID string) string {
	if sessionID == "" || strings.ContainsAny(sessionID, `*?[]\/.`) {
		return ""
	}
	for _, pattern := range []string{sessionID, sessionID + "@*"} {
		if found, _ := filepath.Glob(filepath.Join(i.Dir, pattern)); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
