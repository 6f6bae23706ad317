package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"clank/browsermgr/fault"
)

// Folder is a directory that files may be written to, and nothing beside it. Paths are compared after links are resolved.
type Folder struct {
	dir  string // its real path
	root *os.Root
}

// OpenFolder opens a folder, and makes it if it is missing. The caller closes it.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the downloads folder: %w", err)
	}
	real, err := realPath(dir)
	if err != nil {
		return nil, fmt.Errorf("find the downloads folder: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open the downloads folder: %w", err)
	}
	return &Folder{dir: real, root: root}, nil
}

// Dir returns the folder's real path.
func (f *Folder) Dir() string { return f.dir }

// Close lets go of the folder. What is in it stays.
func (f *Folder) Close() error { return f.root.Close() }

func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// outsideError refuses a path to write to.
func outsideError(path, why string) error {
	return fault.Invalidf("Invalid path: must stay within downloads directory (%q %s)", path, why)
}

// ResolveTarget reads where a file is to be written: relative to the folder, or absolute inside of it. Its directory must exist
// and be no link; what is there already must be a file of its own. It returns the path relative to the folder. The error
// wraps fault.ErrInvalid.
func (f *Folder) ResolveTarget(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", outsideError(path, "holds a zero byte")
	}
	rel := path
	if filepath.IsAbs(path) {
		parent, err := realPath(filepath.Dir(path))
		if err != nil {
			return "", outsideError(path, "is in no directory that exists")
		}
		if rel, err = filepath.Rel(f.dir, filepath.Join(parent, filepath.Base(path))); err != nil {
			return "", outsideError(path, "is elsewhere")
		}
	}
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return "", outsideError(path, "names a directory")
	}
	rel = filepath.Clean(rel)
	if rel == "." || !filepath.IsLocal(rel) {
		return "", outsideError(path, "leads out of it")
	}
	return rel, f.checkTarget(path, rel)
}

// checkTarget says whether a file may be written there. path is how it was given.
func (f *Folder) checkTarget(path, rel string) error {
	for parent := filepath.Dir(rel); parent != "."; parent = filepath.Dir(parent) {
		info, err := f.root.Lstat(parent)
		if err != nil || !info.IsDir() {
			return outsideError(path, "is not in a real directory of it")
		}
	}
	info, err := f.root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return outsideError(path, "cannot be looked at")
	case !info.Mode().IsRegular():
		return outsideError(path, "exists and is not a regular file")
	case linkCount(info) > 1:
		return outsideError(path, "exists and has several hard links")
	}
	return nil
}

// MoveIn moves a finished file to its place in the folder, in one step, in place of what is there. rel is what Output returned,
// and is looked at again. What lies in staging must still be the file that was looked at.
func (f *Folder) MoveIn(n *StagedFile, rel string) error {
	if err := f.checkTarget(rel, rel); err != nil {
		return err
	}
	now, err := f.root.Lstat(n.inside)
	if err != nil {
		return err
	}
	if !os.SameFile(now, n.info) || linkCount(now) > 1 {
		return errSwapped
	}
	err = f.root.Rename(n.inside, rel)
	if err == nil || !crossesDevices(err) {
		return err
	}
	// A directory of the folder is another file system: the file is written beside its place first.
	sibling := rel + ".part"
	if err := f.copyIn(n, sibling); err != nil {
		return errors.Join(err, f.removeFile(sibling))
	}
	if err := f.root.Rename(sibling, rel); err != nil {
		return errors.Join(err, f.removeFile(sibling))
	}
	return f.root.Remove(n.inside)
}

func (f *Folder) removeFile(rel string) error {
	if err := f.root.Remove(rel); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyIn writes a file anew, where nothing may be.
func (f *Folder) copyIn(n *StagedFile, to string) (err error) {
	if _, err := n.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := f.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, n.file)
	return errors.Join(err, out.Close())
}
