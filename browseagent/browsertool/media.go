package browsertool

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"clank/llm"
)

// readImage reads a picture that the answer names.
func (c *toolCall) readImage(path string, answer map[string]any) (llm.Image, error) {
	list, _ := answer["fileErrors"].([]any)
	for _, v := range list {
		if one, ok := v.(map[string]any); ok && callInput(one).str("path") == path {
			return llm.Image{}, errors.New("it was not copied from the node: " + callInput(one).str("error"))
		}
	}
	data, err := ReadMedia(c.target.Media, path, maxImage)
	if err != nil {
		return llm.Image{}, err
	}
	kind := detectMediaType(path, data)
	if !strings.HasPrefix(kind, "image/") {
		return llm.Image{}, errors.New("the file is not a picture")
	}
	return llm.Image{MediaType: kind, Data: data}, nil
}

// ErrOutsideMedia says that a path is not below any of the directories.
var ErrOutsideMedia = errors.New("it is not in a directory that is shared")

// ReadMedia returns the contents of the regular file at the absolute path, if it is below one of dirs and has at most
// limit bytes. It compares real paths, so a directory may be reached through a symlink; a symlink within it that
// leads out is not followed.
func ReadMedia(dirs []string, path string, limit int64) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, ErrOutsideMedia
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, ErrOutsideMedia
	}
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || dir == "" {
			continue
		}
		rel, err := filepath.Rel(real, filepath.Join(parent, filepath.Base(path)))
		if err == nil && filepath.IsLocal(rel) {
			return readBelow(real, rel, limit)
		}
	}
	return nil, ErrOutsideMedia
}

func readBelow(dir, rel string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.New("it cannot be opened")
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(rel)
	switch {
	case err != nil:
		return nil, errors.New("it cannot be opened")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > limit:
		return nil, fileTooLarge(limit)
	}
	f, err := root.Open(rel)
	if err != nil {
		return nil, errors.New("it cannot be opened")
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	if int64(len(data)) > limit {
		return nil, fileTooLarge(limit)
	}
	return data, nil
}

// fileTooLarge returns the error for a file of more than limit bytes.
func fileTooLarge(limit int64) error { return fmt.Errorf("it is larger than %d MiB", limit>>20) }

// detectMediaType returns the media type of a file, detected from its contents, or else from its name.
func detectMediaType(path string, data []byte) string {
	t, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if t == "application/octet-stream" && strings.EqualFold(filepath.Ext(path), ".pdf") {
		return "application/pdf"
	}
	return t
}
