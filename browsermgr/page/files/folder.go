package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"clank/browsermgr/fault"
)

// Folder is a directory for writing files, and nothing outside it. Paths are compared after links are resolved.
type Folder struct {
	dir  string // real path
	root *os.Root
}

// OpenFolder opens a folder, creating it if missing. The caller closes it.
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

// Close closes the folder. Its files stay.
func (f *Folder) Close() error { return f.root.Close() }

func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// outsideError refuses a target path.
func outsideError(path, why string) error {
	return fault.Invalidf("Invalid path: must stay within downloads directory (%q %s)", path, why)
}

// ResolveTarget resolves the path of a file to write, absolute or relative to the folder, and returns it relative to
// the folder. The file's directory must exist and not be a link; an existing file must be a regular one without other
// hard links. The error wraps fault.ErrInvalid.
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

// checkTarget reports whether a file may be written at rel. path is the path given by the caller.
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

// MoveIn moves a finished file atomically to its target, replacing an existing file. rel is the result of ResolveTarget
// and is checked again. The staged file must still be the inspected one.
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
	// The target is on another file system: copy the file next to it first.
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

// copyIn writes a copy of a file to a path that must not exist.
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

// stagingPattern matches staging directories in the downloads folder, which Chromium writes to. The number is the
// process id of the owner.
var stagingPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.staging-(\d+)-`) })

// MakeStaging creates a private staging directory in the folder and returns its path; the caller removes it. It removes
// those of processes that have ended.
func (f *Folder) MakeStaging() (string, error) {
	f.removeStale()
	dir, err := os.MkdirTemp(f.dir, fmt.Sprintf(".staging-%d-", os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make a directory for downloads under way: %w", err)
	}
	return dir, nil
}

func (f *Folder) removeStale() {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return // creating the directory reports the error
	}
	for _, e := range entries {
		m := stagingPattern().FindStringSubmatch(e.Name())
		if m == nil || !e.IsDir() {
			continue
		}
		if pid, err := strconv.Atoi(m[1]); err == nil && !processAlive(pid) {
			_ = os.RemoveAll(filepath.Join(f.dir, e.Name()))
		}
	}
}

// StagedFile is a complete file in the staging directory, kept open so that the file moved is the one inspected. The
// caller calls Close.
type StagedFile struct {
	Head []byte // its first bytes, for [IdentifyFile]
	Size int64  // in bytes

	file   *os.File
	info   fs.FileInfo
	inside string // path relative to the folder
}

// errSwapped is returned if a file was replaced after its inspection.
var errSwapped = errors.New("the file was exchanged while it was being saved")

// OpenStaged opens a file in the staging directory. from is absolute. It must be a regular file without other hard
// links; its permissions are reset to those of a private document.
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

// Close closes the file, which stays where it is.
func (n *StagedFile) Close() error { return n.file.Close() }

// MarkOrigin stores the file's origin in extended attributes, as desktops and quarantine tools read it. Attributes that
// the system does not support are skipped. The URLs must be without user, password and fragment.
func (n *StagedFile) MarkOrigin(origin, referrer string) error {
	return setOriginAttributes(n.file, origin, referrer)
}

// openRegular opens a regular file below root that is not a link and has no other hard links. It never blocks.
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
