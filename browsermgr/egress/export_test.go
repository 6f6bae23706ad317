package egress

import (
	"net"

	"clank/browsermgr/egress/policy"
)

// ConnectTarget parses the target of CONNECT.
func ConnectTarget(s string) (host string, port uint16, ok bool) { return connectTarget(s) }

// HostHeader returns the Host header for a server.
func HostHeader(t policy.Target) string { return hostHeader(t) }

// Ask asks an HTTP proxy at the other end of conn for a connection.
func (u *Upstream) Ask(conn net.Conn, target string) (net.Conn, error) { return u.ask(conn, target) }
