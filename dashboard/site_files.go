package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"clank/dashboard/api"
	"clank/internal/liveview/assets"
	"clank/internal/settings"
	"clank/llm"
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
	Name    string // of the page
	Assets  string // folder of the assets: "/assets/0123456789ab"
	Version string
	Data    any

	visitor visitor
	routes  []route
}

// pageLink leads to a page.
type pageLink struct {
	Path, Label string
	Current     bool
}

// links returns the ways to pages, given by name, path and label.
func (p pageData) links(pages [][3]string) (links []pageLink) {
	for _, to := range pages {
		if !p.May(to[1]) {
			continue
		}
		links = append(links, pageLink{to[1], to[2], to[0] == p.Name})
	}
	return links
}

// Pages returns the ways to the pages that are always in sight.
func (p pageData) Pages() []pageLink {
	return p.links([][3]string{
		{"chat", "/", "Chat"},
		{"activity", "/activity", "Activity"},
		{"watches", "/watches", "Watches"},
		{"budget", "/budget", "Costs"},
		{"settings", "/settings", "Settings"},
	})
}

// MorePages returns the ways to the others.
func (p pageData) MorePages() []pageLink {
	return p.links([][3]string{
		{"call", "/call", "Call"},
		{"browsers", "/browsers", "Browsers"},
		{"nodes", "/nodes", "Nodes"},
		{"safety", "/safety", "Safety"},
		{"scripts", "/scripts", "Scripts"},
		{"transcripts", "/transcripts", "Transcripts"},
		{"setup", "/setup", "Set-up"},
	})
}

// May reports whether who is shown the page may ask for what is at a path of the table of routes.
func (p pageData) May(path string) bool {
	if path == "/" {
		path = "/s/{id}" // from / who may not ask is led elsewhere
	}
	i := slices.IndexFunc(p.routes, func(r route) bool { return r.pattern == "GET "+path })
	return p.Operator() || i >= 0 && p.visitor.role >= p.routes[i].least
}

// Operator reports whether who is shown the page may do everything.
func (p pageData) Operator() bool { return p.visitor.role == RoleOperator }

// Member returns the Discord account of who is shown the page; empty for an operator.
func (p pageData) Member() string {
	if p.Operator() {
		return ""
	}
	return p.visitor.id
}

func loadSiteFiles() (*siteFiles, error) {
	st := &siteFiles{assets: make(map[string][]byte), pages: make(map[string]*template.Template)}
	sum := sha256.New()
	ours, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		return nil, fmt.Errorf("read the page's assets: %w", err)
	}
	for _, files := range []fs.FS{ours, assets.Files} {
		entries, err := fs.ReadDir(files, ".") // sorted, so the sum is the same each time
		if err != nil {
			return nil, fmt.Errorf("read the page's assets: %w", err)
		}
		for _, e := range entries {
			data, err := fs.ReadFile(files, e.Name())
			if err != nil {
				return nil, fmt.Errorf("read the page's assets: %w", err)
			}
			fmt.Fprintf(sum, "%s %d\n", e.Name(), len(data))
			sum.Write(data)
			st.assets[e.Name()] = data
		}
	}
	st.sum = hex.EncodeToString(sum.Sum(nil))[:12]
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" {
			continue
		}
		t := template.New("layout.html").Funcs(template.FuncMap{"body": requestBody})
		t, err := t.ParseFS(templateFiles, "templates/layout.html", file)
		if err != nil {
			return nil, fmt.Errorf("read the page %s: %w", name, err)
		}
		st.pages[name] = t
	}
	report, err := template.ParseFS(templateFiles, "templates/report.html") // a page of its own, without the others' parts
	if err != nil {
		return nil, fmt.Errorf("read the page of exports: %w", err)
	}
	st.pages["report"] = report
	return st, nil
}

// requestBody returns what a button sends, as JSON: names, each with its value.
func requestBody(namesAndValues ...any) (string, error) {
	fields := map[string]any{}
	for pair := range slices.Chunk(namesAndValues, 2) {
		fields[fmt.Sprint(pair[0])] = pair[1]
	}
	data, err := json.Marshal(fields)
	return string(data), err
}

// page writes the page with the given name.
func (s *Server) page(w http.ResponseWriter, r *http.Request, name string, sh pageData) error {
	sh.visitor, sh.routes = visitorOf(r), s.routes()
	sh.Name, sh.Assets, sh.Version = name, "/assets/"+s.site.sum, s.Version
	var b bytes.Buffer
	if err := s.site.pages[name].Execute(&b, sh); err != nil {
		s.Logger.Error("a page could not be made", "page", name, "error", err)
		return refuse(http.StatusInternalServerError, "this page could not be made; clank's log says why")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// The same for all pages: the one that opens them stays the document.
	w.Header().Set("Permissions-Policy", "microphone=(self), camera=()")
	_, _ = w.Write(b.Bytes()) // whoever asked went away: nothing to do
	return nil
}

// compress has a page or a file of it sent small to those who can read that. No page holds a secret whose length would
// tell something.
func compress(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next(w, r)
			return
		}
		small := &gzipWriter{ResponseWriter: w}
		defer small.close()
		next(small, r)
	}
}

// gzipWriter compresses the body of an answer, if it has one.
type gzipWriter struct {
	http.ResponseWriter

	gzip *gzip.Writer // nil before the body, and where it is compressed already
	sent bool
}

// WriteHeader implements [http.ResponseWriter].
func (g *gzipWriter) WriteHeader(status int) {
	h := g.Header()
	h.Add("Vary", "Accept-Encoding")
	if !g.sent && status == http.StatusOK && h.Get("Content-Encoding") == "" && h.Get("Content-Length") == "" {
		h.Set("Content-Encoding", "gzip")
		g.gzip = gzip.NewWriter(g.ResponseWriter)
	}
	g.sent = true
	g.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (g *gzipWriter) Write(data []byte) (int, error) {
	if !g.sent {
		g.WriteHeader(http.StatusOK)
	}
	if g.gzip == nil {
		return g.ResponseWriter.Write(data)
	}
	return g.gzip.Write(data)
}

func (g *gzipWriter) close() {
	if g.gzip != nil {
		_ = g.gzip.Close() // whoever asked went away: nothing to do
	}
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

// weaknesses serves what the installation protects less than it could.
func (s *Server) weaknesses(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Host.Weaknesses(r.Context()))
}

// discord serves how clank stands with Discord.
func (s *Server) discord(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Discord.State())
}

// Discord is what the bot knows of its servers.
type Discord interface {
	State() api.Discord                                          // how clank stands with it
	ChannelName(guild, channel string) string                    // "" where it is not known
	GuildParts(guild string) (channels, roles []settings.Option) // by name
}

type noDiscord struct{}

func (noDiscord) State() api.Discord                                    { return api.Discord{} }
func (noDiscord) ChannelName(string, string) string                     { return "" }
func (noDiscord) GuildParts(string) (channels, roles []settings.Option) { return nil, nil }

// pictureTypes are the media types that are served as pictures. A picture comes
// from pages nobody vouches for, so nothing else is.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// stepView serves how the page looked after a step.
func (s *Server) stepView(w http.ResponseWriter, r *http.Request) error {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return refuse(http.StatusNotFound, "steps have numbers")
	}
	if _, err := s.readableTask(r, "task"); err != nil {
		return err
	}
	im, err := s.Manager.View(r.Context(), r.PathValue("task"), n)
	if err != nil {
		return failed("read the picture", err)
	}
	return writeImage(w, im)
}

// taskImage serves a picture of an answer, counted from 0.
func (s *Server) taskImage(w http.ResponseWriter, r *http.Request) error {
	t, err := s.readableTask(r, "id")
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(r.PathValue("i"))
	if err != nil || i < 0 || i >= len(t.Images) {
		return refuse(http.StatusNotFound, "the answer has %d pictures", len(t.Images))
	}
	return writeImage(w, t.Images[i])
}

func writeImage(w http.ResponseWriter, im llm.Image) error {
	if !slices.Contains(pictureTypes, im.MediaType) || len(im.Data) == 0 {
		return refuse(http.StatusNotFound, "there is no picture that can be shown")
	}
	h := w.Header()
	h.Set("Content-Type", im.MediaType)
	h.Set("Content-Length", strconv.Itoa(len(im.Data)))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, max-age=86400, immutable")
	_, _ = w.Write(im.Data) // whoever asked went away: nothing to do
	return nil
}
