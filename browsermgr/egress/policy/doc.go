// Package policy decides which hosts and addresses pages may reach: by scheme, name, port and IP address.
//
// It parses URLs the way browsers do (WHATWG URL), so that a spelling that leads a browser to a refused address is
// refused; what it cannot parse is refused. It does not resolve names or open sockets.
package policy
