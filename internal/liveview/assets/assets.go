// Package assets holds the scripts and the style sheets of the live pane, which pages of ours put where it is wanted:
// pane.js makes it, hands.js tells what is done with mouse, fingers and keys, frames.js draws video and elements.js makes
// elements, for those pages, too. They load only each other. page.css is the style of pages that show little else. [Site] serves such a page.
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

// Site is a page and its parts, beside [Files]. The checksum of the parts is in their addresses, so that they can be
// kept for ever: "{sum}" in the page stands for it.
type Site struct {
	sum   string
	page  []byte
	parts map[string][]byte
}

// Load reads a page, index.html, and what lies beside it.
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
	_, _ = w.Write(s.page) // whoever asked went away: nothing to do
}

// ServePart serves the part that a route's {sum} and {name} say.
func (s *Site) ServePart(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, ok := s.parts[name]
	if !ok || r.PathValue("sum") != s.sum {
		http.Error(w, "there is no such file in this version; load the page again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // whoever asked went away: nothing to do
}
