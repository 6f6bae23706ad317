package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"clank/internal/pageorigin"
	"clank/sessions"
	"clank/sessions/access"
)

// FileLinks gives people links to files that are too large to send. A link contains a secret that is valid for
// fifteen minutes, or until clank exits. It opens a page whose button downloads the file, so that link scanners do
// not.
type FileLinks struct {
	Base   func() string // public base URL of the viewer's page; "" if there is none
	Logger *slog.Logger

	mu      sync.Mutex
	links   map[[sha256.Size]byte]fileLink // by the digest of the secret
	sending int
}

type fileLink struct {
	file  sessions.File
	until time.Time
}

const (
	fileLinkLife   = 15 * time.Minute
	maxFileLinks   = 1000
	maxFilesSent   = 8 // at once
	fileSendTime   = 30 * time.Minute
	fileLinkPrefix = "/files/"
)

// LinksWork reports whether links work for people elsewhere.
func (l *FileLinks) LinksWork() bool { return l.Base() != "" }

// Link creates a link to a file; address is "" if people elsewhere could not use it, or there are too many links.
func (l *FileLinks) Link(f sessions.File) (address string, until time.Time) {
	base, now := l.Base(), time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, link := range l.links {
		if !now.Before(link.until) {
			delete(l.links, key)
		}
	}
	if base == "" || len(l.links) >= maxFileLinks {
		return "", until
	}
	if l.links == nil {
		l.links = map[[sha256.Size]byte]fileLink{}
	}
	secret, until := access.NewSecret(), now.Add(fileLinkLife)
	l.links[sha256.Sum256([]byte(secret))] = fileLink{f, until}
	return strings.TrimSuffix(base, "/") + fileLinkPrefix + secret, until
}

// find returns the file of a secret.
func (l *FileLinks) find(secret string) (sessions.File, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	link, known := l.links[sha256.Sum256([]byte(secret))]
	return link.file, known && time.Now().Before(link.until)
}

const filePageStyle = `body { max-width: 34em; margin: 20vh auto 0; padding: 0 24px; font: 16px/1.6 system-ui, sans-serif;
color-scheme: light dark; } h1 { font-size: 20px; overflow-wrap: anywhere; }
button { min-height: 44px; padding: 0 20px; border: 0; border-radius: 12px; background: #c93600; color: #fff; font: inherit; }`

var filePage = template.Must(template.New("file").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A file · clank</title><style>` + filePageStyle + `</style></head><body>
{{if .Name}}<h1>{{.Name}}</h1>
<p>{{.Size}}. It comes from a web page that clank has visited: open it only if you expected it.</p>
<form method="post"><button>Download</button></form>
{{else}}<h1>This link does not work any more</h1>
<p>Links to files work for a quarter of an hour. Press Files below the answer for a new one.</p>
{{end}}</body></html>
`))

// filePolicy lets the page render and submit its form, and nothing else.
var filePolicy = func() string {
	sum := sha256.Sum256([]byte(filePageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// ServeHTTP serves the page of a link, and the file on the page's request.
func (l *FileLinks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	pageorigin.SetPageHeaders(h, filePolicy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	f, ok := l.find(strings.TrimPrefix(r.URL.Path, fileLinkPrefix))
	switch {
	case ok && r.Method == http.MethodPost:
		l.send(w, r, f)
	case r.Method == http.MethodPost, r.Method == http.MethodGet, r.Method == http.MethodHead:
		h.Set("Content-Type", "text/html; charset=utf-8")
		data := struct{ Name, Size string }{Size: sessions.SizeText(f.Size)}
		if ok {
			data.Name = cmp.Or(f.Name, "A file")
		} else {
			w.WriteHeader(http.StatusNotFound)
		}
		_ = filePage.Execute(w, data) // fails only if the client has gone
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// send sends a file, unless too many are being sent.
func (l *FileLinks) send(w http.ResponseWriter, r *http.Request, f sessions.File) {
	l.mu.Lock()
	busy := l.sending >= maxFilesSent
	if !busy {
		l.sending++
	}
	l.mu.Unlock()
	if busy {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many files are fetched just now; try again in a minute", http.StatusServiceUnavailable)
		return
	}
	defer func() {
		l.mu.Lock()
		l.sending--
		l.mu.Unlock()
	}()
	file, err := os.Open(f.Path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.Logger.Error("a file cannot be given", "error", err)
		}
		http.Error(w, "the file is not kept any more", http.StatusGone)
		return
	}
	defer file.Close()
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(fileSendTime)); err != nil {
		l.Logger.Debug("a slow file may be cut off", "error", err)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	http.ServeContent(w, r, "", time.Time{}, file)
}
