package profile

import (
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"clank/browsermgr/fault"
	"clank/internal/pageorigin"
)

// Endpoint names where a browser's DevTools are. The zero value is none.
type Endpoint struct{ url *url.URL }

// ParseEndpoint reads an address. A dot at the end of the host is dropped. The error wraps [fault.ErrInvalid] and does
// not repeat the address.
func ParseEndpoint(text string) (Endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return Endpoint{}, fault.Invalidf("cdpUrl is no address: write it like http://127.0.0.1:9222 or wss://host/path")
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch u.Scheme {
	case "http", "https", "ws", "wss":
	default:
		return Endpoint{}, fault.Invalidf("cdpUrl must begin with http://, https://, ws:// or wss://")
	}
	host, ok := trimmedHost(u)
	if !ok {
		return Endpoint{}, fault.Invalidf("cdpUrl names no host")
	}
	if number := u.Port(); number != "" {
		if n, err := strconv.ParseUint(number, 10, 16); err != nil || n == 0 {
			return Endpoint{}, fault.Invalidf("cdpUrl names a port that is none: 1 to 65535")
		}
	}
	setHost(u, host, u.Port())
	u.Fragment, u.RawFragment = "", ""
	if again, err := url.Parse(u.String()); err != nil || again.Host != u.Host {
		return Endpoint{}, fault.Invalidf("cdpUrl names no host")
	}
	return Endpoint{u}, nil
}

// LocalEndpoint returns the endpoint of a browser of this machine.
func LocalEndpoint(port int) Endpoint {
	return Endpoint{&url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}}
}

// trimmedHost returns the host without the dot that may end it. No other label of a name is empty (RFC 1034, section
// 3.1).
func trimmedHost(u *url.URL) (host string, ok bool) {
	host = strings.TrimSuffix(u.Hostname(), ".")
	return host, !slices.Contains(strings.Split(host, "."), "")
}

func setHost(u *url.URL, host, port string) {
	switch {
	case port != "":
		u.Host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		u.Host = "[" + host + "]"
	default:
		u.Host = host
	}
}

// IsZero reports whether there is no endpoint.
func (e Endpoint) IsZero() bool { return e.url == nil }

// String returns the endpoint as it may be shown: see [RedactURL].
func (e Endpoint) String() string {
	if e.IsZero() {
		return ""
	}
	return redactParsedURL(e.url)
}

// Port returns the port, also if only the scheme says it.
func (e Endpoint) Port() int {
	if n, err := strconv.Atoi(e.url.Port()); err == nil {
		return n
	}
	if e.url.Scheme == "https" || e.url.Scheme == "wss" {
		return 443
	}
	return 80
}

// IsLoopback reports whether the endpoint is on this machine by its name: localhost, 127/8, ::1.
func (e Endpoint) IsLoopback() bool { return isLoopbackHost(e.url.Hostname()) }

// IsDirect reports whether the address is that of a LayerWebSocket already: ws(s)://…/devtools/browser/….
func (e Endpoint) IsDirect() bool {
	return isWebSocketURL(e.url) && devtoolsPathPattern().MatchString(e.url.Path)
}

// ForPort returns the endpoint to use where the port of a browser is known: the id in the path of a direct address
// changes with each start of the browser, so it gives way to discovery.
func (e Endpoint) ForPort(port int) Endpoint {
	if port == 0 || !e.IsDirect() {
		return e
	}
	u := *e.url
	u.Scheme, u.Path, u.RawPath = httpScheme(u.Scheme), "", ""
	setHost(&u, u.Hostname(), strconv.Itoa(port))
	return Endpoint{&u}
}

var devtoolsPathPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/devtools/(browser|page|worker|shared_worker|service_worker)/[^/]+/?$`)
})

func isWebSocketURL(u *url.URL) bool { return u.Scheme == "ws" || u.Scheme == "wss" }

func httpScheme(scheme string) string {
	if scheme == "wss" || scheme == "https" {
		return "https"
	}
	return "http"
}

func isLoopbackHost(host string) bool {
	return pageorigin.IsLoopback(host) || strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// isLocalToBrowser reports whether a host, as a browser names it, means "wherever I run".
func isLocalToBrowser(host string) bool {
	addr, err := netip.ParseAddr(host)
	return isLoopbackHost(host) || err == nil && addr.Unmap().IsUnspecified()
}

// rewriteWebSocketURL makes what a browser says of its LayerWebSocket reachable from here: a browser in a container or
// behind a proxy does not know its own name, its scheme or the credentials that the way to it needs.
func rewriteWebSocketURL(asked *url.URL, advertised string) (*url.URL, error) {
	u, err := url.Parse(advertised)
	if err != nil || !isWebSocketURL(u) {
		return nil, errNoWebSocket
	}
	host, ok := trimmedHost(u)
	if !ok {
		return nil, errNoWebSocket
	}
	setHost(u, host, u.Port())
	secure := asked.Scheme == "https" || asked.Scheme == "wss"
	if isLocalToBrowser(u.Hostname()) && !isLoopbackHost(asked.Hostname()) {
		u.Host = asked.Host
		u.Scheme = "ws"
	}
	if secure {
		u.Scheme = "wss"
	}
	if u.User == nil {
		u.User = asked.User
	}
	query := u.Query()
	for key, values := range asked.Query() {
		if !query.Has(key) {
			query[key] = values
		}
	}
	u.RawQuery = query.Encode()
	return u, nil
}

// dialTargetOf takes the credentials out of an address and into a header.
func (c Connector) dialTargetOf(u *url.URL) DialTarget {
	bare := *u
	bare.User = nil
	return DialTarget{URL: bare.String(), Header: basicAuthHeader(u), Client: c.client(u)}
}

func basicAuthHeader(u *url.URL) http.Header {
	if u.User == nil {
		return nil
	}
	password, _ := u.User.Password()
	token := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
	return http.Header{"Authorization": {"Basic " + token}}
}

// RedactURL shows an address without its credentials: user names and passwords, and what stands in the query under a
// name that speaks of a secret.
func RedactURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(an address that does not parse)"
	}
	return redactParsedURL(u)
}

const redactedValue = "REDACTED"

var secretParamPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|key|secret|pass|pwd|auth|sig|cred|session|jwt|code`)
})

func redactParsedURL(original *url.URL) string {
	u := *original
	if u.User != nil {
		u.User = url.User(redactedValue)
	}
	if u.RawQuery != "" {
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			query = url.Values{"query": {redactedValue}}
		}
		for key := range query {
			if secretParamPattern().MatchString(key) {
				query[key] = []string{redactedValue}
			}
		}
		u.RawQuery = query.Encode()
	}
	return u.String()
}
