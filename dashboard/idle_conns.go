package dashboard

import (
	"net"
	"net/http"
	"sync"
)

// idleConns are connections over which nothing was asked yet. Browsers open such in advance, and
// [http.Server.Shutdown] gives each five seconds.
type idleConns struct {
	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	refused bool // there may be none any more
}

// trackConn implements ConnState of [http.Server].
func (u *idleConns) trackConn(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.conns, c)
	case u.refused:
		_ = c.Close() // nothing was sent
	default:
		if u.conns == nil {
			u.conns = map[net.Conn]struct{}{}
		}
		u.conns[c] = struct{}{}
	}
}

// close ends them, and those that come later.
func (u *idleConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.refused = true
	for c := range u.conns {
		_ = c.Close() // nothing was sent
	}
}
