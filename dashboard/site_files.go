package dashboard

import (
	"bytes"
	"cmp"
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
	"sync"

	"clank/dashboard/api"
	"clank/internal/liveview/assets"
	"clank/internal/settings"
	"clank/llm"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// assetTypes are the media types of the served assets, by file extension.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// siteFiles holds the templates and assets, read once. The checksum of all assets is part of their path, so that
// browsers can cache them forever and scripts can import each other by name.
type siteFiles struct {
	sum    string
	assets map[string][]byte
	pages  map[string]*template.Template
}

// pageData is the data that every page gets.
type pageData struct {
	Title   string
	Name    string // name of the page
	Assets  string // path of the assets: "/assets/0123456789ab"
	Version string
	Status  int // HTTP status; 0 for 200
	Data    any

	visitor visitor
	routes  []route
}

// pageLink is a link in the navigation.
type pageLink struct {
	Path, Label string
	Current     bool
}

// links returns links to the pages given by name, path and label, without those that the visitor may not open.
func (p pageData) links(pages [][3]string) (links []pageLink) {
	for _, to := range pages {
		if !p.May(to[1]) {
			continue
		}
		links = append(links, pageLink{to[1], to[2], to[0] == p.Name})
	}
	return links
}

// Pages returns the links that are always visible.
func (p pageData) Pages() []pageLink {
	return p.links([][3]string{
		{"chat", "/", "Chat"},
		{"activity", "/activity", "Activity"},
		{"watches", "/watches", "Watches"},
		{"budget", "/budget", "Costs"},
		{"settings", "/settings", "Settings"},
	})
}

// MorePages returns the links behind "More".
func (p pageData) MorePages() []pageLink {
	return p.links([][3]string{
		{"call", "/call", "Call"},
		{"browsers", "/browsers", "Browsers"},
		{"nodes", "/nodes", "Nodes"},
		{"safety", "/safety", "Safety"},
		{"scripts", "/scripts", "Scripts"},
		{"transcripts", "/transcripts", "Transcripts"},
		{"setup", "/setup", "Setup"},
	})
}

// May reports whether the visitor may request a path of the route table.
func (p pageData) May(path string) bool {
	if path == "/" {
		path = "/s/{id}" // those who may not ask are redirected from / to another page
	}
	i := slices.IndexFunc(p.routes, func(r route) bool { return r.pattern == "GET "+path })
	return p.Operator() || i >= 0 && p.visitor.role >= p.routes[i].least
}

// Operator reports whether the visitor is an operator.
func (p pageData) Operator() bool { return p.visitor.role == RoleOperator }

// Member returns the visitor's Discord account; empty for an operator.
func (p pageData) Member() string {
	if p.Operator() {
		return ""
	}
	return p.visitor.id
}

// loadSiteFiles reads the embedded files and parses the pages, once for all servers of a process.
var loadSiteFiles = sync.OnceValues(func() (*siteFiles, error) {
	st := &siteFiles{assets: make(map[string][]byte), pages: make(map[string]*template.Template)}
	sum := sha256.New()
	ours, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		return nil, fmt.Errorf("read the page's assets: %w", err)
	}
	for _, files := range []fs.FS{ours, assets.Files} {
		entries, err := fs.ReadDir(files, ".") // sorted, so the checksum is stable
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
	report, err := template.ParseFS(templateFiles, "templates/report.html") // a separate page that shares no templates
	if err != nil {
		return nil, fmt.Errorf("read the page of exports: %w", err)
	}
	st.pages["report"] = report
	return st, nil
})

// requestBody returns the JSON body that a button sends, from names and values in turn.
func requestBody(namesAndValues ...any) (string, error) {
	fields := map[string]any{}
	for pair := range slices.Chunk(namesAndValues, 2) {
		fields[fmt.Sprint(pair[0])] = pair[1]
	}
	data, err := json.Marshal(fields)
	return string(data), err
}

// page renders the page with the given name.
func (s *Server) page(w http.ResponseWriter, r *http.Request, name string, sh pageData) error {
	sh.visitor, sh.routes = visitorOf(r), s.routes()
	sh.Name, sh.Assets, sh.Version = name, "/assets/"+s.site.sum, s.Version
	var b bytes.Buffer
	if err := s.site.pages[name].Execute(&b, sh); err != nil {
		s.Logger.Error("a page could not be made", "page", name, "error", err)
		return refuse(http.StatusInternalServerError, "this page could not be made; clank's log says why")
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// All pages send the same policy, because the first one stays the document while others replace its content.
	w.Header().Set("Permissions-Policy", "microphone=(self), camera=()")
	w.WriteHeader(cmp.Or(sh.Status, http.StatusOK))
	_, _ = w.Write(b.Bytes()) // fails only if the client has gone
	return nil
}

// compress sends a page or a file gzipped to clients that accept that. No page holds a secret that its compressed
// length could reveal.
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

// gzipWriter compresses the body of a response, if it has one.
type gzipWriter struct {
	http.ResponseWriter

	gzip *gzip.Writer // nil before the body starts, and if it is already compressed
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
		_ = g.gzip.Close() // fails only if the client has gone
	}
}

// asset serves a style sheet, a script or an image. Assets of an earlier version are not
// found: the page that asks for them must be reloaded.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	data, ok := s.site.assets[name]
	if !ok || r.PathValue("sum") != s.site.sum {
		return refuse(http.StatusNotFound, "there is no such file in this version; load the page again")
	}
	w.Header().Set("Content-Type", assetTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(data) // fails only if the client has gone
	return nil
}

func (s *Server) favicon(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/assets/"+s.site.sum+"/mark.svg", http.StatusFound)
	return nil
}

// weaknesses serves the weaknesses of the installation.
func (s *Server) weaknesses(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Host.Weaknesses(r.Context()))
}

// discord serves the state of the connection to Discord.
func (s *Server) discord(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Discord.State())
}

// Discord is what the bot knows about its servers.
type Discord interface {
	State() api.Discord                                          // the state of the connection
	ChannelName(guild, channel string) string                    // "" if unknown
	GuildParts(guild string) (channels, roles []settings.Option) // sorted by name
}

type noDiscord struct{}

func (noDiscord) State() api.Discord                                    { return api.Discord{} }
func (noDiscord) ChannelName(string, string) string                     { return "" }
func (noDiscord) GuildParts(string) (channels, roles []settings.Option) { return nil, nil }

// pictureTypes are the media types that are served as pictures. Pictures come from untrusted pages, so no other type
// is served.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// stepView serves the screenshot taken after a step.
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

// taskImage serves an image of an answer; the first is 0.
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
	_, _ = w.Write(im.Data) // fails only if the client has gone
	return nil
}
