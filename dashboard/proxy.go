package dashboard

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"clank/internal/pageorigin"
)

// peerOf returns the address of the other end of the connection, which the client cannot forge.
func peerOf(r *http.Request) netip.Addr {
	at, _ := netip.ParseAddrPort(r.RemoteAddr) // the address of a TCP connection always parses
	return at.Addr().Unmap()
}

// isProxy reports whether addr is one of our trusted reverse proxies.
func (s *Server) isProxy(addr netip.Addr) bool {
	return slices.ContainsFunc(s.Settings.Current().Dashboard.ProxyList(), func(p netip.Prefix) bool {
		return p.Contains(addr)
	})
}

// clientOf returns the address that a request comes from. It follows X-Forwarded-For from the last entry, as long as
// each address is a trusted proxy.
func (s *Server) clientOf(r *http.Request) string {
	client := peerOf(r)
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(said) {
		addr, err := netip.ParseAddr(strings.TrimSpace(text))
		if !s.isProxy(client) || err != nil {
			break
		}
		client = addr.Unmap()
	}
	return client.String()
}

// isLocal reports whether a request comes from this machine itself, and not through a proxy on it.
func isLocal(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	return peerOf(r).IsLoopback() && pageorigin.IsKnownHost(r)
}

// hostProblem returns why the dashboard does not answer under the request's host name: the name is not configured, or
// a trusted proxy did not receive the request by https. It is empty for loopback names with any port: a tunnel may
// use another port.
func (s *Server) hostProblem(r *http.Request) string {
	if pageorigin.IsKnownHost(r) {
		return ""
	}
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = r.Host
	}
	switch {
	case !slices.Contains(s.Settings.Current().Dashboard.HostList(), strings.ToLower(name)):
		return "the page does not answer to the name \"" + r.Host + "\"; use " + s.URL() + ", or add the name in the " +
			"settings under Dashboard"
	case !s.isProxy(peerOf(r)):
		return "the page is not reached through one of the reverse proxies in the settings: add " + peerOf(r).String() +
			" under Dashboard"
	case !strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https"):
		return "use https: the reverse proxy has to say so in X-Forwarded-Proto"
	}
	return ""
}

// address returns the base URL under which the client reached the dashboard, without a trailing slash.
func address(r *http.Request) string {
	if pageorigin.IsKnownHost(r) {
		return "http://" + r.Host
	}
	return "https://" + r.Host // see hostProblem
}
