package node

import (
	"encoding/json"
	"fmt"

	"clank/browsertool/media"
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
		data, err := media.Read(p.FileRoots, name, MaxFile)
		if err == nil && len(files) == MaxFiles {
			err = fmt.Errorf("more than %d files", MaxFiles)
		}
		if err != nil {
			left = append(left, skipped{Path: name, Error: err.Error()})
		} else {
			files = append(files, file{Path: name, Base64: data, MimeType: media.Type(name, data)})
		}
		return name
	})
	return files, left
}
