//go:build !unix

package egress

import "net"

// isIdleConn returns true: this system cannot check; failed exchanges are repeated.
func isIdleConn(net.Conn) bool { return true }
