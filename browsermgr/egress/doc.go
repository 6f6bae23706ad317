// Package egress is the way out for the pages of our browsers: a checking proxy with one loopback listener for each
// profile. Each request is judged by the operator's rules (package policy) before anything is sent: its scheme, host and
// port, and every address that its name resolves to. What is dialed is an address that was judged, never the name again,
// so that redirects, subresources, WebSockets, workers, popups and names that change their mind are all covered.
//
// It forwards HTTP/1.1 in absolute form and makes tunnels for CONNECT (RFC 9112 section 3.2.2, RFC 9110 section 9.3.6).
// It reads no encrypted traffic, caches nothing, and adds nothing that tells servers of it. It is not for browsers that
// run elsewhere, which cannot be made to use it: for those [Gate.Request] judges what interception sees.
//
// With an upstream proxy the names are resolved and judged here as well, and the upstream is given the addresses. An upstream
// that has to resolve names itself (socks5h://, or ?resolve=upstream) is a weaker guard: what the name means here is judged
// if it means anything here, but the upstream may find another address for it. Literals stay judged.
package egress
