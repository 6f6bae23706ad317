// Package policy says which hosts and addresses the pages of a browser may reach: by scheme, host name, port and IP
// address, as the operator's rules have it.
//
// It reads addresses the way browsers do (the WHATWG URL Standard), so that a spelling which leads a browser to a refused
// address is refused here, and what it cannot read is refused. It looks up no names, opens no connections and keeps
// nothing: whoever connects asks it once for the name and once for each resolved address, and dials what was judged.
package policy
