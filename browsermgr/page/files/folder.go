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

// Folder is a directory that files may be written to, and nothing beside it. Paths are compared after links are
// resolved.
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

// ResolveTarget reads where a file is to be written: relative to the folder, or absolute inside of it. Its directory
// must exist and be no link; what is there already must be a file of its own. It returns the path relative to the
// folder. The error wraps fault.ErrInvalid.
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

// MoveIn moves a finished file to its place in the folder, in one step, in place of what is there. rel is what Output
// returned, and is looked at again. What lies in staging must still be the file that was looked at.
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

// stagingPattern is the directory in the downloads folder that Chromium writes to: it names the process that owns it.
var stagingPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.staging-(\d+)-`) })

// MakeStaging makes a private directory in the folder for files under way, and returns its path; the caller removes it.
// Those that killed processes left behind are removed.
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
		return // what cannot be listed cannot be tidied; making the directory tells the reason
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

// StagedFile is a file that lies complete in the folder's staging, held open, so that what was looked at is what is
// moved. Close lets go of it.
type StagedFile struct {
	Head []byte // its first bytes, for [Identify]
	Size int64  // bytes

	file   *os.File
	info   fs.FileInfo
	inside string // its path in the folder
}

// errSwapped says that a file is no longer the one that was looked at.
var errSwapped = errors.New("the file was exchanged while it was being saved")

// OpenStaged opens a file that was written to the folder's staging. from is absolute. It must be a regular file with no
// other name; its permissions become those of a document of its owner.
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

// MarkOrigin notes in the file's extended attributes where it came from, as desktops and their quarantine read it. What
// the system or the file system cannot hold is no error. Addresses are without user, password and fragment already.
func (n *StagedFile) MarkOrigin(origin, referrer string) error {
	return setOriginAttributes(n.file, origin, referrer)
}

// openRegular opens a file of a root that is regular, no link and has no other names. It never waits, whatever lies
// there.
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
