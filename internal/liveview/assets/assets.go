// Package assets holds the scripts and style sheets of the live pane, which other pages embed: pane.js creates it,
// hands.js sends mouse, touch and keyboard input, frames.js draws video, and elements.js creates elements, for those
// pages as well. They import only each other. page.css is the style of pages that show little else. [Site] serves
// such a page.
package assets

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Files are the scripts and the style sheets.
//
//go:embed *.js *.css
var Files embed.FS

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// Site is a page with its parts, in addition to [Files]. The checksum of the parts is in their URLs, so that they can
// be cached forever: "{sum}" in the page is replaced by it.
type Site struct {
	sum   string
	page  []byte
	parts map[string][]byte
}

// Load reads the page index.html and the files beside it.
func Load(own fs.FS) (*Site, error) {
	s := &Site{parts: make(map[string][]byte)}
	sum := sha256.New()
	for _, from := range []fs.FS{own, Files} {
		entries, err := fs.ReadDir(from, ".")
		if err != nil {
			return nil, fmt.Errorf("read the parts of a page: %w", err)
		}
		for _, e := range entries {
			data, err := fs.ReadFile(from, e.Name())
			if err != nil {
				return nil, fmt.Errorf("read the parts of a page: %w", err)
			}
			sum.Write(data)
			s.parts[e.Name()] = data
		}
	}
	s.sum = hex.EncodeToString(sum.Sum(nil))[:12]
	s.page = []byte(strings.ReplaceAll(string(s.parts["index.html"]), "{sum}", s.sum))
	delete(s.parts, "index.html")
	return s, nil
}

// ServePage serves the page.
func (s *Site) ServePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(s.page) // fails only if the client has gone
}

// ServePart serves the part that a route's {sum} and {name} name.
func (s *Site) ServePart(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, ok := s.parts[name]
	if !ok || r.PathValue("sum") != s.sum {
		http.Error(w, "there is no such file in this version; load the page again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // fails only if the client has gone
}
