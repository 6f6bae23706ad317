package field

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/internal/hostile/canary"
	"clank/internal/hostile/corpus"
	"clank/internal/hostile/names"
)

// entry is a case in one pass.
type entry struct {
	corpus.Case

	id    string
	port  uint16            // of the canary
	words *strings.Replacer // see the documentation of corpus

	once   [2]sync.Once
	served chan struct{} // the page was asked for
	ready  chan struct{} // its document is there

	mu    sync.Mutex
	extra net.Listener // the site on the case's own port
}

func (e *entry) note(which int) {
	e.once[which].Do(func() { close([]chan struct{}{e.served, e.ready}[which]) })
}

// opened reports whether the page was asked for, as far as the site can know.
func (e *entry) opened() bool {
	select {
	case <-e.served:
		return true
	default:
		// Nothing of the site's is needed where the client itself goes to the canary.
		return e.Visit != "" && !strings.Contains(e.Visit, "@self@") && !strings.Contains(e.Visit, "@extra@")
	}
}

// shut ends the site on the case's own port.
func (e *entry) shut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.extra != nil {
		_ = e.extra.Close()
		e.extra = nil
	}
}

// site serves the pages of all cases of one pass.
type site struct {
	addr        netip.Addr
	plain, tls  uint16 // ports
	certificate tls.Certificate
	book        *canary.Book

	mu      sync.Mutex
	entries map[string]*entry // by token

	servers []*http.Server
	wg      sync.WaitGroup
}

// add has the site serve a case, from now on.
func (s *site) add(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[string]*entry{}
	}
	s.entries[e.id] = e
}

// find is the case with a token, nil if there is none.
func (s *site) find(id string) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[id]
}

// open listens for all pages. With standard false the system chooses the ports.
func (s *site) open(ctx context.Context, standard bool) error {
	ports := [2]uint16{}
	if standard {
		ports = [2]uint16{80, 443}
	}
	for i, port := range ports {
		l, err := s.listen(ctx, port, i == 1, nil)
		if err != nil {
			return err
		}
		if at, ok := l.Addr().(*net.TCPAddr); ok {
			ports[i] = at.AddrPort().Port()
		}
	}
	s.plain, s.tls = ports[0], ports[1]
	return nil
}

// listen serves the site on one more port; only one case's if one is given.
func (s *site) listen(ctx context.Context, port uint16, secure bool, only *entry) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", netip.AddrPortFrom(s.addr, port).String())
	if err != nil {
		return nil, fmt.Errorf("open hostile site: %w", err)
	}
	server := &http.Server{
		Handler: s.handler(only), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{s.certificate}, MinVersion: tls.VersionTLS12},
	}
	if only != nil {
		// Each request takes a connection of its own: what the case changes holds for the next.
		server.SetKeepAlivesEnabled(false)
		server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
	}
	s.servers = append(s.servers, server)
	s.wg.Go(func() {
		if secure {
			_ = server.ServeTLS(l, "", "")
		} else {
			_ = server.Serve(l)
		}
	})
	return l, nil
}

func (s *site) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.wg.Wait()
}

// origin is where a case's page is.
func (s *site) origin(id, zone string, secure bool) string {
	scheme, port, usual := "http", s.plain, uint16(80)
	if secure {
		scheme, port, usual = "https", s.tls, 443
	}
	host := id + "." + zone
	if port != usual {
		host = net.JoinHostPort(host, strconv.Itoa(int(port)))
	}
	return scheme + "://" + host
}

func (s *site) vocabulary(e *entry) *strings.Replacer {
	host := e.URLHost(e.id)
	port := strconv.Itoa(int(e.port))
	spot, tail := host+":"+port, "/x/"+e.id
	adaptive, socket := "http://", "ws://"
	if e.Secure {
		adaptive, socket = "https://", "wss://"
	}
	own := net.JoinHostPort(e.id+"."+names.Evil, port)
	return strings.NewReplacer(
		"@id@", e.id, "@hostport@", spot, "@port@", port, "@raw@", e.Addr.String(),
		"@url@", adaptive+spot+tail, "@sock@", socket+spot+tail,
		"@http@", "http://"+spot+tail, "@https@", "https://"+spot+tail, "@ws@", "ws://"+spot+tail, "@wss@", "wss://"+spot+tail,
		"@self@", s.origin(e.id, names.Evil, e.Secure), "@other@", s.origin(e.id, names.Other, e.Secure), "@extra@", adaptive+own,
	)
}

// handler answers for the case that the host's first label names, or for the only one.
func (s *site) handler(only *entry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := only
		if e == nil {
			label, _, _ := strings.Cut(r.Host, ".")
			e = s.find(label)
		}
		if e == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "no-store")
		if !s.special(w, r, e) {
			e.serve(w, r)
		}
	})
}

// special answers the paths that are the same in all cases.
func (s *site) special(w http.ResponseWriter, r *http.Request, e *entry) bool {
	if to, ok := strings.CutPrefix(r.URL.Path, "/via/"); ok {
		e.note(0)
		redirect(w, strings.Replace(to, ":/", "://", 1), http.StatusFound)
		return true
	}
	if code, ok := strings.CutPrefix(r.URL.Path, "/hop/"); ok {
		e.note(0)
		status, err := strconv.Atoi(code)
		if err != nil {
			status = http.StatusFound
		}
		redirect(w, e.words.Replace("@url@"), status)
		return true
	}
	switch r.URL.Path {
	case "/ready":
		e.note(1)
	case "/got":
		s.book.Note(e.id, "read")
	case "/shut":
		w.Header().Set("Connection", "close")
		e.shut()
	default:
		return false
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// redirect sends the address as it is: in spellings that net/http would tidy up.
func redirect(w http.ResponseWriter, to string, status int) {
	to = strings.Replace(to, ":///", "://", 1)
	if u, err := url.Parse(to); err == nil && u.Host == "" {
		to = "http://" + to
	}
	w.Header()["Location"] = []string{to}
	w.WriteHeader(status)
}

const (
	before = "<!doctype html><meta charset=utf-8><title>hostile</title><body>"
	after  = "<script>document.readyState=='loading'?addEventListener('DOMContentLoaded',()=>fetch('/ready')):fetch('/ready')</script>"
)

// think takes the time for which servers send hints: a browser drops those that come together with the page.
func think(ctx context.Context) {
	timer := time.NewTimer(300 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (e *entry) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "favicon.ico" || name == "secret" {
		http.NotFound(w, r)
		return
	}
	e.note(0)
	if name != "" {
		kind := cmp.Or(kinds[path.Ext(name)], mime.TypeByExtension(path.Ext(name)), "text/html; charset=utf-8")
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, e.words.Replace(e.Files[name]))
		return
	}
	if len(e.Early) > 0 {
		for key, value := range e.Early {
			w.Header().Set(key, e.words.Replace(value))
		}
		w.WriteHeader(http.StatusEarlyHints)
		for key := range e.Early {
			w.Header().Del(key)
		}
		think(r.Context())
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for key, value := range e.Head {
		w.Header().Set(key, e.words.Replace(value))
	}
	_, _ = io.WriteString(w, before+e.words.Replace(e.Page)+after)
}

// kinds are the types of file endings that the system may not know.
var kinds = map[string]string{
	".xml": "text/xml", ".xsl": "text/xsl", ".xhtml": "application/xhtml+xml", ".js": "text/javascript", ".m3u8": "application/vnd.apple.mpegurl",
	".rules": "application/speculationrules+json", ".download": "application/octet-stream", ".mixed": "multipart/related; boundary=b",
}

// perch puts up what listens for one case.
func (s *site) perch(ctx context.Context, birds *canary.Aviary, e *entry) error {
	if e.Shared == 0 && e.By == corpus.Port {
		if err := birds.Perch(ctx, e.id, netip.AddrPortFrom(e.Addr, e.port)); err != nil {
			return fmt.Errorf("case %s: %w", e.Title(), err)
		}
	}
	if !e.Extra {
		return nil
	}
	l, err := s.listen(ctx, e.port, e.Secure, e)
	if err != nil {
		return errors.Join(fmt.Errorf("case %s", e.Title()), err)
	}
	e.mu.Lock()
	e.extra = l
	e.mu.Unlock()
	return nil
}
