package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// assetTypes are what is served, by the end of its name.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// siteFiles is what the pages are made of, read once. The checksum of all assets is a folder in their address, so
// that they can be kept for ever, and scripts find each other by name.
type siteFiles struct {
	sum    string
	assets map[string][]byte
	pages  map[string]*template.Template
}

// pageData is what every page is given.
type pageData struct {
	Title   string
	Assets  string // folder of the assets: "/assets/0123456789ab"
	Version string
	Data    any
}

func loadSiteFiles() (*siteFiles, error) {
	st := &siteFiles{assets: make(map[string][]byte), pages: make(map[string]*template.Template)}
	entries, err := fs.ReadDir(assetFiles, "assets") // sorted, so the sum is the same each time
	if err != nil {
		return nil, fmt.Errorf("read the page's assets: %w", err)
	}
	sum := sha256.New()
	for _, e := range entries {
		data, err := fs.ReadFile(assetFiles, "assets/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the page's assets: %w", err)
		}
		fmt.Fprintf(sum, "%s %d\n", e.Name(), len(data))
		sum.Write(data)
		st.assets[e.Name()] = data
	}
	st.sum = hex.EncodeToString(sum.Sum(nil))[:12]
	for _, name := range []string{"chat", "settings", "watches", "budget", "call", "login"} {
		t, err := template.New("layout.html").ParseFS(templateFiles, "templates/layout.html", "templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("read the page %s: %w", name, err)
		}
		st.pages[name] = t
	}
	return st, nil
}

// page writes the page with the given name.
func (s *Server) page(w http.ResponseWriter, name string, status int, sh pageData) error {
	sh.Assets, sh.Version = "/assets/"+s.site.sum, s.Version
	var b bytes.Buffer
	if err := s.site.pages[name].Execute(&b, sh); err != nil {
		s.Logger.Error("a page could not be made", "page", name, "error", err)
		return refuse(http.StatusInternalServerError, "this page could not be made; clank's log says why")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // whoever asked went away: nothing to do
	return nil
}

// asset serves a style sheet, a script or a drawing. One of an earlier version
// is gone: the page that asks for it is to be loaded anew.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	data, ok := s.site.assets[name]
	if !ok || r.PathValue("sum") != s.site.sum {
		return refuse(http.StatusNotFound, "there is no such file in this version; load the page again")
	}
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // whoever asked went away: nothing to do
	return nil
}

func (s *Server) favicon(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/assets/"+s.site.sum+"/mark.svg", http.StatusFound)
	return nil
}
