// Package policy says which hosts and addresses pages may reach: by scheme, name, port and IP address.
//
// It reads addresses the way browsers do (WHATWG URL), so a spelling that leads a browser to a refused address is
// refused; what it cannot read is refused. It looks up no names and opens no sockets.
package policy
