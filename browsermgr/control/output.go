package control

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"clank/browsermgr/fault"
)

// output is where a file goes that a client asked for: below one of our folders, under the name given or a new one. The
// folder of the file has to be a real one in there, and what is replaced a plain file.
func (s *Server) output(folder, given, prefix, suffix string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fault.Invalidf("Invalid path: must stay within %s directory: %s", folder, why)
	}
	if s.Features == nil {
		return refuse("there is none")
	}
	root, err := filepath.EvalSymlinks(s.Features.folder(folder))
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
	if !within(root, path) {
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
