package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// StagedFile is a file that lies complete in the folder's staging, held open, so that what was looked at is what is moved. Close
// lets go of it.
type StagedFile struct {
	Head []byte // its first bytes, for [Identify]
	Size int64  // bytes

	file   *os.File
	info   fs.FileInfo
	inside string // its path in the folder
}

// errSwapped says that a file is no longer the one that was looked at.
var errSwapped = errors.New("the file was exchanged while it was being saved")

// OpenStaged opens a file that was written to the folder's staging. from is absolute. It must be a regular file with no other
// name; its permissions become those of a document of its owner.
func (f *Folder) OpenStaged(from string) (*StagedFile, error) {
	inside, err := filepath.Rel(f.dir, from)
	if err != nil {
		return nil, err
	}
	file, info, err := openRegular(f.root, inside)
	if err != nil {
		return nil, err
	}
	n := &StagedFile{Size: info.Size(), file: file, info: info, inside: inside, Head: make([]byte, headSize)}
	got, err := io.ReadFull(file, n.Head)
	if n.Head = n.Head[:got]; err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.Join(err, file.Close())
	}
	if err := file.Chmod(0o600); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return n, nil
}

// Close lets go of the file. It stays where it is.
func (n *StagedFile) Close() error { return n.file.Close() }

// MarkOrigin notes in the file's extended attributes where it came from, as desktops and their quarantine read it. What the system
// or the file system cannot hold is no error. Addresses are without user, password and fragment already.
func (n *StagedFile) MarkOrigin(origin, referrer string) error {
	return setOriginAttributes(n.file, origin, referrer)
}

// openRegular opens a file of a root that is regular, no link and has no other names. It never waits, whatever lies there.
func openRegular(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	before, err := root.Lstat(rel)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", filepath.Base(rel))
	}
	file, err := root.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular() || !os.SameFile(before, info):
		err = errSwapped
	case linkCount(info) > 1:
		err = fmt.Errorf("%s has several hard links", filepath.Base(rel))
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}
