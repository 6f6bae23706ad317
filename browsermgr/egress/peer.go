package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
)

// rulePeer is the rule by which other accounts of this machine are refused.
const rulePeer = "peer"

// peerCheckKey is the key of a connection's check in the contexts of its requests.
type peerCheckKey struct{}

// withPeerCheck lets the requests of a connection learn whose it is. The first of them finds out, on its own goroutine.
//
// A password (Proxy-Authorization) would do the same on every system, but Chromium takes one for a proxy only through
// Fetch.authRequired, and that holds up every request of every page for an exchange with us, or through extensions.
// That a program of our own account is the browser itself is not checked: such a program may attach to the browser or
// read its files anyway, and a sandboxed process of the browser does not show which sockets it has.
func withPeerCheck(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerCheckKey{}, sync.OnceValue(func() error {
		peer, ok := c.RemoteAddr().(*net.TCPAddr)
		own, ownOK := c.LocalAddr().(*net.TCPAddr)
		if !ok || !ownOK {
			return fmt.Errorf("%v is no TCP connection", c.RemoteAddr())
		}
		uid, err := peerUser(peer.AddrPort(), own.AddrPort())
		switch {
		case err != nil:
			return fmt.Errorf("find out whose the connection from %v is: %w", peer, err)
		case uid != os.Geteuid():
			return fmt.Errorf("the connection from %v is of another account (%d)", peer, uid)
		}
		return nil
	}))
}

// refusesPeer answers requests that do not come from our own account, and reports whether this is one.
func (d *profileProxy) refusesPeer(w http.ResponseWriter, r *http.Request) bool {
	check, ok := r.Context().Value(peerCheckKey{}).(func() error)
	if !ok {
		return false // not over a connection
	}
	err := check()
	if err == nil {
		return false
	}
	level := d.logLevel(RefusalRecord{Rule: rulePeer})
	d.proxy.Logger.Log(r.Context(), level, "connection refused", "profile", d.profile, "rule", rulePeer, "error", err)
	writeErrorPage(w, http.StatusForbidden, refusedHeader, rulePeer, "This proxy is for one browser only",
		"clank takes connections here from programs of its own account alone.")
	return true
}
