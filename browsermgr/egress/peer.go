package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
)

// rulePeer is the rule that refuses other user accounts of this machine.
const rulePeer = "peer"

// peerCheckKey is the context key for a connection's peer check.
type peerCheckKey struct{}

// withPeerCheck lets the requests of a connection check its peer's user account. The first request runs the check, on
// its own goroutine.
//
// A password (Proxy-Authorization) would work on every system, but Chromium accepts one for a proxy only through
// extensions or Fetch.authRequired, which delays every request of every page by a round trip to us. Whether a program
// of our own account is the browser is not checked: such a program could attach to the browser or read its files
// anyway, and a sandboxed process of the browser does not reveal its sockets.
func withPeerCheck(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerCheckKey{}, sync.OnceValue(func() error {
		peer, ok := c.RemoteAddr().(*net.TCPAddr)
		own, ownOK := c.LocalAddr().(*net.TCPAddr)
		if !ok || !ownOK {
			return fmt.Errorf("%v is not a TCP connection", c.RemoteAddr())
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

// refusesPeer responds to requests from other user accounts, and reports whether it did.
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
