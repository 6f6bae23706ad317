package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// paths calls visit for each place in result where an answer names a file:
// path, imagePath, download.path and downloads[].path. What visit returns
// becomes the new path. result is changed in place.
func paths(result map[string]any, visit func(string) string) {
	one := func(in map[string]any, key string) {
		if s, ok := in[key].(string); ok && s != "" {
			in[key] = visit(s)
		}
	}
	one(result, "path")
	one(result, "imagePath")
	if d, ok := result["download"].(map[string]any); ok {
		one(d, "path")
	}
	if list, ok := result["downloads"].([]any); ok {
		for _, v := range list {
			if d, ok := v.(map[string]any); ok {
				one(d, "path")
			}
		}
	}
}

// collect reads the files that result names.
func (p *Proxy) collect(result json.RawMessage) (files []file, left []skipped) {
	var object map[string]any
	if json.Unmarshal(result, &object) != nil {
		return nil, nil
	}
	seen := map[string]bool{}
	paths(object, func(name string) string {
		if seen[name] {
			return name
		}
		seen[name] = true
		data, err := p.read(name)
		if err == nil && len(files) == MaxFiles {
			err = fmt.Errorf("more than %d files", MaxFiles)
		}
		if err != nil {
			left = append(left, skipped{Path: name, Error: err.Error()})
		} else {
			files = append(files, file{Path: name, Base64: data, MimeType: mediaType(name, data)})
		}
		return name
	})
	return files, left
}

var errOutside = errors.New("it is not in a directory that this node shares")

// read reads a file below one of the roots. Links that lead out of the root are
// not followed.
func (p *Proxy) read(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		return nil, errOutside
	}
	for _, dir := range p.FileRoots {
		data, err := readBelow(dir, name)
		if !errors.Is(err, errOutside) {
			return data, err
		}
	}
	return nil, errOutside
}

func readBelow(dir, name string) ([]byte, error) {
	rel, err := filepath.Rel(dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, errOutside
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errOutside
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(rel)
	switch {
	case err != nil:
		return nil, errors.New("it cannot be opened")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > MaxFile:
		return nil, tooLarge()
	}
	f, err := root.Open(rel)
	if err != nil {
		return nil, errors.New("it cannot be opened")
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	if len(data) > MaxFile {
		return nil, tooLarge()
	}
	return data, nil
}

func tooLarge() error { return fmt.Errorf("it is larger than %d MiB", MaxFile>>20) }

// mediaType is told by the content, by the name where the content says nothing.
func mediaType(name string, data []byte) string {
	t, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if t == "application/octet-stream" && strings.EqualFold(filepath.Ext(name), ".pdf") {
		return "application/pdf"
	}
	return t
}
