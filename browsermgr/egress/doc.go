// Package egress controls the network access of pages: a checking proxy with one loopback listener per profile.
//
// A name is resolved once, every address is checked, and a checked address is dialed. That covers redirects,
// subresources, WebSockets, workers and DNS rebinding; for the same reason answers may be cached for 30 seconds. A
// change of the rules closes what it forbids within a second. In addition, a resolver rule keeps Chromium from
// resolving names itself, and WebRTC is restricted by a policy flag, a preference and disabled mDNS names. HTTP
// exchanges are implemented here instead of by http.Transport so that the kernel can splice bodies and tunnels. clank's
// own listeners are refused whatever the rules say. With an upstream proxy, names are still resolved and checked here,
// unless that proxy must resolve them, which is weaker. Where the system reveals the peer of a connection (Linux), a
// listener serves only programs of its own user account. The package cannot read encrypted traffic.
package egress
