package browsertool

import (
	"encoding/json"
	"fmt"
)

// visitPaths calls visit for each place in result where an answer names a file:
// path, imagePath, download.path and downloads[].path. What visit returns
// becomes the new path. result is changed in place.
func visitPaths(result map[string]any, visit func(string) string) {
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

// collectFiles reads the files that result names.
func (p *NodeProxy) collectFiles(result json.RawMessage) (files []nodeFile, left []skippedFile) {
	var object map[string]any
	if json.Unmarshal(result, &object) != nil {
		return nil, nil
	}
	seen := map[string]bool{}
	visitPaths(object, func(name string) string {
		if seen[name] {
			return name
		}
		seen[name] = true
		data, err := ReadMedia(p.FileRoots, name, MaxNodeFile)
		if err == nil && len(files) == MaxNodeFiles {
			err = fmt.Errorf("more than %d files", MaxNodeFiles)
		}
		if err != nil {
			left = append(left, skippedFile{Path: name, Error: err.Error()})
		} else {
			files = append(files, nodeFile{Path: name, Base64: data, MimeType: detectMediaType(name, data)})
		}
		return name
	})
	return files, left
}
