package pageorigin

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// IsLoopback reports whether a host, without port and brackets, is this machine's name for itself: localhost,
// 127.0.0.0/8, ::1, and IPv4 addresses of these written as IPv6. It asks no resolver.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Zone() == "" && addr.IsLoopback()
}

// IsKnownHost reports whether a request is made under a loopback name, whatever the port: a tunnel may have another. A web page that points its own name here (DNS rebinding) is of the same origin then, and has only
// its name against it.
func IsKnownHost(r *http.Request) bool {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(r.Host, "["), "]")
	}
	return IsLoopback(name)
}

// IsCrossSite reports whether a web page that is not ours has made a request. Ours are pages of the origin that is
// asked, and with local those of every other server on this machine. What a browser says in Sec-Fetch-Site (W3C Fetch
// Metadata), Origin and Referer must not contradict that. A program that is no browser says nothing there; no page
// can mislead it.
//
// It does not look at the method: requests that change nothing may come from anywhere. Nor does it replace
// [IsKnownHost]. Unlike [http.CrossOriginProtection] it refuses what a person set off outside of any page ("none"):
// no page of ours does that.
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

// SetPageHeaders sets what holds for every answer of our pages: what they may load, as policy says (Content Security
// Policy), and that they leave nothing behind with browsers, search engines and the sites that they lead to.
func SetPageHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "no-store")
}
