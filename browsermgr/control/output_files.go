package control

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"clank/browsermgr/fault"
)

// outputPath returns where a file goes that a client asked for: below one of our folders, under the name given or a new one. The
// folder of the file has to be a real one in there, and what is replaced a plain file.
func (f *Features) outputPath(folder, given, prefix, suffix string) (string, error) {
	if f == nil {
		return "", errors.New("the server has no folder for files")
	}
	refuse := func(why string) (string, error) {
		return "", fault.Invalidf("Invalid path: must stay within %s directory: %s; leave the path out, or name a file in %s", folder, why, f.folder(folder))
	}
	root, err := filepath.EvalSymlinks(f.folder(folder))
	if err != nil {
		return "", err
	}
	if given == "" {
		return filepath.Join(root, prefix+rand.Text()+suffix), nil
	}
	path := given
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	path = filepath.Clean(path)
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return refuse("its folder is not there")
	}
	path = filepath.Join(parent, filepath.Base(path))
	if !isWithin(root, path) {
		return refuse(given)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return refuse("it is no plain file")
	}
	return path, nil
}

// isWithin says whether a path that has no links lies below the folder.
func isWithin(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// SaveFile writes a file of ours under a new name into one of the folders below Dir, and returns its path. Without Features
// it is an error.
func (f *Features) SaveFile(folder, prefix, suffix string, data []byte) (string, error) {
	if f == nil {
		return "", errors.New("the server has no folder for files")
	}
	path, err := f.outputPath(folder, "", prefix, suffix)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("keep the picture: %w", errors.Join(err, os.Remove(path)))
	}
	return path, nil
}
