// Package egress is the way out for pages: a checking proxy with one loopback listener per profile.
//
// A name is looked up once, every address is judged, and a judged address is dialed. So redirects, subresources,
// WebSockets, workers and names that change their mind are all covered; answers may be kept for 30 seconds for the same
// reason. A change of the rules closes what it forbids within a second. Besides, a resolver rule keeps Chromium from
// finding names by itself, and WebRTC is held by policy flag, preference and no mDNS names. HTTP exchanges are made
// here instead of by http.Transport, because the kernel then splices bodies and tunnels. clank's own listeners are
// refused whatever the rules say. With an upstream proxy, names are still resolved and judged here, unless that proxy
// must resolve them, which is weaker. A listener serves programs of its own account alone, where the system tells whose
// a connection is (Linux). The package reads no encrypted traffic.
package egress
