package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/fault"
)

// UploadPolicy decides which files may be uploaded.
type UploadPolicy struct {
	// Folders contain files that may be uploaded. Relative paths are looked up in each, in this order.
	Folders []string
	// Inbound returns the folder with the attachments of a session's tasks, each in a folder named by its id; "" means
	// there is none. They are named media://inbound/<id>, media/inbound/<id>, or by their original file names. It may
	// be nil.
	Inbound func(session string) string
	// Others, if set, is a folder whose files, except those in Folders, belong to other users, for the error message.
	Others string
}

// Copy copies the files that [UploadPolicy.Resolve] finds to a new private directory below into, at most limit bytes in
// total, and returns the paths of the copies, which keep their file names. So the page gets what was checked even if
// the files are replaced later. The caller removes dir. The error wraps fault.ErrInvalid if the paths are invalid.
func (u UploadPolicy) Copy(session string, paths []string, into string,
	limit int64,
) (dir string, copies []string, err error) {
	files, err := u.findAll(session, paths)
	if err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(into, "up-"); err != nil {
		return "", nil, fmt.Errorf("make a directory for uploads: %w", err)
	}
	for _, file := range files {
		to := placeCopy(dir, filepath.Base(file.rel), copies)
		n, err := file.copyTo(to, limit)
		if limit -= n; err != nil {
			return "", nil, errors.Join(uploadError(file.named, err), os.RemoveAll(dir))
		}
		copies = append(copies, to)
	}
	return dir, copies, nil
}

// placeCopy returns where below dir the next copy goes: into the folder that [folderOf] returns, or into one of its own
// in there if the name is taken.
func placeCopy(dir, name string, before []string) string {
	to := filepath.Join(dir, "files", name)
	if slices.Contains(before, to) {
		to = filepath.Join(dir, "files", strconv.Itoa(len(before)), name)
	}
	return to
}

// folderOf returns the folder with all the copies of an upload, for a file input that takes folders.
func folderOf(copies []string) string { return filepath.Dir(copies[0]) }

// errUploadTooLarge is returned if the total size exceeds the limit.
var errUploadTooLarge = errors.New("the files are larger than may be uploaded at once")

func uploadError(path string, err error) error {
	return fault.Invalidf("Invalid path: %q cannot be uploaded: %v", path, err)
}

// copyTo copies a file without links and returns its size. Even if the file was replaced since it was found, nothing
// outside its folder is read.
func (f uploadFile) copyTo(to string, limit int64) (n int64, err error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	in, info, err := openRegular(root, f.rel)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if info.Size() > limit {
		return 0, errUploadTooLarge
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, io.LimitReader(in, limit+1))
	if err == nil && n > limit {
		err = errUploadTooLarge
	}
	return n, errors.Join(err, out.Close(), os.Chtimes(to, time.Time{}, info.ModTime()))
}

// Resolve turns the paths given for a page of a session ("" for none) into real paths of regular files. They must not
// be links, and must be in the folders after links are resolved. The error wraps fault.ErrInvalid.
func (u UploadPolicy) Resolve(session string, paths []string) ([]string, error) {
	files, err := u.findAll(session, paths)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = filepath.Join(f.dir, f.rel)
	}
	return out, nil
}

// uploadFile is a file in a folder.
type uploadFile struct {
	dir   string // the folder's real path
	rel   string // of the file, relative to dir
	named string // the given path
}

func (u UploadPolicy) findAll(session string, paths []string) ([]uploadFile, error) {
	if len(paths) == 0 {
		return nil, fault.Invalidf("paths are required")
	}
	inbound := ""
	if u.Inbound != nil {
		inbound = u.Inbound(session)
	}
	out := make([]uploadFile, len(paths))
	for i, path := range paths {
		file, err := u.resolveOne(inbound, path)
		if err != nil {
			return nil, err
		}
		file.named = path
		out[i] = file
	}
	return out, nil
}

func (u UploadPolicy) resolveOne(inbound, path string) (uploadFile, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return uploadFile{}, fault.Invalidf("Invalid path: %q names no file", path)
	}
	for _, prefix := range []string{"media://inbound/", "media/inbound/"} {
		if id, ok := strings.CutPrefix(path, prefix); ok {
			return resolveInbound(inbound, path, id)
		}
	}
	if file, ok := inboundNamed(inbound, path); ok {
		return file, nil
	}
	if strings.Contains(path, "://") {
		return uploadFile{}, fault.Invalidf("Invalid path: %q is an address, not a file of the uploads directory", path)
	}
	for _, dir := range u.Folders {
		real, err := realPath(dir)
		if err != nil {
			continue // a missing folder has no files
		}
		given := path
		if !filepath.IsAbs(given) {
			given = filepath.Join(real, given)
		}
		if rel := regularIn(real, given); rel != "" {
			return uploadFile{dir: real, rel: rel}, nil
		}
	}
	if u.isOthers(path) {
		return uploadFile{}, fault.Invalidf("Invalid path: %q is a download of another place (a server, a person "+
			"in private or the operator): a page is given only what was downloaded in its own place", path)
	}
	// Do not reveal whether the file exists elsewhere.
	return uploadFile{}, fault.Invalidf("Invalid path: must stay within uploads directory (it has no file %q): send the "+
		"file with the task, or put it into %s", path, strings.Join(u.Folders, " or "))
}

// isOthers reports whether a given path leads into the folder Others, whether or not the file exists.
func (u UploadPolicy) isOthers(path string) bool {
	others, err := realPath(u.Others)
	if u.Others == "" || err != nil || !filepath.IsAbs(path) {
		return false
	}
	in := func(dir string) bool {
		rel, err := filepath.Rel(dir, filepath.Clean(path))
		return err == nil && filepath.IsLocal(rel)
	}
	return in(others) && !slices.ContainsFunc(u.Folders, in)
}

// resolveInbound finds an attachment by its id.
func resolveInbound(inbound, path, id string) (uploadFile, error) {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, `/\%?#`) {
		return uploadFile{}, fault.Invalidf("Invalid path: %q is not media://inbound/<id>", path)
	}
	real, err := realPath(inbound)
	if inbound == "" || err != nil {
		return uploadFile{}, fault.Invalidf("Invalid path: %q not found: no file came with this session's tasks", path)
	}
	entries, _ := os.ReadDir(filepath.Join(real, id))
	for _, e := range entries {
		if rel := regularIn(real, filepath.Join(real, id, e.Name())); rel != "" {
			return uploadFile{dir: real, rel: rel}, nil
		}
	}
	return uploadFile{}, fault.Invalidf("Invalid path: %q not found among the files that came with this session's tasks",
		path)
}

// inboundNamed finds the newest attachment with a file name.
func inboundNamed(inbound, name string) (file uploadFile, found bool) {
	if inbound == "" || filepath.Base(name) != name {
		return uploadFile{}, false
	}
	var newest time.Time
	ids, _ := os.ReadDir(inbound)
	for _, id := range ids {
		info, err := os.Lstat(filepath.Join(inbound, id.Name(), name))
		if err != nil || found && !info.ModTime().After(newest) {
			continue
		}
		real, err := realPath(inbound)
		if rel := regularIn(real, filepath.Join(real, id.Name(), name)); err == nil && rel != "" {
			file, found, newest = uploadFile{dir: real, rel: rel}, true, info.ModTime()
		}
	}
	return file, found
}

// regularIn returns the path of a regular file relative to a directory, with links in it resolved; "" if there is none.
// The file itself must not be a link or have several hard links, which may be elsewhere.
func regularIn(dir, path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || linkCount(info) > 1 {
		return ""
	}
	real, err := realPath(path)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(dir, real)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return rel
}

// maxKeptCopies bounds the uploads kept for a tab, since a page may read its files at any time.
const maxKeptCopies = 20

// copyUploads copies files for a tab, so that the page gets what was checked. The copies are removed with the tab or by
// Close.
func (d *Transfers) copyUploads(c *tabTransfers, u UploadRequest) ([]string, error) {
	into, err := d.copiesDir()
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	dir, files, err := d.opts.Uploads.Copy(u.Session, u.Paths, into, d.opts.MaxUpload)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.copyDirs = append(c.copyDirs, dir)
	c.dropCopies(maxKeptCopies)
	return files, nil
}

// copiesDir returns the directory for copies, creating it if necessary.
func (d *Transfers) copiesDir() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return "", errClosed
	}
	if d.copiesPath != "" {
		return d.copiesPath, nil
	}
	var err error
	d.copiesPath, err = makeCopiesDir(d.staging, d.opts.Downloads)
	return d.copiesPath, err
}

// makeCopiesDir creates a directory for copies: in an existing staging directory, else as a new staging directory,
// which is cleaned up even if the process is killed, else in the system's temporary directory.
func makeCopiesDir(staging, downloads string) (dir string, err error) {
	if staging != "" || downloads == "" {
		return os.MkdirTemp(staging, "clank")
	}
	folder, err := OpenFolder(downloads)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	return folder.MakeStaging()
}

// dropCopies removes a tab's copies except the newest. The caller holds Transfers.mu.
func (c *tabTransfers) dropCopies(keep int) {
	for len(c.copyDirs) > keep {
		_ = os.RemoveAll(c.copyDirs[0]) // Close removes the rest
		c.copyDirs = slices.Delete(c.copyDirs, 0, 1)
	}
}
