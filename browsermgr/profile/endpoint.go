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

// Endpoint is the address of a browser's DevTools. The zero value means none.
type Endpoint struct{ url *url.URL }

// ParseEndpoint parses an address. A trailing dot of the host is removed. The error wraps [fault.ErrInvalid] and does
// not contain the address.
func ParseEndpoint(text string) (Endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return Endpoint{}, fault.Invalidf("cdpUrl is not an address: write it like http://127.0.0.1:9222 or wss://host/path")
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

// LocalEndpoint returns the endpoint of a browser on this machine.
func LocalEndpoint(port int) Endpoint {
	return Endpoint{&url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}}
}

// trimmedHost returns the host without a trailing dot. ok is false if another label is empty (RFC 1034, section 3.1).
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

// String returns the address with secrets redacted; see [RedactURL].
func (e Endpoint) String() string {
	if e.IsZero() {
		return ""
	}
	return redactParsedURL(e.url)
}

// Port returns the port, or the default port of the scheme.
func (e Endpoint) Port() int {
	if n, err := strconv.Atoi(e.url.Port()); err == nil {
		return n
	}
	if e.url.Scheme == "https" || e.url.Scheme == "wss" {
		return 443
	}
	return 80
}

// IsLoopback reports whether the host is a loopback name or address: localhost, 127/8, ::1.
func (e Endpoint) IsLoopback() bool { return isLoopbackHost(e.url.Hostname()) }

// IsDirect reports whether the address is that of a WebSocket, ws(s)://…/devtools/browser/…, so that no discovery is
// needed.
func (e Endpoint) IsDirect() bool {
	return isWebSocketURL(e.url) && devtoolsPathPattern().MatchString(e.url.Path)
}

// ForPort returns the endpoint to use if the browser's port is known. The id in the path of a direct address changes
// with each start of the browser, so discovery replaces it.
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

// isLocalToBrowser reports whether a host in a browser's answer means "this machine".
func isLocalToBrowser(host string) bool {
	addr, err := netip.ParseAddr(host)
	return isLoopbackHost(host) || err == nil && addr.Unmap().IsUnspecified()
}

// rewriteWebSocketURL makes the WebSocket URL that a browser advertises reachable from here. A browser in a container
// or behind a proxy does not know its own name, scheme or the credentials needed to reach it.
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

// dialTargetOf moves the credentials of a URL into a header.
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

// RedactURL returns a URL without credentials: user information, and values of query parameters with secret names.
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
