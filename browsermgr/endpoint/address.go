package endpoint

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
)

// Endpoint is where a browser's DevTools are. The zero value is none.
type Endpoint struct{ url *url.URL }

// Parse reads an address. A dot at the end of the host is dropped. The error wraps [fault.ErrInvalid] and does not repeat
// the address.
func Parse(text string) (Endpoint, error) {
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
	host, ok := hostOf(u)
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

// Local is the endpoint of a browser of this machine.
func Local(port int) Endpoint {
	return Endpoint{&url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}}
}

// hostOf is the host without the dot that may end it. No other label of a name is empty (RFC 1034, section 3.1).
func hostOf(u *url.URL) (host string, ok bool) {
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

// String is the endpoint as it may be shown: see [Redact].
func (e Endpoint) String() string {
	if e.IsZero() {
		return ""
	}
	return redact(e.url)
}

// Port is the port, also if only the scheme says it.
func (e Endpoint) Port() int {
	if n, err := strconv.Atoi(e.url.Port()); err == nil {
		return n
	}
	if e.url.Scheme == "https" || e.url.Scheme == "wss" {
		return 443
	}
	return 80
}

// Loopback reports whether the endpoint is on this machine by its name: localhost, 127/8, ::1.
func (e Endpoint) Loopback() bool { return isLoopback(e.url.Hostname()) }

// Direct reports whether the address is that of a WebSocket already: ws(s)://…/devtools/browser/….
func (e Endpoint) Direct() bool { return isWS(e.url) && devtoolsPath().MatchString(e.url.Path) }

// Fresh is the endpoint to use where the port of a browser is known: the id in the path of a direct address changes with
// each start of the browser, so it gives way to discovery.
func (e Endpoint) Fresh(port int) Endpoint {
	if port == 0 || !e.Direct() {
		return e
	}
	u := *e.url
	u.Scheme, u.Path, u.RawPath = httpScheme(u.Scheme), "", ""
	setHost(&u, u.Hostname(), strconv.Itoa(port))
	return Endpoint{&u}
}

var devtoolsPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/devtools/(browser|page|worker|shared_worker|service_worker)/[^/]+/?$`)
})

func isWS(u *url.URL) bool { return u.Scheme == "ws" || u.Scheme == "wss" }

func httpScheme(scheme string) string {
	if scheme == "wss" || scheme == "https" {
		return "https"
	}
	return "http"
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// isHere reports whether a host, as a browser names it, means "wherever I run".
func isHere(host string) bool {
	addr, err := netip.ParseAddr(host)
	return isLoopback(host) || err == nil && addr.Unmap().IsUnspecified()
}

// repair makes what a browser says of its WebSocket reachable from here: a browser in a container or behind a proxy does
// not know its own name, its scheme or the credentials that the way to it needs.
func repair(asked *url.URL, advertised string) (*url.URL, error) {
	u, err := url.Parse(advertised)
	if err != nil || !isWS(u) {
		return nil, errNoWebSocket
	}
	host, ok := hostOf(u)
	if !ok {
		return nil, errNoWebSocket
	}
	setHost(u, host, u.Port())
	secure := asked.Scheme == "https" || asked.Scheme == "wss"
	if isHere(u.Hostname()) && !isLoopback(asked.Hostname()) {
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

// target takes the credentials out of an address and into a header.
func target(u *url.URL) Target {
	bare := *u
	bare.User = nil
	return Target{URL: bare.String(), Header: header(u)}
}

func header(u *url.URL) http.Header {
	if u.User == nil {
		return nil
	}
	password, _ := u.User.Password()
	token := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
	return http.Header{"Authorization": {"Basic " + token}}
}

// Redact shows an address without its credentials: user names and passwords, and what stands in the query under a name
// that speaks of a secret.
func Redact(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(an address that does not parse)"
	}
	return redact(u)
}

const hidden = "REDACTED"

var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|key|secret|pass|pwd|auth|sig|cred|session|jwt|code`)
})

func redact(original *url.URL) string {
	u := *original
	if u.User != nil {
		u.User = url.User(hidden)
	}
	if u.RawQuery != "" {
		query, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			query = url.Values{"query": {hidden}}
		}
		for key := range query {
			if secretName().MatchString(key) {
				query[key] = []string{hidden}
			}
		}
		u.RawQuery = query.Encode()
	}
	return u.String()
}
