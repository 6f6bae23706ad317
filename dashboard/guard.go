package dashboard

import (
	"net"
	"net/http"
	"strings"
	"sync"

	"clank/internal/pageorigin"
)

// maxBody is the maximum size of a request body in bytes.
const maxBody = 1 << 20

// contentPolicy restricts pages to resources that we serve.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; " +
	"media-src blob:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// guard applies the checks for every request: the host name (against DNS rebinding), the origin of a change (against
// cross-site requests), and the size of the body.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		pageorigin.SetPageHeaders(h, contentPolicy)
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if why := s.hostProblem(r); why != "" {
			writeError(w, http.StatusMisdirectedRequest, "%s", why)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if pageorigin.IsCrossSite(r, false) {
				writeError(w, http.StatusForbidden, "this came from another site and was refused")
				return
			}
			want := "application/json"
			if r.URL.Path == filesPath {
				want = "application/octet-stream" // which, like JSON, another site cannot send without a preflight
			}
			if ct, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(ct) != want {
				writeError(w, http.StatusUnsupportedMediaType, "send %s", want)
				return
			}
		}
		if r.URL.Path != filesPath { // whose limit is a setting
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		next.ServeHTTP(w, r)
	})
}

// idleConns tracks connections without a request. Browsers open such connections in advance, and
// [http.Server.Shutdown] waits five seconds for each.
type idleConns struct {
	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	refused bool // no new connections are accepted
}

// trackConn implements ConnState of [http.Server].
func (u *idleConns) trackConn(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.conns, c)
	case u.refused:
		_ = c.Close() // no request is lost
	default:
		if u.conns == nil {
			u.conns = map[net.Conn]struct{}{}
		}
		u.conns[c] = struct{}{}
	}
}

// close closes the idle connections, and later ones as they are opened.
func (u *idleConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.refused = true
	for c := range u.conns {
		_ = c.Close() // no request is lost
	}
}
