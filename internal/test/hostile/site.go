package main

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
)

// caseEntry is a case in one pass.
type caseEntry struct {
	rangeCase

	id    string
	port  uint16            // of the canary
	words *strings.Replacer // see the documentation of corpus

	once   [3]sync.Once
	served chan struct{} // closed when the page is requested
	ready  chan struct{} // closed when its document has loaded
	ran    chan struct{} // closed when the script beside it runs

	mu    sync.Mutex
	extra net.Listener // the site on the case's own port
}

func (e *caseEntry) recordServed(which int) {
	e.once[which].Do(func() { close([]chan struct{}{e.served, e.ready, e.ran}[which]) })
}

// opened reports whether the page was requested, as far as the site can know.
func (e *caseEntry) opened() bool {
	proof := e.served
	if e.Beside {
		proof = e.ran
	}
	select {
	case <-proof:
		return true
	default:
		// If the client itself connects to the canary, it needs nothing from the site.
		return e.Visit != "" && !strings.Contains(e.Visit, "@self@") && !strings.Contains(e.Visit, "@extra@")
	}
}

// closeExtra closes the site's listener on the case's own port.
func (e *caseEntry) closeExtra() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.extra != nil {
		_ = e.extra.Close()
		e.extra = nil
	}
}

// hostileSite serves the pages of all cases of one pass.
type hostileSite struct {
	addr        netip.Addr
	plain, tls  uint16 // ports
	certificate tls.Certificate
	book        *HitLog

	mu      sync.Mutex
	entries map[string]*caseEntry // by token

	servers []*http.Server
	wg      sync.WaitGroup
}

// add starts serving a case.
func (s *hostileSite) add(e *caseEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[e.id] = e
}

// find returns the case with a token, nil if there is none.
func (s *hostileSite) find(id string) *caseEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[id]
}

// open listens for all pages. If standard is false the system chooses the ports.
func (s *hostileSite) open(ctx context.Context, standard bool) error {
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

// listen serves the site on another port, for a single case if only is set.
func (s *hostileSite) listen(ctx context.Context, port uint16, secure bool, only *caseEntry) (net.Listener, error) {
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
		// Each request uses a new connection, so that changes of the case affect the next request.
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

func (s *hostileSite) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.wg.Wait()
}

// origin returns the origin of a case's page.
func (s *hostileSite) origin(id, zone string, secure bool) string {
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

func (s *hostileSite) vocabulary(e *caseEntry) *strings.Replacer {
	host := e.URLHost(e.id)
	port := strconv.Itoa(int(e.port))
	spot, tail := host+":"+port, "/x/"+e.id
	adaptive, socket := "http://", "ws://"
	if e.Secure {
		adaptive, socket = "https://", "wss://"
	}
	own := net.JoinHostPort(e.id+"."+hostileZone, port)
	return strings.NewReplacer(
		"@id@", e.id, "@hostport@", spot, "@port@", port, "@raw@", e.Addr.String(),
		"@url@", adaptive+spot+tail, "@sock@", socket+spot+tail,
		"@http@", "http://"+spot+tail, "@https@", "https://"+spot+tail, "@ws@", "ws://"+spot+tail, "@wss@", "wss://"+spot+
			tail,
		"@self@", s.origin(e.id, hostileZone, e.Secure), "@other@", s.origin(e.id, otherZone, e.Secure), "@extra@",
		adaptive+own,
	)
}

// handler serves the case named by the first label of the host, or the only one.
func (s *hostileSite) handler(only *caseEntry) http.Handler {
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
		if !s.serveCommonPath(w, r, e) {
			e.serve(w, r)
		}
	})
}

// serveCommonPath serves the paths that are the same in all cases.
func (s *hostileSite) serveCommonPath(w http.ResponseWriter, r *http.Request, e *caseEntry) bool {
	if to, ok := strings.CutPrefix(r.URL.Path, "/via/"); ok {
		e.recordServed(0)
		redirectVerbatim(w, strings.Replace(to, ":/", "://", 1), http.StatusFound)
		return true
	}
	if code, ok := strings.CutPrefix(r.URL.Path, "/hop/"); ok {
		e.recordServed(0)
		status, err := strconv.Atoi(code)
		if err != nil {
			status = http.StatusFound
		}
		redirectVerbatim(w, e.words.Replace("@url@"), status)
		return true
	}
	switch r.URL.Path {
	case "/ready":
		e.recordServed(1)
	case "/ran":
		e.recordServed(2)
	case "/got":
		s.book.recordHit(e.id, "read")
	case "/shut":
		w.Header().Set("Connection", "close")
		e.closeExtra()
	default:
		return false
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

// redirectVerbatim redirects to an address without the normalization by net/http.
func redirectVerbatim(w http.ResponseWriter, to string, status int) {
	to = strings.Replace(to, ":///", "://", 1)
	if u, err := url.Parse(to); err == nil && u.Host == "" {
		to = "http://" + to
	}
	w.Header()["Location"] = []string{to}
	w.WriteHeader(status)
}

const (
	pageStart = "<!doctype html><meta charset=utf-8><title>hostile</title><body>"
	pageEnd   = "<script>document.readyState=='loading'?addEventListener('DOMContentLoaded',()=>fetch('/ready')):fetch('/ready')</script>"
)

// delayAnswer waits as long as servers that send early hints do: a browser ignores hints that arrive together with
// the page.
func delayAnswer(ctx context.Context) {
	timer := time.NewTimer(300 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (e *caseEntry) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "favicon.ico" || name == "secret" {
		http.NotFound(w, r)
		return
	}
	e.recordServed(0)
	if name != "" {
		kind := cmp.Or(contentTypes[path.Ext(name)], mime.TypeByExtension(path.Ext(name)), "text/html; charset=utf-8")
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
		delayAnswer(r.Context())
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for key, value := range e.Head {
		w.Header().Set(key, e.words.Replace(value))
	}
	_, _ = io.WriteString(w, pageStart+e.words.Replace(e.Page)+pageEnd)
}

// contentTypes are the types of file extensions that the system may not know.
var contentTypes = map[string]string{
	".xml": "text/xml", ".xsl": "text/xsl", ".xhtml": "application/xhtml+xml", ".js": "text/javascript",
	".m3u8":  "application/vnd.apple.mpegurl",
	".rules": "application/speculationrules+json", ".download": "application/octet-stream",
	".mixed": "multipart/related; boundary=b",
}

// listenForEntry starts the listeners of one case.
func (s *hostileSite) listenForEntry(ctx context.Context, birds *CanaryListeners, e *caseEntry) error {
	if e.Shared == 0 && e.By == meansPort {
		if err := birds.ListenForCase(ctx, e.id, netip.AddrPortFrom(e.Addr, e.port)); err != nil {
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
