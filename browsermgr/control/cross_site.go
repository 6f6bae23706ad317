package control

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// RequireLocalHost refuses requests made under a name that is not this machine's own: a web page may have pointed its name here.
func RequireLocalHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsLoopback(hostWithoutPort(r.Host)) {
			writeRefusal(w, http.StatusForbidden, "Forbidden: the control API answers under loopback names only, such as 127.0.0.1")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// RefuseCrossSite refuses requests that may change something and that a page of another site has made. Programs that are no
// browsers send none of the headers it looks at, and pass.
func RefuseCrossSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
			if isCrossSite(r.Header) {
				writeRefusal(w, http.StatusForbidden, "Forbidden")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func isCrossSite(h http.Header) bool {
	if strings.EqualFold(strings.TrimSpace(h.Get("Sec-Fetch-Site")), "cross-site") {
		return true
	}
	from := strings.TrimSpace(h.Get("Origin"))
	if from == "" {
		from = strings.TrimSpace(h.Get("Referer"))
	}
	if from == "" {
		return false
	}
	u, err := url.Parse(from)
	return err != nil || !IsLoopback(u.Hostname())
}

// hostWithoutPort is the name in host or host:port, without the brackets of an IPv6 address.
func hostWithoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// IsLoopback says whether a name or an address without port is this machine's own: localhost, 127.0.0.0/8, ::1, and IPv4
// addresses of these written as IPv6.
func IsLoopback(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}
