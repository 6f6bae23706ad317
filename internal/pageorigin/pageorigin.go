package pageorigin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// IsLoopback reports whether a host, without port and brackets, names this machine: localhost, 127.0.0.0/8, ::1, and
// IPv4-mapped IPv6 addresses of these. It does not resolve names.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Zone() == "" && addr.IsLoopback()
}

// IsKnownHost reports whether the Host of a request is a loopback name, with any port: a tunnel may use another.
// Against DNS rebinding, where an attacker's page has the same origin as the server, the host name is the only
// defense.
func IsKnownHost(r *http.Request) bool {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(r.Host, "["), "]")
	}
	return IsLoopback(name)
}

// IsCrossSite reports whether a request comes from a web page that is not ours. Ours are pages of the requested
// origin and, with local, those of every other server on this machine. The headers Sec-Fetch-Site (W3C Fetch
// Metadata), Origin and Referer of a browser must not contradict that. Programs other than browsers do not send them;
// no page can control such a program.
//
// It ignores the method: requests that change nothing may come from anywhere. It does not replace [IsKnownHost].
// Unlike [http.CrossOriginProtection] it rejects requests that a person made outside of any page ("none"), because
// our pages do not need them.
func IsCrossSite(r *http.Request, local bool) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case site == "same-origin" && !local:
		return false // the browser has compared them; a proxy may have changed the Host
	case site != "" && site != "same-origin" && site != "same-site":
		return true
	}
	from := r.Header.Values("Origin")
	if len(from) == 0 {
		from = r.Header.Values("Referer")
	}
	if len(from) == 0 {
		return site == "same-site"
	}
	return slices.ContainsFunc(from, func(text string) bool {
		u, err := url.Parse(text)
		switch {
		case err != nil || u.Host == "":
			return true
		case local:
			return !IsLoopback(u.Hostname())
		}
		return !strings.EqualFold(u.Host, r.Host)
	})
}

// SetPageHeaders sets the headers for all responses of our pages: policy (Content Security Policy) restricts what
// they can load; the others keep them out of browser caches, search engines and referrers.
func SetPageHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "no-store")
}
