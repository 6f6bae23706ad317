package discordtest

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Transport sends requests for Discord's hosts to the server and refuses all
// others, so that a test cannot reach the real ones by accident. Idle
// connections are not kept.
func (s *Server) Transport() http.RoundTripper {
	return &transport{host: strings.TrimPrefix(s.URL, "http://"), next: &http.Transport{DisableKeepAlives: true}}
}

type transport struct {
	host string
	next http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.host && !discordHost(r.URL.Hostname()) {
		return nil, &url.Error{Op: r.Method, URL: r.URL.String(), Err: errForeignHost}
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = "http", t.host, ""
	return t.next.RoundTrip(out)
}

func discordHost(name string) bool {
	for _, domain := range []string{"discord.com", "discordapp.com", "discordapp.net"} {
		if name == domain || strings.HasSuffix(name, "."+domain) {
			return true
		}
	}
	return false
}

var errForeignHost = errors.New("not a host of discord, and a test reaches no other")
