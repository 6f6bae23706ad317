package dashboard

import (
	"errors"
	"net"
	"strings"
	"syscall"
)

// isAddrInUse reports whether err says that somebody listens there already.
func isAddrInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// isLoopback reports whether host is a name of this machine for itself.
func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}
