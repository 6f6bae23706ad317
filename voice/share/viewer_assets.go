package share

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var files embed.FS

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// viewerAssets is what the page is made of. The checksum of its parts is in their addresses, so that they can be kept for ever.
type viewerAssets struct {
	sum   string
	page  []byte
	parts map[string][]byte
}

func loadViewerAssets() (*viewerAssets, error) {
	s := &viewerAssets{parts: make(map[string][]byte)}
	entries, err := files.ReadDir("assets")
	if err != nil {
		return nil, fmt.Errorf("read the viewer's page: %w", err)
	}
	sum := sha256.New()
	for _, e := range entries {
		data, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the viewer's page: %w", err)
		}
		sum.Write(data)
		if e.Name() == "index.html" {
			s.page = data
			continue
		}
		s.parts[e.Name()] = data
	}
	s.sum = hex.EncodeToString(sum.Sum(nil))[:12]
	s.page = []byte(strings.ReplaceAll(string(s.page), "{sum}", s.sum))
	return s, nil
}

// withSecurityHeaders sets what holds for all answers. There is no check of where a request comes from: nothing is granted to a browser for who it
// is, only to whoever shows the secret of a link.
func (v *ViewerPage) withSecurityHeaders(next http.Handler) http.Handler {
	ancestors := "'none'"
	if len(v.Ancestors) > 0 {
		ancestors = strings.Join(v.Ancestors, " ")
	}
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'none'; base-uri 'none'; frame-ancestors " + ancestors
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Robots-Tag", "noindex")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func (v *ViewerPage) handlePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(v.site.page) // whoever asked went away: nothing to do
}

func (v *ViewerPage) handleAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, ok := v.site.parts[name]
	if !ok || r.PathValue("sum") != v.site.sum {
		http.Error(w, "there is no such file in this version; load the page again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // whoever asked went away: nothing to do
}
