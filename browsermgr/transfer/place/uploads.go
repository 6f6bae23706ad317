package place

import (
	"os"
	"path/filepath"
	"strings"

	"clank/browsermgr/fault"
)

// Uploads says which files may be put into pages.
type Uploads struct {
	// Folders are those whose files may be uploaded. Relative paths are looked for in each, in this order.
	Folders []string
	// Inbound holds files that people sent, which are named media://inbound/<id> or media/inbound/<id>; "" means there is
	// none.
	Inbound string
}

// Resolve turns paths as given into real paths of regular files. All of them must be in the folders after links are
// resolved, and no link themselves. The error wraps fault.ErrInvalid.
func (u Uploads) Resolve(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, fault.Invalidf("paths are required")
	}
	out := make([]string, len(paths))
	for i, path := range paths {
		file, err := u.resolve(path)
		if err != nil {
			return nil, err
		}
		out[i] = file
	}
	return out, nil
}

func (u Uploads) resolve(path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", fault.Invalidf("Invalid path: %q names no file", path)
	}
	for _, prefix := range []string{"media://inbound/", "media/inbound/"} {
		if id, ok := strings.CutPrefix(path, prefix); ok {
			return u.inbound(path, id)
		}
	}
	if strings.Contains(path, "://") {
		return "", fault.Invalidf("Invalid path: %q is an address, not a file of the uploads directory", path)
	}
	for _, dir := range u.Folders {
		real, err := realPath(dir)
		if err != nil {
			continue // a folder that does not exist yet holds no files
		}
		given := path
		if !filepath.IsAbs(given) {
			given = filepath.Join(real, given)
		}
		if file := regularIn(real, given); file != "" {
			return file, nil
		}
	}
	// Whether there is such a file elsewhere is nobody's business.
	return "", fault.Invalidf("Invalid path: must stay within uploads directory (%q is no regular file of it); put the file into %s",
		path, strings.Join(u.Folders, " or "))
}

func (u Uploads) inbound(path, id string) (string, error) {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, `/\%?#`) {
		return "", fault.Invalidf("Invalid path: %q is not media://inbound/<id>", path)
	}
	real, err := realPath(u.Inbound)
	if u.Inbound == "" || err != nil {
		return "", fault.Invalidf("Invalid path: %q not found: nothing was sent here", path)
	}
	file := regularIn(real, filepath.Join(real, id))
	if file == "" {
		return "", fault.Invalidf("Invalid path: %q not found", path)
	}
	return file, nil
}

// regularIn is the real path of a regular file below a directory, or "". The file itself must be no link, and have no other
// names, which may be elsewhere.
func regularIn(dir, path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || links(info) > 1 {
		return ""
	}
	real, err := realPath(path)
	if err != nil {
		return ""
	}
	if rel, err := filepath.Rel(dir, real); err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return real
}
